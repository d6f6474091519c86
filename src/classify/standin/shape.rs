//! From an original to its stand-in.

use std::net::Ipv4Addr;

use ring::hmac;

use crate::clock::Rng;

/// Beginnings that say what a token is and not whose; the longest that fits stays.
const PREFIXES: &str = "sk-ant-api03- sk-ant-admin01- sk-ant-oat01- sk-ant-ort01- sk-ant-sid01- sk-ant- sk-proj- sk-or-v1- sk-svcacct- \
    sk-admin- sk-None- sk-lf- pk-lf- sk_live_ sk_test_ pk_live_ pk_test_ rk_live_ sk- gsk_ AIzaSy AIza AQ. ya29. \
    xai- nvapi- pplx- csk- hf_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- fw_ r8_ tgp_v1_ dop_v1_ xoxb- xoxp- xoxa- \
    AKIA ASIA AROA AIDA ABSK eyJ req_vrtx_ req_bdrk_ req_ req- resp_ resp- chatcmpl- chatcmpl_ cmpl- cmpl_ org- org_ \
    proj_ proj- user- user_ usr_ gen- gen_ msg_vrtx_ msg_bdrk_ msg_ toolu_vrtx_ toolu_bdrk_ toolu_ asst_ thread_ \
    run_ step_ call_ batch_ file- file_ acct_ acc_ cus_ sub_ sess_ sess- session_ key_ key- ak- ws_ wrkspc_ ep- rs_ \
    fc_ vs_ trace_ span_ tenant- tenant_ team- team_ acc- acct- workspace- workspace_ project- project_";

/// Letters of scripts that know no capitals: ten that are used for counting.
const COUNTING: [char; 10] = ['甲', '乙', '丙', '丁', '戊', '己', '庚', '辛', '壬', '癸'];

/// Makes stand-ins under the salt of one run.
pub(super) struct Shaper {
    salt: hmac::Key,
}

impl std::fmt::Debug for Shaper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shaper")
    }
}

impl Shaper {
    pub(super) fn new(rng: &mut Rng) -> Self {
        let mut salt = [0_u8; 32];
        for part in salt.chunks_exact_mut(8) {
            part.copy_from_slice(&rng.next_u64().to_le_bytes());
        }
        Self { salt: hmac::Key::new(hmac::HMAC_SHA256, &salt) }
    }

    /// As many characters of the same kinds, and not the same ones: short originals are drawn again until they differ.
    pub(super) fn stand_in(&self, original: &str) -> String {
        // Providers say with what a key has to begin.
        if PREFIXES.split(' ').any(|prefix| prefix.trim_end_matches(['-', '_']) == original) {
            return original.to_owned();
        }
        let start = prefix(original);
        let end = original.len() - ending(original);
        let (Some(head), Some(middle), Some(tail)) =
            (original.get(..start), original.get(start..end), original.get(end..))
        else {
            return self.changed(original);
        };
        format!("{head}{}{tail}", self.changed(middle))
    }

    fn changed(&self, original: &str) -> String {
        let seed = original.to_lowercase();
        let mut draws = (0..8_u8).map(|turn| {
            let mut stream = Stream::new(&self.salt, &seed, turn);
            if original.parse::<Ipv4Addr>().is_ok() {
                address(original, &mut stream)
            } else {
                word(original, &mut stream)
            }
        });
        let differs = |drawn: &String| *drawn != original;
        draws.find(differs).unwrap_or_else(|| original.to_owned())
    }
}

/// The length of the beginning that stays.
fn prefix(original: &str) -> usize {
    let fits =
        |prefix: &&str| original.strip_prefix(*prefix).is_some_and(|rest| rest.chars().any(char::is_alphanumeric));
    PREFIXES.split(' ').filter(fits).map(str::len).max().unwrap_or(0)
}

/// The length of the end that stays: the `.org` of an e-mail address.
fn ending(original: &str) -> usize {
    let domain = original.rsplit_once('@').map_or("", |(_, domain)| domain);
    domain.rsplit_once('.').map_or(0, |(_, end)| end.len() + 1)
}

/// Bytes without end that follow from the salt and the original.
struct Stream {
    key: hmac::Key,
    block: u64,
    bytes: Vec<u8>,
}

impl Stream {
    fn new(salt: &hmac::Key, seed: &str, turn: u8) -> Self {
        let mut context = hmac::Context::with_key(salt);
        context.update(&[turn]);
        context.update(seed.as_bytes());
        let key = hmac::Key::new(hmac::HMAC_SHA256, context.sign().as_ref());
        Self { key, block: 0, bytes: Vec::new() }
    }

    fn next(&mut self) -> u8 {
        if self.bytes.is_empty() {
            self.bytes = hmac::sign(&self.key, &self.block.to_le_bytes()).as_ref().to_vec();
            self.block += 1;
        }
        self.bytes.pop().unwrap_or(0)
    }

    /// One of so many characters from the first on.
    fn pick(&mut self, first: char, count: u8) -> char {
        let code = u32::from(first) + u32::from(self.next() % count.max(1));
        char::from_u32(code).unwrap_or(first)
    }
}

/// Octets of as many digits, none above 199.
fn address(original: &str, stream: &mut Stream) -> String {
    let octet = |octet: &str| match octet.len() {
        3 => format!("1{}{}", stream.pick('0', 10), stream.pick('0', 10)),
        2 => format!("{}{}", stream.pick('1', 9), stream.pick('0', 10)),
        _ => stream.pick('1', 9).to_string(),
    };
    original.split('.').map(octet).collect::<Vec<_>>().join(".")
}

/// Character by character. An escape stays one.
fn word(original: &str, stream: &mut Stream) -> String {
    // What is written in hexadecimal stays so.
    let letters = if is_hex(original) { 6 } else { 26 };
    let mut out = String::with_capacity(original.len());
    let mut rest = original;
    let mut is_first = true;
    while let Some(character) = rest.chars().next() {
        let tail = rest.get(character.len_utf8()..).unwrap_or("");
        if character == '\\' {
            rest = escape(&mut out, tail, letters, stream);
            is_first = true;
            continue;
        }
        out.push(other(character, letters, is_first, stream));
        is_first = !character.is_alphanumeric();
        rest = tail;
    }
    out
}

fn is_hex(text: &str) -> bool {
    let mut has_digit = false;
    let mut has_letter = false;
    for byte in text.bytes().filter(u8::is_ascii_alphanumeric) {
        has_digit |= byte.is_ascii_digit();
        has_letter |= byte.is_ascii_alphabetic();
        if !byte.is_ascii_hexdigit() {
            return false;
        }
    }
    has_digit && has_letter
}

/// Another character of the same kind. No number begins with a zero that did not: JSON knows none.
fn other(character: char, letters: u8, is_first: bool, stream: &mut Stream) -> char {
    match character {
        '0' if is_first => '0',
        '1'..='9' if is_first => stream.pick('1', 9),
        '0'..='9' => stream.pick('0', 10),
        'a'..='z' => stream.pick('a', letters),
        'A'..='Z' => stream.pick('A', letters),
        _ if character.is_ascii() || !character.is_alphabetic() => character,
        // à to ö and À to Ö, all of which are letters.
        _ if character.is_lowercase() => stream.pick('à', 23),
        _ if character.is_uppercase() => stream.pick('À', 23),
        _ => COUNTING.get(usize::from(stream.next()) % COUNTING.len()).copied().unwrap_or('甲'),
    }
}

/// Copies a run of backslashes and what they escape; a letter that is written as `\u00e9` becomes another such.
fn escape<'a>(out: &mut String, after: &'a str, letters: u8, stream: &mut Stream) -> &'a str {
    out.push('\\');
    let rest = after.trim_start_matches('\\');
    out.extend(std::iter::repeat_n('\\', after.len() - rest.len()));
    let code = rest.strip_prefix('u').and_then(|rest| rest.get(..4));
    if let Some(letter) = code.and_then(|hex| u32::from_str_radix(hex, 16).ok()) {
        let drawn = char::from_u32(letter).map_or(letter, |letter| u32::from(other(letter, letters, false, stream)));
        out.push_str(&format!("u{drawn:04x}"));
        return rest.get(5..).unwrap_or("");
    }
    match rest.chars().next() {
        Some(letter @ ('n' | 'r' | 't' | 'b' | 'f')) => {
            out.push(letter);
            rest.get(1..).unwrap_or("")
        }
        _ => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaper() -> Shaper {
        Shaper::new(&mut Rng::new(Some(7)))
    }

    #[test]
    fn kinds_lengths_and_prefixes_stay() {
        for (original, head, tail) in [
            ("req_011CSabcXYZ", "req_", ""),
            ("sk-ant-api03-AbCd-0123", "sk-ant-api03-", ""),
            ("alice.b@acme.example", "", ".example"),
            ("10.20.130.4", "", ""),
            ("Zoë Ünal", "", ""),
            ("深圳公司", "", ""),
            ("x", "", ""),
        ] {
            let drawn = shaper().stand_in(original);
            assert_ne!(drawn, original);
            assert_eq!(drawn.chars().count(), original.chars().count(), "{original} {drawn}");
            assert!(drawn.starts_with(head) && drawn.ends_with(tail), "{original} {drawn}");
            for (one, two) in original.chars().zip(drawn.chars()) {
                assert_eq!(one.is_alphanumeric(), two.is_alphanumeric(), "{original} {drawn}");
                assert_eq!(one.is_ascii_digit(), two.is_ascii_digit(), "{original} {drawn}");
                assert_eq!(one.is_uppercase(), two.is_uppercase(), "{original} {drawn}");
            }
        }
        let text = r"a\u00e9\nb\\u4f60";
        let escaped = shaper().stand_in(text);
        assert_eq!((escaped.len(), escaped.matches('\\').count()), (text.len(), 4), "{escaped}");
        assert!(escaped.contains(r"\u00") && escaped.contains(r"\n"), "{escaped}");
        let hex = shaper().stand_in("0a1b2c3d4e5f60718293a4b5c6d7e8f9");
        assert!(hex.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hex}");
        shaper().stand_in("192.168.254.255").parse::<Ipv4Addr>().expect("an address");
    }

    #[test]
    fn equal_in_any_case_and_other_under_another_salt() {
        let (one, two) = (shaper(), Shaper::new(&mut Rng::new(Some(8))));
        assert_eq!(one.stand_in("Acme Labs").to_lowercase(), one.stand_in("ACME LABS").to_lowercase());
        assert_ne!(one.stand_in("Acme Labs"), two.stand_in("Acme Labs"));
        assert_ne!(one.stand_in("Acme Labs"), one.stand_in("Acme Lads"));
        assert_eq!(format!("{one:?}"), "Shaper");
    }
}
