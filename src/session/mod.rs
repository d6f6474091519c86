//! Conversations in which a model has tools run, so that each side effect happens once, whatever dies in between.
//!
//! The order of things is the whole of it. What the user says is kept before anybody is asked. What the model says is
//! kept, in a form that belongs to no provider, before any tool that it wants is begun. A call is noted as begun before
//! its command starts, by one process or by none, and its result is noted before any model sees it. So after a kill at any
//! instruction the notes say how far it was: a result that is there is told again and nothing is run for it; a call that
//! was never begun is begun; and of one that was begun and has no result nobody can say whether it did its work. A command
//! that changes nothing is then simply run again. One that does is not: a person is asked, in plain words.
//!
//! Because the conversation belongs to no provider, the next one of the ladder goes on with it as if it had been there
//! from the beginning, and finds the results of what another model wanted.
//!
//! What to do next is decided by a pure machine from the turns and the journal; the driver does it.

mod arguments;
mod desk;
mod drive;
mod fingerprint;
mod form;
mod machine;
mod offer;
mod opening;
mod outcome;
mod resume;
mod rounds;

pub use desk::{Consent, Desk, Ended, Settlement, Stage, ToolRun, Wish};
pub use drive::{go_on, note_told, said, settle};
pub use fingerprint::{canonical, fingerprint};
pub use form::{message, stored};
pub use machine::{MOST_CALLS, Next, Order, Scene, next, rounds_of};
pub use offer::{NoProgram, declared, offered_names, rounds_in, startable, tools_of};
pub use opening::{NoCall, may_still_run, open_call, opening, was_as_it_is};
pub use outcome::{LONGEST_RESULT, Outcome, outcome, reported, run_tool};
pub use resume::Resume;
pub use rounds::Rounds;
