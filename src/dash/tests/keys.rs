//! What keys, clicks and news from outside do.

use std::time::Duration;

use super::night::{Left, model, now, reading};
use super::screens::{drawn, pressed, text};
use crate::dash::{Deed, Effect, Input, Key, Model, Options, Span, update};

fn small(left: Left) -> Model {
    model(left, (80, 24), Options::default())
}

fn press(model: &mut Model, key: Key) -> Vec<Effect> {
    update(model, Input::Key(key))
}

fn type_in(model: &mut Model, text: &str) {
    for letter in text.chars() {
        assert_eq!(press(model, Key::Char(letter)), [], "{letter:?} is typed");
    }
}

/// The names of the deployments that are listed.
fn names(model: &Model) -> Vec<&str> {
    model.board.deployments.iter().map(|line| line.name.split('/').next().unwrap_or_default()).collect()
}

#[test]
fn q_leaves_and_ctrl_c_interrupts_wherever_one_is() {
    assert_eq!(press(&mut small(Left::One), Key::Char('q')), [Effect::Quit]);
    for keys in ["", "?", "/q", "2\n", "2r"] {
        let mut model = pressed(Left::One, (80, 24), keys, Options::default());
        assert_eq!(press(&mut model, Key::Interrupt), [Effect::Interrupt], "{keys:?}");
    }
}

#[test]
fn esc_leaves_what_lies_above_and_never_the_program() {
    let before = small(Left::One);
    for keys in ["?", "/groq", "2\n", "2r", ""] {
        let mut model = pressed(Left::One, (80, 24), keys, Options::default());
        for _ in 0..3 {
            assert_eq!(press(&mut model, Key::Esc), [], "{keys:?}");
        }
        model.note = None;
        assert_eq!(model, before, "{keys:?}");
    }
}

#[test]
fn a_filter_narrows_while_it_is_typed() {
    let mut model = small(Left::One);
    type_in(&mut model, "/state:QUAR");
    assert_eq!(names(&model), ["gemini"]);
    press(&mut model, Key::Enter);
    press(&mut model, Key::Char('5'));
    assert_eq!((names(&model), model.pane), (vec!["gemini"], crate::dash::model::Pane::Metrics), "keys are keys again");
    press(&mut model, Key::Char('2'));
    press(&mut model, Key::Esc);
    assert_eq!(names(&model).len(), 7);
    for (filter, shown) in [
        ("class:auth", vec!["mistral"]),
        ("provider:groq", vec!["groq"]),
        ("q4", vec!["gemini"]),
        ("main rate", vec!["groq"]),
        ("openai-acct", vec!["openai"]),
        ("nothing like it", vec![]),
    ] {
        type_in(&mut model, &format!("/{filter}"));
        assert_eq!(names(&model), shown, "{filter}");
        press(&mut model, Key::Esc);
    }
}

#[test]
fn a_filter_hides_no_ladder() {
    let model = pressed(Left::Nobody, (80, 24), "/nothing\n", Options::default());
    let shown = text(&drawn(&model));
    assert!(shown.contains("LADDER main IS EXHAUSTED") && shown.contains("nothing fits the filter"), "{shown}");
}

#[test]
fn shift_and_a_letter_sort_and_the_same_again_turns_it_around() {
    let mut model = small(Left::One);
    assert_eq!(names(&model), ["cerebras", "mistral", "openrouter", "gemini", "groq", "lab", "openai"], "worst first");
    press(&mut model, Key::Char('N'));
    assert_eq!(names(&model), ["cerebras", "gemini", "groq", "lab", "mistral", "openai", "openrouter"]);
    press(&mut model, Key::Char('U'));
    assert_eq!(names(&model)[..4], ["openrouter", "groq", "gemini", "mistral"], "who is back first");
    press(&mut model, Key::Char('F'));
    assert_eq!(names(&model)[0], "cerebras");
    press(&mut model, Key::Char('F'));
    assert_eq!(names(&model)[6], "cerebras");
}

#[test]
fn a_click_on_a_title_sorts_and_on_a_line_chooses_it_and_then_opens_it() {
    let mut model = small(Left::One);
    let shown = text(&drawn(&model));
    let title = shown.lines().position(|line| line.starts_with("State")).expect("titles");
    let y = u16::try_from(title).expect("a line");
    update(&mut model, Input::Click(14, y));
    assert_eq!(names(&model)[1], "gemini", "by name");
    update(&mut model, Input::Click(5, y + 3));
    assert_eq!((model.cursors[1], model.overlay.is_none()), (2, true));
    update(&mut model, Input::Click(5, y + 3));
    assert!(text(&drawn(&model)).contains("groq/llama-3.3-70b-versatile@team ─"), "{}", text(&drawn(&model)));
}

fn deed(model: &mut Model, key: char) -> Option<Deed> {
    assert_eq!(press(model, Key::Char(key)), [], "it asks first");
    match press(model, Key::Char('y')).pop() {
        Some(Effect::Do(deed)) => Some(deed),
        _ => None,
    }
}

#[test]
fn what_is_done_by_hand_is_a_command_and_asked_for_first() {
    let mut model = small(Left::One);
    let words = |deed: Option<Deed>| deed.map(|deed| deed.words.join(" "));
    let cerebras = "cerebras/gpt-oss-120b@night";
    assert_eq!(words(deed(&mut model, 'r')), Some(format!("reset -y -- {cerebras}")));
    assert_eq!(words(deed(&mut model, 'p')), Some(format!("probe --now -- {cerebras}")));
    let open = format!("hold -y --why opened by hand in top -- {cerebras}");
    assert_eq!(words(deed(&mut model, 'o')), Some(open));
    press(&mut model, Key::Char('r'));
    assert_eq!(press(&mut model, Key::Enter), [], "only y does it");
    assert!(model.overlay.is_none());
}

#[test]
fn what_cannot_be_done_is_said() {
    let mut model = small(Left::One);
    press(&mut model, Key::End);
    for key in ['r', 'p'] {
        assert_eq!(press(&mut model, Key::Char(key)), []);
        assert!(text(&drawn(&model)).contains("nothing holds openai/gpt-4.1-mini@spare"), "{key}");
    }
    let mut model = pressed(Left::One, (80, 24), "5", Options::default());
    assert_eq!(deed(&mut model, 'o'), None);
    let options = Options { is_read_only: true, ..Options::default() };
    for key in ['r', 'p', 'o'] {
        let mut model = super::night::model(Left::One, (80, 24), options.clone());
        assert_eq!((press(&mut model, Key::Char(key)), &model.overlay), (vec![], &None), "{key}");
        assert!(text(&drawn(&model)).contains("read-only: nothing can be changed from here"), "{key}");
    }
}

#[test]
fn space_freezes_the_screen_and_goes_on_with_the_latest() {
    let mut model = small(Left::One);
    press(&mut model, Key::Char(' '));
    let frozen = text(&drawn(&model));
    assert!(frozen.contains("FROZEN"));
    update(&mut model, Input::Reading(Box::new(reading(Left::Nobody))));
    update(&mut model, Input::Tick(now() + Duration::from_secs(9)));
    assert_eq!(text(&drawn(&model)), frozen);
    press(&mut model, Key::Char(' '));
    assert!(text(&drawn(&model)).contains("LADDER main IS EXHAUSTED"));
}

#[test]
fn countdowns_run_between_readings() {
    let mut model = small(Left::One);
    assert!(text(&drawn(&model)).contains("in 42s"));
    update(&mut model, Input::Tick(now() + Duration::from_secs(2)));
    assert!(text(&drawn(&model)).contains("in 40s"));
}

#[test]
fn plus_and_minus_and_brackets_are_obeyed_outside() {
    let mut model = small(Left::One);
    assert_eq!(press(&mut model, Key::Char('+')), [Effect::Interval(Duration::from_millis(500))]);
    assert_eq!(press(&mut model, Key::Char('-')), [Effect::Interval(Duration::from_secs(1))]);
    assert_eq!(press(&mut model, Key::Char(']')), [Effect::Span(Span::SixHours)]);
    assert_eq!(press(&mut model, Key::Char('[')), [Effect::Span(Span::Hour)]);
    assert_eq!(press(&mut model, Key::Char('[')), [Effect::Span(Span::Week)]);
}

#[test]
fn what_came_of_a_deed_is_told_and_the_state_read_again() {
    let mut model = small(Left::One);
    let said = "cleared circuit b1\n\u{1b}[31mcan be asked now: x".to_owned();
    assert_eq!(update(&mut model, Input::Done(Ok(said))), [Effect::Refresh]);
    assert!(text(&drawn(&model)).contains("cleared circuit b1 can be asked now: x"));
    update(&mut model, Input::Done(Err("error: no".to_owned())));
    assert!(text(&drawn(&model)).contains("error: no"));
}

#[test]
fn the_cursor_stays_on_a_line_when_lines_go() {
    let mut model = small(Left::One);
    press(&mut model, Key::End);
    assert_eq!(model.cursors[1], 6);
    type_in(&mut model, "/groq");
    assert_eq!(model.cursors[1], 0);
    drawn(&model);
}

#[test]
fn the_cursor_stays_on_what_it_stands_on_when_the_list_is_sorted_anew() {
    let mut model = small(Left::One);
    press(&mut model, Key::Char('j'));
    assert_eq!(names(&model)[model.cursors[1]], "mistral");
    press(&mut model, Key::Char('N'));
    assert_eq!(names(&model)[model.cursors[1]], "mistral");
    press(&mut model, Key::Home);
    press(&mut model, Key::Char('S'));
    assert_eq!(model.cursors[1], 0, "at the top it stays at the top");
}

#[test]
fn what_ends_by_time_alone_is_over_at_the_next_second() {
    let mut model = small(Left::Nobody);
    update(&mut model, Input::Tick(now() + Duration::from_secs(43)));
    let shown = text(&drawn(&model));
    assert!(!shown.contains("LADDER main IS") && shown.contains("LADDER small IS EXHAUSTED"), "{shown}");
}

fn fallen(failed: &[&str], minutes: i64) -> crate::dash::Reading {
    let mut reading = reading(Left::One);
    let cascade = crate::policy::Cascade {
        ladder: "main".into(),
        state: crate::policy::CascadeState::Open,
        streak: 10,
        opens: 1,
        slots: 1,
        leases: Vec::new(),
        since: now() - Duration::from_secs(60),
        until: now() + jiff::SignedDuration::from_mins(minutes),
        failed: failed.iter().map(|print| (*print).to_owned()).collect(),
        evidence: String::new(),
        request_id: None,
    };
    reading.snapshot.cascades = vec![crate::policy::VersionedCascade { version: 1, cascade }];
    reading
}

#[test]
fn a_ladder_that_turns_requests_away_is_exhausted_until_somebody_may_look_or_could_be_asked() {
    let shown = |reading: crate::dash::Reading| {
        let mut model = small(Left::One);
        update(&mut model, Input::Reading(Box::new(reading)));
        text(&drawn(&model))
    };
    let away = shown(fallen(&["lab/qwen3-余额 entry:1"], 2));
    assert!(away.contains("LADDER main IS EXHAUSTED, turns requests away, looks in 2m"), "{away}");
    for (why, reading) in
        [("it is time to look", fallen(&["lab/qwen3-余额"], -1)), ("another can be asked", fallen(&[], 2))]
    {
        let shown = shown(reading);
        assert!(!shown.contains("LADDER main IS") && shown.contains("ONE AWAY"), "{why}: {shown}");
    }
}

/// `main` with everybody dead but its last resort, which is held so.
fn with_resort(hold: Option<crate::domain::Class>) -> String {
    let mut reading = reading(Left::Nobody);
    reading.snapshot.holds.retain(|held| held.id != 7);
    reading.ladders.truncate(1);
    let resort = reading.ladders[0].steps.pop();
    reading.ladders[0].last_resort = resort;
    if let Some(class) = hold {
        reading.snapshot.holds.push(super::night::held_resort(class));
    }
    let mut model = small(Left::One);
    update(&mut model, Input::Reading(Box::new(reading)));
    text(&drawn(&model))
}

#[test]
fn a_last_resort_keeps_a_ladder_from_being_exhausted_unless_a_person_must_act() {
    for (hold, is_exhausted) in
        [(None, false), (Some(crate::domain::Class::Overloaded), false), (Some(crate::domain::Class::Auth), true)]
    {
        let shown = with_resort(hold);
        assert_eq!(shown.contains("LADDER main IS EXHAUSTED"), is_exhausted, "{hold:?}: {shown}");
        assert_eq!(shown.contains("ONE FAILURE AWAY"), !is_exhausted, "{hold:?}: {shown}");
    }
}

#[test]
fn a_key_that_is_not_here_exhausts_nothing() {
    let mut reading = reading(Left::One);
    for known in &mut reading.known {
        known.no_key = true;
    }
    let mut model = small(Left::One);
    update(&mut model, Input::Reading(Box::new(reading)));
    let shown = text(&drawn(&model));
    assert!(!shown.contains("IS EXHAUSTED") && shown.contains("no key"), "{shown}");
}

#[test]
fn a_filter_does_not_hide_what_runs_out_next() {
    let with = |keys| text(&drawn(&pressed(Left::One, (140, 24), keys, Options::default())));
    assert!(with("").contains("next out: groq"), "{}", with(""));
    assert!(with("/mistral\n").contains("next out: groq"), "{}", with("/mistral\n"));
}

#[test]
fn a_capital_g_is_typed_in_a_filter_and_goes_to_the_end_elsewhere() {
    let mut model = small(Left::One);
    press(&mut model, Key::Char('G'));
    assert_eq!(model.cursors[1], 6);
    type_in(&mut model, "/GROQ");
    assert_eq!(names(&model), ["groq"]);
}

#[test]
fn slower_is_never_faster() {
    for (start, slower, faster) in [(60_000, 60_000, 30_000), (700, 1_000, 500), (250, 500, 250)] {
        let ms = Duration::from_millis;
        let with = |key| {
            let mut model = model(Left::One, (80, 24), Options { interval: ms(start), ..Options::default() });
            press(&mut model, Key::Char(key));
            model.interval()
        };
        assert_eq!((with('-'), with('+')), (ms(slower), ms(faster)), "{start}");
    }
}

#[test]
fn a_state_that_cannot_be_read_is_told_and_what_was_known_stays() {
    let mut model = small(Left::One);
    let broken = crate::dash::Reading { trouble: Some("the file is locked".to_owned()), ..reading(Left::One) };
    update(&mut model, Input::Reading(Box::new(broken)));
    let shown = text(&drawn(&model));
    assert!(shown.contains("the state cannot be read: the file is locked") && shown.contains("cerebras"), "{shown}");
}
