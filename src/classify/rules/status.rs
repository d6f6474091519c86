//! The status alone, when nothing else speaks.

use super::{Rule, status};
use crate::domain::Class::{
    Auth, Billing, ContextOverflow, ModelUnavailable, Network, Overloaded, Permission, RateLimit, ServerError, Timeout,
    Unknown, Unsupported,
};
use crate::domain::ScopeLevel;

pub(super) const RULES: &[Rule] = &[
    // An API answers no call by sending it elsewhere; portals of the network do.
    status("status.sent_elsewhere", Network, &[302, 303, 307, 407, 511]),
    status("status.401", Auth, &[401, 498]),
    status("status.402", Billing, &[402]),
    // SiliconFlow answers a bare 403 to blocked keys, unpaid accounts and wrong models alike.
    status("status.403_silent", Unknown, &[403]).only(&["siliconflow"]),
    status("status.403", Permission, &[403]).scope(ScopeLevel::Credential),
    status("status.451", Permission, &[451]).scope(ScopeLevel::Region),
    status("status.405", Unsupported, &[405, 501]).scope(ScopeLevel::Provider),
    status("status.408", Timeout, &[408, 504, 522, 524]),
    status("status.410", ModelUnavailable, &[410]).scope(ScopeLevel::Model),
    status("status.413", ContextOverflow, &[413]),
    // A bare 429 is a rate limit where the provider has no other use for it; elsewhere it may be an empty wallet or a
    // spent day, and guessing wrong hammers a dead account.
    status("status.429", RateLimit, &[429]).scope(ScopeLevel::Model).only(&[
        "nvidia",
        "nim",
        "vertex",
        "bedrock",
        "azure",
        "cohere",
        "perplexity",
        "together",
        "fireworks",
        "huggingface",
        "vllm",
        "tgi",
        "lmstudio",
        "llamacpp",
        "litellm",
    ]),
    status("status.429_silent", Unknown, &[429]),
    status("status.503", Overloaded, &[503, 529]),
    status(
        "status.5xx",
        ServerError,
        &[500, 502, 505, 506, 507, 508, 509, 510, 511, 520, 521, 523, 525, 526, 527, 530, 599],
    ),
];
