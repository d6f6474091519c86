//! A conversation.

use tokio::sync::watch;

use crate::domain::{Deployment, Message, RequestId, Role, SessionName, StoredTurn};
use crate::session::{Settlement, said};
use crate::store::Talk;

use super::answered::Answered;
use super::error::Error;
use super::request::Request;
use super::router::{Router, StopOnDrop};
use super::talks::{Heard, Place};
use super::watcher::Watcher;

/// A conversation that goes on whoever answers: each question is asked with all that was said before, and the next one
/// may be answered by another provider than the last. Results of tools go along, and no tool is run a second time for
/// them.
///
/// One of [`Router::session`] is kept in memory. One of [`Router::session_named`] is kept in the state file: a process that
/// is killed leaves it so that the next one [goes on](Self::go_on), and `llmr session show` shows it. One at a time goes on
/// with it; whoever comes meanwhile gets [`Error::SessionTaken`].
///
/// What is asked is kept before anybody is. A question that nobody answered stands at the end of it: it may be asked again,
/// by its words or by [`go_on`](Self::go_on), and another question takes its place.
#[derive(Debug)]
pub struct Session {
    router: Router,
    place: Place,
    manner: Request,
    turns: Vec<Turn>,
}

/// One message of a conversation, with who said it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Turn {
    /// What was said, what a model wanted of tools, or what came of that.
    pub message: Message,
    /// The model that said it, at its provider, without the credential; none for the person and for tools.
    pub from: Option<Deployment>,
    /// The request in which it was said, as the log has it; none for the person and for tools.
    pub request_id: Option<RequestId>,
}

impl Session {
    pub(super) fn in_memory(router: Router) -> Self {
        Self { router, place: Place::in_memory(), manner: Request::default(), turns: Vec::new() }
    }

    pub(super) async fn named(router: Router, name: String) -> Result<Self, Error> {
        if !SessionName::is_good(&name) {
            let rule = "letters, digits, `.`, `_` and `-`, up to 64, the first a letter or a digit";
            return Err(Error::Unknown { message: format!("`{name}` is no name of a session; it needs {rule}") });
        }
        let place = Place::named(SessionName::new(name));
        let at = place.clone();
        let turns = router.run(move |engine| Box::pin(async move { engine.turns(&at) })).await??;
        Ok(Self { router, place, manner: Request::default(), turns })
    }

    /// How to ask: the ladder, standing instructions, tools and bounds of this request hold for all questions from now on.
    /// Its messages begin the conversation, if nothing was said yet. A conversation that is kept remembers its ladder,
    /// instructions and the names of its tools, and goes on with them where this says nothing else.
    #[must_use]
    pub fn asking_like(mut self, manner: Request) -> Self {
        self.manner = manner;
        self
    }

    /// Asks, with all that was said before.
    ///
    /// Who asks the very words again of which the answer never arrived, because the process died meanwhile, gets that
    /// answer, and nothing is asked.
    ///
    /// # Errors
    /// As [`Router::chat`], and [`Error::SessionUnderWay`] when something else comes first. What was said and run until then
    /// is kept.
    pub async fn ask(&mut self, text: impl Into<String>) -> Result<Answered, Error> {
        self.ask_with(text, ()).await
    }

    /// The same, watched while it is under way.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub async fn ask_with(
        &mut self,
        text: impl Into<String>,
        watcher: impl Watcher + 'static,
    ) -> Result<Answered, Error> {
        let question = Message::text(Role::User, text);
        self.go(Some(question), watcher).await?.ok_or(Error::BrokenOff)
    }

    /// Goes on with what is under way: a question that nobody answered yet, or calls of tools whose results no model has
    /// seen. None when nothing is.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub async fn go_on(&mut self) -> Result<Option<Answered>, Error> {
        self.go(None, ()).await
    }

    /// Says what came of the call of [`Error::NeedsWord`]; then it can be [gone on](Self::go_on). It is named as there, or as
    /// `llmr session show` does.
    ///
    /// # Errors
    /// [`Error::Unknown`] when there is no such call to be settled, or trouble with the state.
    pub async fn settle(&mut self, call: impl Into<String>, word: Settlement) -> Result<(), Error> {
        let (place, call) = (self.place.clone(), call.into());
        self.router.run(move |engine| Box::pin(async move { engine.settle(&place, &call, word).await })).await?
    }

    /// What was said, in order, as of the last time that this handle asked or went on.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// Forgets all that was said and run.
    ///
    /// # Errors
    /// When somebody goes on with it just now, or trouble with the state.
    pub async fn forget(&mut self) -> Result<(), Error> {
        let place = self.place.clone();
        self.router.run(move |engine| Box::pin(async move { engine.forget(&place).await })).await??;
        self.turns.clear();
        Ok(())
    }

    async fn go(&mut self, says: Option<Message>, watcher: impl Watcher + 'static) -> Result<Option<Answered>, Error> {
        let (place, manner) = (self.place.clone(), self.manner.clone());
        let (stop, stopped) = watch::channel(false);
        // Who drops the future wants it to end.
        let _stop = StopOnDrop(stop);
        let by = (stopped, Box::new(watcher) as Box<dyn Watcher>);
        let heard =
            self.router.run(move |engine| Box::pin(async move { engine.go_on(&place, says, manner, by).await }));
        let Heard { result, turns, receipt } = heard.await??;
        self.turns = turns;
        if let Some(receipt) = receipt {
            // Only now has the answer arrived. Should this process die before, it is told again.
            let place = self.place.clone();
            let noted = self.router.run(move |engine| Box::pin(async move { engine.note_told(&place, &receipt) }));
            if let Err(error) = noted.await? {
                tracing::warn!(%error, "that the answer was told could not be noted");
            }
        }
        result
    }
}

/// All that was said.
///
/// # Errors
/// When what is kept cannot be read: a newer program wrote it.
pub(super) fn turns(talk: &Talk) -> Result<Vec<Turn>, Error> {
    let turn = |(message, kept): (Message, &StoredTurn)| Turn {
        message,
        from: kept.author.as_ref().map(|author| Deployment {
            provider: author.provider.clone(),
            model: author.model.clone(),
            credential: None,
        }),
        request_id: kept.request_id.clone(),
    };
    Ok(said(talk)?.into_iter().zip(&talk.turns).map(turn).collect())
}
