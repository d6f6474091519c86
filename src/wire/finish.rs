//! Why an answer ended, in everybody's words.

use serde_json::Value;

use crate::domain::Finish;

/// Reads the word. One table serves all wires: proxies pass each other's words through, and none of the words means
/// different things in different formats.
pub(super) fn read(word: Option<&Value>) -> Option<Finish> {
    let word = word?.as_str()?;
    Some(match word.to_ascii_lowercase().as_str() {
        "" | "null" | "finish_reason_unspecified" => return None,
        "stop" | "end_turn" | "stop_sequence" | "eos" | "eos_token" | "complete" | "completed" => Finish::Stop,
        "length" | "max_tokens" | "max_output_tokens" | "model_length" | "model_context_window_exceeded" => {
            Finish::Length
        }
        "content_filter"
        | "content_filtered"
        | "safety"
        | "recitation"
        | "blocklist"
        | "prohibited_content"
        | "spii"
        | "image_safety"
        | "sensitive"
        | "refusal"
        | "guardrail_intervened" => Finish::ContentFilter,
        "tool_calls" | "tool_use" | "function_call" => Finish::ToolCalls,
        // Gemini's model tried to call a tool and failed: what it said before is not the answer.
        "malformed_function_call" | "unexpected_tool_call" => Finish::Error,
        "error" | "network_error" | "insufficient_system_resource" => Finish::Error,
        _ => Finish::Other(word.chars().take(64).collect()),
    })
}
