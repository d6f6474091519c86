//! The words of the program as types, with no behaviour that needs anything else.

mod answer;
mod chat;
mod defect;
mod deployment;
mod evidence;
mod failure;
mod limit;
mod names;
mod part;
mod record;
mod scope;
mod secret;
mod talk;
mod text;
mod timeouts;
mod tool;

pub use answer::{Answer, Finish, Piece, StreamEvent, ToolPiece, Usage};
pub use chat::{ChatRequest, Message, Role};
pub use defect::{Defect, came_whole};
pub use deployment::{Deployment, ParseNameError, Selector, Target};
pub use evidence::{Evidence, TransportFault};
pub use failure::{
    Action, Class, Dimension, Failure, Feature, LimitFacts, OutputFit, Provenance, ResetSource, ScopeLevel,
};
pub use limit::{StatedLimit, Unit};
pub use names::{AccountName, CredentialName, LadderName, ModelName, ProviderName, RequestId, SessionName};
pub use part::{Author, Part, Thinking, ToolCall};
pub use record::{
    AttemptKind, AttemptRecord, Execution, Extraction, GivenUp, KeptAnswer, KeptEvidence, Outcome, Prefix,
    RequestRecord,
};
pub use scope::Scope;
pub use secret::{MASK, RedactedStream, Redactor, Secret};
pub use talk::{AskedFor, CallEnd, CallState, Effect, JournalEntry, Session, StoredTurn, TalkSettings};
pub use text::{excerpt, printable, visible};
pub use timeouts::Timeouts;
pub use tool::{Tool, ToolChoice};
