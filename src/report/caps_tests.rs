use insta::assert_snapshot;

use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

const NOW: &str = "2026-11-01T07:30:00Z";

#[test]
fn a_narrow_terminal_shows_limit_clock_and_source() {
    let catalog = Catalog::parse(SAMPLE).expect("a catalogue");
    assert_snapshot!(caps_table(&catalog, None, at(NOW), 80), @r"
    bedrock: limits and signals only
     limit           model  per      resets  next reset (UTC)   source
         ?  credits  all    account  never   a person must act  docs 2026-08-01

    gemini: https://generativelanguage.googleapis.com/v1beta, gemini wire, key in GEMINI_API_KEY
     limit          model         per      resets        next reset    source
                                                         (UTC)
         ?  rpm     all           model    rolling 1m    within 1m     docs
                                                                       2026-08-01
         ?  rpd     all           model    midnight Los  2026-11-02    docs
                                           Angeles       08:00, in     2026-08-01
                                                         24h 30m
     1,500  rpd     gemini-2.5-f  model    midnight Los  2026-11-02    observed
                    lash (free)            Angeles       08:00, in     2026-03-01
                                                         24h 30m
         ?  weekly  all           account  stated        as the        observed
                                                         answer says   2026-08-01

    vllm: http://127.0.0.1:8000/v1, openai wire
      no limits known
    ");
}

#[test]
fn a_wide_terminal_shows_tier_and_note_as_well() {
    let catalog = Catalog::parse(SAMPLE).expect("a catalogue");
    assert_snapshot!(caps_table(&catalog, Some(&"gemini".into()), at(NOW), 160), @r"
    gemini: https://generativelanguage.googleapis.com/v1beta, gemini wire, key in GEMINI_API_KEY
     limit          model             tier  per      resets                        next reset (UTC)              source               note
         ?  rpm     all                     model    rolling 1m                    within 1m                     docs 2026-08-01
         ?  rpd     all                     model    midnight America/Los_Angeles  2026-11-02 08:00, in 24h 30m  docs 2026-08-01
     1,500  rpd     gemini-2.5-flash  free  model    midnight America/Los_Angeles  2026-11-02 08:00, in 24h 30m  observed 2026-03-01  seen low
         ?  weekly  all                     account  stated                        as the answer says            observed 2026-08-01
    ");
}

#[test]
fn json_has_one_object_per_limit() {
    let catalog = Catalog::parse(SAMPLE).expect("a catalogue");
    assert_snapshot!(caps_json(&catalog, None, at(NOW)), @r#"
    {"provider":"bedrock","model":null,"dimension":"credits","limit":null,"tier":null,"scope":"account","reset":"never","next_reset":null,"next_reset_in_s":null,"source":"docs","as_of":"2026-08-01","note":null}
    {"provider":"gemini","model":null,"dimension":"rpd","limit":null,"tier":null,"scope":"model","reset":"midnight America/Los_Angeles","next_reset":"2026-11-02T08:00:00Z","next_reset_in_s":88200.0,"source":"docs","as_of":"2026-08-01","note":null}
    {"provider":"gemini","model":null,"dimension":"rpm","limit":null,"tier":null,"scope":"model","reset":"rolling 1m","next_reset":"2026-11-01T07:31:00Z","next_reset_in_s":60.0,"source":"docs","as_of":"2026-08-01","note":null}
    {"provider":"gemini","model":null,"dimension":"weekly","limit":null,"tier":null,"scope":"account","reset":"stated","next_reset":null,"next_reset_in_s":null,"source":"observed","as_of":"2026-08-01","note":null}
    {"provider":"gemini","model":"gemini-2.5-flash","dimension":"rpd","limit":1500,"tier":"free","scope":"model","reset":"midnight America/Los_Angeles","next_reset":"2026-11-02T08:00:00Z","next_reset_in_s":88200.0,"source":"observed","as_of":"2026-03-01","note":"seen low"}
    "#);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let catalog = Catalog::builtin().expect("the catalogue");
    for width in [80, 100, 129, 130, 200] {
        let text = caps_table(&catalog, None, at(NOW), width);
        let tables = text.lines().filter(|line| !line.contains(": "));
        let longest = tables.map(|line| line.chars().count()).max().expect("a line");
        assert!(longest <= width, "{longest} > {width}");
    }
    let lines = caps_json(&catalog, None, at(NOW));
    assert_eq!(lines.lines().count(), catalog.providers.values().map(|info| info.caps.len()).sum::<usize>());
    assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn numbers_are_grouped() {
    for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
        assert_eq!(grouped(number), text);
    }
}

const SAMPLE: &str = r#"
[providers.gemini]
base_url = "https://generativelanguage.googleapis.com/v1beta"
wire = "gemini"
env = ["GEMINI_API_KEY", "GOOGLE_API_KEY"]
caps = [
  { dimensions = ["rpd"], scope = "model", reset = "midnight America/Los_Angeles", source = "docs 2026-08-01" },
  { dimensions = ["rpm"], scope = "model", reset = "rolling 1m", source = "docs 2026-08-01" },
  { dimensions = ["weekly"], scope = "account", reset = "stated", source = "observed 2026-08-01" },
]
limits = [
  { model = "gemini-2.5-flash", tier = "free", limit = { rpd = 1500 }, source = "observed 2026-03-01", note = "seen low" },
]

[providers.bedrock]
caps = [{ dimensions = ["credits"], scope = "account", reset = "never", source = "docs 2026-08-01" }]

[providers.vllm]
base_url = "http://127.0.0.1:8000/v1"
wire = "openai"
auth = "none"
"#;
