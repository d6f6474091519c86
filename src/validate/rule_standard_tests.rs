//! The standard functions and macros of the language, each at least once; and those that are missing, so that the README
//! says the truth of them.

use serde_json::json;

use super::*;

fn ask(source: &str) -> Result<(), Unmet> {
    let answer = json!({
        "d": "2024-02-29T23:30:15.250Z", "local": "2024-02-29T23:30:15+01:00", "length": "1h30m", "n": 7, "x": 2.5,
        "word": "Bären", "list": [3, 1, 2], "map": {"a": 1}, "none": null, "yes": true,
        "dates": ["2024-01-01T00:00:00Z", "2024-06-01T00:00:00Z"],
    });
    let rule = Rule::new(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    rule.holds(&About::new(Some(&answer), "{…}", "At dawn the bird sings."))
}

#[test]
fn the_standard_functions_and_macros_work() {
    for source in [
        "size(answer.list) == 3 && answer.word.size() == 5 && size(bytes(answer.word)) == 6 && size(answer.map) == 1",
        "answer.word.matches('^B') && matches(answer.word, 'ren$')",
        "answer.word.startsWith('B') && answer.word.endsWith('n') && answer.word.contains('är')",
        "has(answer.map.a) && !has(answer.map.b)",
        "answer.list.all(n, n > 0) && answer.list.exists(n, n == 2) && answer.list.exists_one(n, n > 2)",
        "answer.list.existsOne(n, n > 2)",
        "answer.list.map(n, n * 2) == [6, 2, 4] && answer.list.filter(n, n > 1) == [3, 2]",
        "answer.list.map(n, n > 1, n * 2) == [6, 4]",
        "answer.map.all(key, answer.map[key] == 1) && answer.map.exists(key, key == 'a')",
        "2 in answer.list && 'a' in answer.map && !('b' in answer.map)",
        "(answer.yes ? 'a' : 'b') == 'a' && (answer.yes || answer.n > 9) && !(answer.n < 7)",
        "answer.n % 4 == 3 && -answer.n == -7 && answer.n / 2 == 3 && answer.n * 1 - 7 == 0",
        "int('12') == 12 && int(2.9) == 2 && int(7u) == 7",
        "uint(7) == 7u && uint('7') == 7u",
        "double('2.5') == answer.x && double(7) == 7.0",
        "string(7) == '7' && string(true) == 'true' && string(b'a') == 'a' && string(2.5) == '2.5'",
        "bytes('a') == b'a' && bool('true')",
        "type(7) == int && type(7u) == uint && type(2.5) == double && type('') == string && type(b'') == bytes",
        "type(true) == bool && type([]) == list && type({}) == map && type(null) == null_type && type(int) == type",
        "dyn(7) == 7 && answer.none == null",
        "answer['n'] == 7 && answer.list[0] == 3 && {'a': 1}.a == 1 && [1] + [2] == [1, 2] && 'a' + 'b' == 'ab'",
        "'a' < 'b' && 1 < 2.5 && 1u < 2 && false < true && answer.n == 7.0 && 'a' != 'b'",
        "r'\\d' == '\\\\d' && \"\\u00e4\" == 'ä' && 0x10 == 16 && 1e3 == 1000.0",
    ] {
        assert_eq!(ask(source), Ok(()), "{source}");
    }
}

#[test]
fn points_and_lengths_of_time_are_ordered_and_reckoned_with() {
    for source in [
        "timestamp(answer.d) < timestamp(\"2025-01-01T00:00:00Z\")",
        "timestamp(answer.d) >= timestamp('2024-02-29T23:30:15.25Z') && timestamp(answer.d) > timestamp(answer.local)",
        "timestamp(answer.local) == timestamp('2024-02-29T22:30:15Z') && timestamp(0) < timestamp(timestamp(answer.d))",
        "timestamp(answer.d) - timestamp(answer.local) == duration('1h0.25s')",
        "timestamp(answer.d) + duration('24h') > timestamp('2024-03-01T00:00:00Z')",
        "duration('24h') + timestamp(answer.d) - duration('1440m') == timestamp(answer.d)",
        "duration(answer.length) == duration('90m') && duration('1.5h') <= duration('5400s')",
        "duration('-1m') < duration('0') && duration('100ms') - duration('50ms') == duration('50000us')",
        "duration('1ns') + duration('1µs') == duration('1001ns') && duration('0s') == duration('-0h')",
        "answer.dates.all(d, timestamp(d).getFullYear() == 2024)",
        "answer.dates.map(d, timestamp(d)).exists(t, t > timestamp('2024-05-01T00:00:00Z'))",
        "timestamp(answer.dates[0]) in answer.dates.map(d, timestamp(d))",
        "timestamp(answer.d).getMonth() == 1 && timestamp(answer.d).getDate() == 29",
        "timestamp(answer.d).getDayOfMonth() == 28 && timestamp(answer.d).getDayOfYear() == 59",
        "timestamp(answer.d).getDayOfWeek() == 4 && timestamp(answer.d).getHours() == 23",
        "timestamp(answer.d).getMinutes() == 30 && timestamp(answer.d).getSeconds() == 15",
        "timestamp(answer.d).getMilliseconds() == 250",
        "timestamp(answer.d).getHours('Europe/Zurich') == 0 && timestamp(answer.d).getDate('+01:00') == 1",
        "timestamp(answer.d).getHours('-08:30') == 15 && timestamp(answer.d).getMinutes('05:45') == 15",
        "duration('3h30m').getHours() == 3 && duration('3h30m').getMinutes() == 210",
        "duration('123.321456789s').getSeconds() == 123 && duration('123.321456789s').getMilliseconds() == 321",
        "int(timestamp('1970-01-01T00:01:00Z')) == 60 && int(timestamp('1969-12-31T23:59:59.5Z')) == -1",
        "string(timestamp(answer.local)) == '2024-02-29T22:30:15Z' && string(duration('90.5s')) == '90.5s'",
        "string(duration('-1m')) == '-60s' && int('3') == 3 && string(3) == '3' && timestamp(0) == timestamp(0)",
        // What is no time keeps its meaning beside one.
        "answer.n > 6 && answer.x < 3 && 'a' <= 'b' && answer.n >= 7.0 && duration('1s') > duration('1ms')",
    ] {
        assert_eq!(ask(source), Ok(()), "{source}");
    }
}

#[test]
fn what_is_no_time_says_so() {
    for (source, why) in [
        ("timestamp(answer.word) > timestamp(0)", "`Bären` is no point in time"),
        ("timestamp('2024-02-30T00:00:00Z') > timestamp(0)", "no point in time"),
        ("timestamp('2024-02-29') > timestamp(0)", "no point in time"),
        ("timestamp('2024-02-29T00:00:00') > timestamp(0)", "no point in time"),
        ("timestamp('2024-02-29 00:00:00Z') > timestamp(0)", "no point in time"),
        ("timestamp(answer.x) > timestamp(0)", "a text or a number of seconds is wanted"),
        ("timestamp('9999-12-01T00:00:00Z') + duration('2400h') > timestamp(0)", "out of range"),
        ("timestamp('0000-12-31T00:00:00Z') < timestamp(0)", "no point in time"),
        ("duration('99999999999h') > duration('1s')", "no length of time"),
        ("duration('1 hour') > duration('1s')", "no length of time"),
        ("duration('P1D') > duration('1s')", "no length of time"),
        ("duration('') == duration('0s')", "no length of time"),
        ("duration('.') == duration('0s')", "no length of time"),
        ("duration(answer.n) > duration('1s')", "a text is wanted"),
        ("timestamp(0) < duration('1s')", "cannot be compared"),
        ("timestamp(0) < 1", "cannot be compared"),
        ("timestamp(0) + timestamp(0) > timestamp(0)", "could not be evaluated"),
        ("timestamp(0).getHours('Nowhere/Town') == 0", "no such time zone"),
        ("duration('1s').getMonth() == 0", "no such part"),
        ("timestamp(0)", "and not true or false"),
        ("answer.word > 1 && timestamp(0) == timestamp(0)", "cannot be compared"),
    ] {
        let Err(Unmet::Untrue(said)) = ask(source) else { panic!("{source}") };
        assert!(said.contains(why), "{source}: {said}");
    }
}

#[test]
fn what_is_missing_is_told_when_it_is_read() {
    for (source, why) in [
        ("answer.word.lowerAscii() == ''", "unknown function `lowerAscii`"),
        ("answer.word.split(',').size() == 1", "unknown function `split`"),
        ("math.greatest(1, 2) == 2", "unknown"),
        ("type(timestamp(0)) == google.protobuf.Timestamp", "unknown variable `google`"),
        ("getHour(answer.d) == 1", "did you mean `getHours`?"),
        ("optional.of(1).hasValue()", "unknown"),
    ] {
        let said = Rule::new(source).expect_err(source);
        assert!(said.contains(why), "{source}: {said}");
    }
}
