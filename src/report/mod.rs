//! Results and metrics as text, tables and JSON: data in, text out.

mod alarm;
mod barred;
mod caps;
mod chat;
mod check;
mod choice;
pub mod classify;
mod domains;
mod grade;
mod guard;
mod ladder;
mod layout;
mod log;
mod moment;
mod otlp;
mod places;
mod plan;
mod probe;
mod prometheus;
mod rank;
mod recorded;
mod repeated;
mod reset;
mod session;
mod stats;
mod status;
mod tone;

pub use alarm::{
    AlarmList, alarm_body, alarm_letters, alarm_name, alarm_sightings, alarms_json, alarms_text, test_body,
};
pub use barred::Barred;
pub use caps::{caps_json, caps_table};
pub use chat::{attempt_line, chat_json, skip_line, stored_json, trail};
pub use check::{check_json, check_text};
pub use choice::{Choice, Miss, readings, selector_of};
pub use guard::{Guarded, Says};
pub use ladder::{cascade_json, cascade_line};
pub(crate) use layout::{columns, cut, cut_middle, wrapped};
pub use log::{capture_json, request_json, request_text, requests_text};
pub use moment::{distance, rfc3339, span};
pub use otlp::otlp_json;
pub use places::Places;
pub use plan::Plan;
pub use probe::{Kept, Probed, due_json, due_text};
pub use prometheus::{Exposition, LadderLimits, Metrics, unreadable};
pub use recorded::Recorded;
pub use repeated::{Kept as KeptVerdict, Repeated, baselines_json, baselines_text};
pub use reset::{Reset, finding_line, meter_line};
pub use session::{
    call_line, call_name, hidden_bytes, order_lines, question_lines, retold_json, session_json, sessions_text,
    talk_json, talk_text, tool_json, tool_line,
};
pub use stats::{Budget, Grouping, MARKS, Marks, Part, PutLast, Row, Stats, ends, equal_ends, rows, usual_bucket};
pub use status::{Graded, Known, Status, hold_id, hold_json, hold_line};
pub use tone::{Tone, Toned};
