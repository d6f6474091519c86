//! What the conventions call a provider.

use crate::domain::ProviderName;

/// The conventions' well-known name of a provider of the catalogue; any other has the name that it has here. It follows
/// the name alone, as the conventions have it: whose format is spoken, not who runs the model.
pub(super) fn well_known(provider: &ProviderName) -> &str {
    match provider.as_str() {
        "azure" => "azure.ai.openai",
        "bedrock" => "aws.bedrock",
        "gemini" => "gcp.gemini",
        "mistral" => "mistral_ai",
        "moonshot" => "moonshot_ai",
        "vertex" => "gcp.vertex_ai",
        "xai" => "x_ai",
        // Among them those that both call the same: anthropic, cohere, deepseek, groq, openai, perplexity.
        same => same,
    }
}
