//! Whether a model declines, in the words in which models do.
//!
//! It says so at once and briefly: `I'm sorry, but I can't help with that.` Of a long text, or of one that begins
//! otherwise, nothing is said: whoever answers and regrets something on the way has answered. "I can't" begins many a good
//! answer too ("I can't see a second error in this log", a letter that declines an invitation). So what cannot be done must
//! be the helping itself, and what it cannot be done with must be what was asked: `that`, `this request`, `such content`; or
//! what models are taught to decline: `instructions for making explosives`, `a script that steals passwords`. There the words
//! between are of a small set, so that who cannot provide the weapon inspectors with the keys has not declined.
//! What goes on with a `but` answers after all, and who cannot say something from the text alone has answered as well. A refusal that is missed is found by a check; a good answer that is thrown
//! away is lost.

mod tongues;
mod words;

use tongues::{TONGUES, Tongue};
use words::{ASKED, DOING, ENGLISH, FORBIDDEN, HARMS, HELPING, IDENTITIES, PADDING, REGRETS, REST, TOPICS, WHOLE, has};

/// The longest text that may be one, in bytes.
const LONGEST: usize = 480;

/// How far into the text its beginning goes, in characters.
const BEGINNING: usize = 240;

/// How far behind the beginning the verb may stand, and how far behind the verb what was asked, in words.
const NEAR: (usize, usize) = (4, 6);

/// Whether the text declines to answer.
pub(super) fn refuses(text: &str) -> bool {
    if text.len() > LONGEST {
        return false;
    }
    let plain: String = text.chars().map(plain).take(BEGINNING).collect::<String>().to_lowercase();
    let beginning = plain.trim_start_matches(|c: char| !c.is_alphanumeric());
    TONGUES.iter().any(|tongue| tongue.declines(beginning)) || declines(beginning)
}

/// Typesetters' signs as those of a keyboard.
const fn plain(sign: char) -> char {
    match sign {
        '’' | '‘' | '`' => '\'',
        '，' => ',',
        _ => sign,
    }
}

/// The sentence that the text is in.
fn sentence(text: &str) -> &str {
    text.split(['.', '!', '\n', '。', '！']).next().unwrap_or_default()
}

impl Tongue {
    fn declines(&self, beginning: &str) -> bool {
        let sentence = sentence(beginning);
        self.beginnings.iter().any(|words| sentence.starts_with(words))
            && self.doing.iter().any(|words| sentence.contains(words))
            && self.asked.iter().any(|words| sentence.contains(words))
            && !self.answers.iter().any(|words| sentence.contains(words))
    }
}

/// Regrets, then what cannot be done, then that it is the helping with what was asked.
fn declines(beginning: &str) -> bool {
    let rest = without_regrets(beginning);
    if WHOLE.iter().any(|words| rest.starts_with(words)) {
        return true;
    }
    let Some((words, after)) = ENGLISH.iter().find_map(|words| rest.strip_prefix(words).map(|after| (words, after)))
    else {
        return false;
    };
    let is_apart = |c: char| !c.is_alphanumeric() && c != '\'';
    // What is declined or uncomfortable belongs to what is said of it.
    let own = words.split(is_apart).next_back().filter(|word| DOING.contains(word));
    let rest: Vec<&str> =
        own.into_iter().chain(sentence(after).split(is_apart)).filter(|word| !word.is_empty()).collect();
    if rest.iter().any(|word| matches!(*word, "but" | "however" | "because" | "until")) {
        return false;
    }
    let Some(at) = rest.iter().take(NEAR.0).position(|word| DOING.contains(word)) else { return false };
    let refuses = *words == "i refuse to";
    let is_alone = |word: &&str| HELPING.contains(word) || *word == "decline" || (refuses && *word == "answer");
    match rest.get(at..).unwrap_or_default() {
        [verb] | [verb, "you"] if is_alone(verb) => true,
        [verb, object @ ..] => {
            let is_answered = verb.starts_with("answer") && object.iter().any(|word| has(REST, word));
            (names_the_request(object) && !is_answered) || names_harm(object)
        }
        [] => false,
    }
}

/// What follows the regrets, and what the model says it is.
fn without_regrets(beginning: &str) -> &str {
    let mut rest = beginning;
    // Each of them shortens the rest.
    loop {
        if let Some(words) = IDENTITIES.iter().find(|words| rest.starts_with(**words)) {
            let after = rest.get(words.len()..).unwrap_or_default();
            let Some((_, after)) = after.split_once([',', '.']) else { return rest };
            rest = after.trim_start_matches(|c: char| !c.is_alphanumeric());
            continue;
        }
        let Some(after) = REGRETS.iter().find_map(|words| rest.strip_prefix(words)) else { return rest };
        if after.starts_with(|c: char| c.is_alphanumeric() || c == '\'') {
            return rest;
        }
        rest = after.trim_start_matches(|c: char| !c.is_alphanumeric());
    }
}

/// Whether what models are taught to decline comes next, behind nothing but words that lead to it.
fn names_harm(words: &[&str]) -> bool {
    let at = words.iter().position(|word| !has(PADDING, word));
    let Some([word, after @ ..]) = at.and_then(|at| words.get(at..)) else { return false };
    let next = after.first().copied().unwrap_or_default();
    let is_led_to =
        at.and_then(|at| words.get(at.checked_sub(1)?)).is_some_and(|word| matches!(*word, "that" | "which"));
    let pair = format!("{word} {next}");
    (is_led_to && has(HARMS, word))
        || TOPICS.contains(&pair.as_str())
        // `weapon inspectors` are none, `weapons for` are.
        || (TOPICS.contains(word) && (next.is_empty() || has(PADDING, next)))
}

/// Whether these words, near their beginning, speak of what was asked.
fn names_the_request(words: &[&str]) -> bool {
    let near = words.iter().zip(words.iter().skip(1).map(Some).chain([None])).take(NEAR.1);
    let mut near = near.map(|(word, next)| (*word, next.copied()));
    near.any(|(word, next)| match word {
        "that" | "this" => next.is_none_or(|next| ASKED.contains(&next)),
        "your" | "the" => next == Some("request"),
        word => FORBIDDEN.contains(&word),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_declines_is_heard_in_many_languages() {
        for text in [
            "I'm sorry, but I can't help with that.",
            "I’m sorry, but I can’t assist with that request.",
            "Sorry, I cannot comply.",
            "I cannot provide medical advice.",
            "As an AI language model, I am unable to generate such content.",
            "Unfortunately, I'm not able to continue with this conversation.",
            "**I must decline.**",
            "Es tut mir leid, aber ich kann dabei nicht helfen.",
            "I'm sorry, but I can't help you with that.",
            "I'm sorry, but I won't be able to fulfil your request.",
            "I can't help. Ask somebody else.",
            "I'm not comfortable writing such a text.",
            "I have to decline this request.",
            "I'm unable to provide instructions for that.",
            "Je suis désolé, mais je ne peux pas répondre à cette demande.",
            "Lo siento, pero no puedo ayudar con eso.",
            "抱歉，我无法回答这个问题。",
            "申し訳ありませんが、お答えできません。",
            "죄송하지만 도와드릴 수 없습니다.",
        ] {
            assert!(refuses(text), "{text}");
        }
    }

    #[test]
    fn who_answers_is_not_taken_for_one_who_declines() {
        let long = format!("I'm sorry, but I can't help with that. {}", "However, here is all of it. ".repeat(40));
        for text in [
            "I can't see a second error in this log.",
            "Sorry for the delay! The capital of Switzerland is Bern.",
            "The clerk said: I'm sorry, but I can't help with that.",
            "I am sorry to hear that. You can return it within 30 days.",
            "I won! Here is the story.",
            "I can't help but admire this design. It is bold.",
            "I can't provide an exact number, but about 30 people attended.",
            "Unfortunately, I cannot answer with certainty, but the most likely cause is a full disk.",
            "I will not support this motion. It harms the city.",
            "I won't discuss pricing in this email. Please find attached our brochure.",
            "I'm sorry, but I won't be able to participate in the meeting on Friday.",
            "I must decline your kind invitation.",
            "I cannot write this off as chance.",
            "Es tut mir leid, aber ich kann morgen leider nicht zum Termin kommen.",
            "Désolé, je ne peux pas venir demain à la réunion.",
            "Lo siento, pero no puedo asistir a la reunión de mañana.",
            "申し訳ありませんが、明日の会議は欠席いたします。",
            "죄송하지만 내일 회의에 참석할 수 없습니다.",
            "抱歉，我无法参加明天的会议。",
            "Buttons are blue.",
            "{\"answer\": \"I'm sorry, but I can't help with that.\"}",
            &long,
            "",
        ] {
            assert!(!refuses(text), "{text}");
        }
    }
}
