//! Names that must not be mixed up, each its own type.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes the text as the name; no check is made.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }
    };
}

name!(
    /// A service with a base URL and a wire format: `groq`, `gemini`, a lab's own server.
    ProviderName
);
name!(
    /// The thing whose quota is counted: organisation, project or billing account.
    AccountName
);
name!(
    /// The alias of one key; the key itself is a [`Secret`](super::Secret).
    CredentialName
);
name!(
    /// The provider's own id of a model.
    ModelName
);
name!(
    /// An ordered list of steps in the config.
    LadderName
);
name!(
    /// A conversation that goes over several requests.
    SessionName
);
name!(
    /// What joins a request, its attempts and the holds that they caused.
    RequestId
);

impl LadderName {
    /// What the log names as the ladder of probes that no request made.
    pub const PROBES: &str = "probe";

    /// What the log names as the ladder of calls that another program made and reported.
    pub const REPORTS: &str = "record";

    /// Whether requests of this ladder are somebody's who waits for an answer. A probe is nobody's, and what came of the
    /// request behind a reported call only the other program knows.
    pub fn has_askers(name: &str) -> bool {
        name != Self::PROBES && name != Self::REPORTS
    }
}
