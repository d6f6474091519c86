//! A conversation.

use crate::domain::{Deployment, Message, RequestId, Role};

use super::answered::Answered;
use super::error::Error;
use super::request::Request;
use super::router::Router;

/// A conversation that goes on whoever answers: each question is asked with all that was said before, and the next one
/// may be answered by another provider than the last.
///
/// It is kept in memory. A question that nobody answered is no part of it, so it can simply be asked again.
#[derive(Debug, Clone)]
pub struct Session {
    router: Router,
    manner: Request,
    turns: Vec<Turn>,
}

/// One message of a conversation, with who said it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Turn {
    /// What was said.
    pub message: Message,
    /// The deployment that said it; none for the person.
    pub from: Option<Deployment>,
    /// The request in which it was said, as the log has it; none for the person.
    pub request_id: Option<RequestId>,
}

impl Session {
    pub(super) fn new(router: Router) -> Self {
        Self { router, manner: Request::default(), turns: Vec::new() }
    }

    /// How to ask: the ladder, standing instructions and bounds of this request hold for all questions from now on. Its
    /// messages stand at the beginning of the conversation as it is sent.
    #[must_use]
    pub fn asking_like(mut self, manner: Request) -> Self {
        self.manner = manner;
        self
    }

    /// Asks, with all that was said before.
    ///
    /// # Errors
    /// As [`Router::chat`]; the conversation is then as it was.
    pub async fn ask(&mut self, text: impl Into<String>) -> Result<Answered, Error> {
        let question = Message::text(Role::User, text);
        let mut request = self.manner.clone();
        request.chat.messages.extend(self.turns.iter().map(|turn| turn.message.clone()));
        let answered = self.router.chat(request.message(question.clone())).await?;
        self.turns.push(Turn { message: question, from: None, request_id: None });
        self.turns.push(Turn {
            message: answered.message(),
            from: Some(answered.deployment.clone()),
            request_id: Some(answered.request_id.clone()),
        });
        Ok(answered)
    }

    /// What was said, in order.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }
}
