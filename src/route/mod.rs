//! The one driver: asks the ladder what to do, does it, and writes down what came of it.
//!
//! All judgement lives below: the ladder decides whom to ask, `classify` what a failure is, `policy` what it changes.
//! This module owns the sockets, the only sleep, and the order of things: read the holds, ask, classify, and commit the
//! attempt with its consequences in one transaction before anything else is asked. The last of it, the ledger, also serves
//! the calls that other programs make.

mod alarm;
mod answered;
mod assemble;
mod cascade;
mod drive;
mod due;
mod entry;
mod exchange;
mod facts;
mod fallback;
mod fell;
mod fingerprint;
mod flight;
mod grades;
mod guard;
mod hasten;
mod job;
mod keep;
mod ledger;
mod made;
mod observer;
mod outlook;
mod outside;
mod prefix;
mod rank;
mod record;
mod reply;
mod settle;
mod webhook;

pub use alarm::{AlarmLook, Died, HoldLook, LadderLook, StepLook, look_around};
pub use assemble::{Assembled, Outside, assemble, direct};
pub use cascade::{LadderEnd, cascade_of, passage};
pub use drive::{Router, Stop, pause, run};
pub use due::{Due, due};
pub use entry::{entry, gauges};
pub use facts::Facts;
pub use fallback::FallbackStore;
pub use fell::Ended;
pub use fingerprint::{asked, fingerprint};
pub use grades::{GRADE_WINDOW, grades, put_last};
pub use guard::{
    Admission, Candidate, Pass, admit, flight_of, guard_id, issued_at, look, passes_at, probe_of, probing,
};
pub use hasten::{Hastened, hasten};
pub use job::{Job, Lane, Wanted};
pub use ledger::{Asked, Booked, Entry, Ledger};
pub use observer::{ConsumerGone, Observer, Silent};
pub use outlook::{Outlook, outlook};
pub use outside::{OutsideCall, Written, may_join};
pub use prefix::{Beginnings, CACHED_FOR, input_digest};
pub use record::Report;
pub use reply::{Told, told};
pub use webhook::{post, webhook_request};
