//! The writer; what is written is read by a strict reader and by `promtool` in the integration tests.

use super::families::{BUILD, REQUESTS, TTFT};
use super::{Exposition, unreadable};
use crate::report::prometheus::write::{Labels, Writer};

fn written(format: Exposition, put: impl FnOnce(&mut Writer)) -> String {
    let mut out = Writer::new(format);
    put(&mut out);
    out.finish()
}

#[test]
fn labels_are_escaped_and_cannot_break_a_line() {
    let labels: Labels<'_> = vec![("ladder", "a\"b\\c\nd\r\u{1b}[31me"), ("outcome", "余")];
    let text = written(Exposition::Prometheus, |out| out.sample(&REQUESTS, &labels, 7.0));
    assert_eq!(text, "llmr_requests_total{ladder=\"a\\\"b\\\\c\\nde\",outcome=\"余\"} 7\n");
}

#[test]
fn the_two_formats_differ_where_they_must() {
    let put = |out: &mut Writer| {
        out.head(&BUILD);
        out.head(&REQUESTS);
        out.head(&TTFT);
        out.histogram(&TTFT, &Labels::new(), &[(0.5, 1), (1.0, 3)], 4, 2.75);
    };
    let plain = written(Exposition::Prometheus, put);
    for line in [
        "# TYPE llmr_build_info gauge",
        "# TYPE llmr_requests_total counter",
        "llmr_time_to_first_token_seconds_bucket{le=\"1\"} 3",
        "llmr_time_to_first_token_seconds_bucket{le=\"+Inf\"} 4",
        "llmr_time_to_first_token_seconds_sum 2.75",
    ] {
        assert!(plain.lines().any(|found| found == line), "{line}: {plain}");
    }
    let open = written(Exposition::OpenMetrics, put);
    for line in [
        "# TYPE llmr_build info",
        "# TYPE llmr_requests counter",
        "# UNIT llmr_time_to_first_token_seconds seconds",
        "llmr_time_to_first_token_seconds_bucket{le=\"1.0\"} 3",
        "# EOF",
    ] {
        assert!(open.lines().any(|found| found == line), "{line}: {open}");
    }
    assert!(!plain.contains("UNIT") && !plain.contains("EOF"), "{plain}");
}

#[test]
fn large_numbers_and_small_ones_are_written_out() {
    let text = |value| written(Exposition::Prometheus, |out| out.sample(&REQUESTS, &Labels::new(), value));
    assert_eq!(text(12_345_678_901_234.0), "llmr_requests_total 12345678901234\n");
    assert_eq!(text(0.000_000_12), "llmr_requests_total 0.00000012\n");
}

#[test]
fn a_state_that_cannot_be_read_is_a_series() {
    let text = unreadable(Exposition::OpenMetrics, "1.2.3", jiff::Timestamp::UNIX_EPOCH);
    assert!(text.contains("\nllmr_state_readable 0\n") && text.contains("{version=\"1.2.3\"} 1\n"), "{text}");
}
