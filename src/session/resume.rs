//! How what the user says now belongs to what was said before.

use crate::domain::{Message, Part, Role};

/// How a conversation can be gone on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resume {
    /// What was said is its next turn.
    Append,
    /// The words that were never answered give way to it, from this place on.
    Replace(u32),
    /// It was said already: what is under way goes on.
    GoOn,
    /// It was said and answered, but the answer was never printed.
    Tell,
    /// Nothing is under way, and nothing is said.
    Nothing,
    /// Something else is under way, for which tools may have been run; it comes first.
    Busy,
}

impl Resume {
    /// Whether it is about what was asked before, and not something new.
    pub fn is_of_before(&self) -> bool {
        matches!(self, Self::GoOn | Self::Tell | Self::Nothing)
    }
}

/// How to go on with what there is when this is said; `told` says how many turns the user has seen.
pub(super) fn resume_from(turns: &[Message], told: u32, says: Option<&Message>) -> Resume {
    let is_words = |turn: &Message| turn.parts.iter().any(|part| !matches!(part, Part::ToolResult { .. }));
    let wants_tools = |turn: &Message| turn.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
    let open = match turns.last() {
        None => false,
        Some(turn) => turn.role != Role::Assistant || wants_tools(turn),
    };
    let Some(says) = says else { return if open { Resume::GoOn } else { Resume::Nothing } };
    let last_words = turns.iter().rposition(|turn| turn.role == Role::User && is_words(turn));
    match last_words {
        Some(at) if !open && turns.get(at) == Some(says) && (told as usize) < turns.len() => Resume::Tell,
        _ if !open => Resume::Append,
        Some(at) if turns.get(at) == Some(says) => Resume::GoOn,
        Some(at) if at + 1 == turns.len() => Resume::Replace(u32::try_from(at).unwrap_or(u32::MAX)),
        _ => Resume::Busy,
    }
}
