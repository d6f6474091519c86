//! Whether a model declines, in the words in which models do.
//!
//! It says so at once and briefly: `I'm sorry, but I can't help with that.` Of a long text, or of one that begins
//! otherwise, nothing is said: whoever answers and regrets something on the way has answered. In English, where "I can't"
//! begins many a good answer ("I can't see a second error in this log"), what cannot be done must be the helping itself.

/// The longest text that may be one, in bytes.
const LONGEST: usize = 800;

/// How far into the text its beginning goes, in characters.
const BEGINNING: usize = 160;

/// Beginnings after which must come what is declined.
const ENGLISH: &[&str] = &[
    "i can't",
    "i cannot",
    "i can not",
    "i'm unable to",
    "i am unable to",
    "i'm not able to",
    "i am not able to",
    "i won't",
    "i will not",
    "i must decline",
    "i have to decline",
    "i'm not comfortable",
    "i am not comfortable",
    "i do not feel comfortable",
    "i don't feel comfortable",
    "i'm not going to",
];

/// What may stand before them.
const REGRETS: &[&str] = &[
    "i'm very sorry",
    "i'm really sorry",
    "i'm sorry",
    "i am sorry",
    "i'm afraid",
    "sorry",
    "i apologize",
    "i apologise",
    "my apologies",
    "unfortunately",
    "as an ai language model",
    "as a language model",
    "as an ai assistant",
    "as an ai model",
    "as an ai",
    "thank you for your question",
    "but",
    "however",
    "that",
    "for the inconvenience",
    "for any confusion",
];

/// What is declined.
const HELPING: &[&str] = &[
    "help",
    "assist",
    "comply",
    "provide",
    "fulfill",
    "fulfil",
    "support",
    "engage",
    "continue",
    "discuss",
    "create",
    "generate",
    "produce",
    "write",
    "answer",
    "respond",
    "do that",
    "do this",
    "participate",
    "share",
    "offer",
    "decline",
    "comfortable",
    "facilitate",
    "encourage",
    "advise",
    "that request",
    "this request",
];

/// Beginnings that say it all, in other languages.
const OTHERS: &[&str] = &[
    "es tut mir leid, aber ich kann",
    "es tut mir leid, aber dabei kann ich",
    "es tut mir leid, ich kann",
    "tut mir leid, aber ich kann",
    "tut mir leid, aber dabei kann ich",
    "tut mir leid, ich kann",
    "entschuldigung, aber ich kann",
    "dabei kann ich nicht helfen",
    "dabei kann ich dir nicht",
    "dabei kann ich ihnen nicht",
    "ich kann dir dabei nicht",
    "ich kann ihnen dabei nicht",
    "je suis désolé, mais je ne peux",
    "je suis désolée, mais je ne peux",
    "je suis désolé, je ne peux",
    "désolé, mais je ne peux",
    "désolé, je ne peux",
    "je ne peux pas vous aider",
    "je ne peux pas t'aider",
    "lo siento, pero no puedo",
    "lo siento, no puedo",
    "no puedo ayudar",
    "mi dispiace, ma non posso",
    "mi dispiace, non posso",
    "non posso aiutar",
    "desculpe, mas não posso",
    "desculpe, não posso",
    "sinto muito, mas não posso",
    "não posso ajudar",
    "het spijt me, maar ik kan",
    "sorry, maar ik kan",
    "przykro mi, ale nie mogę",
    "извините, но я не могу",
    "простите, но я не могу",
    "к сожалению, я не могу",
    "üzgünüm, ancak",
    "üzgünüm, bu konuda yardımcı olamam",
    "抱歉,我无法",
    "抱歉,我不能",
    "抱歉,无法",
    "很抱歉,我无法",
    "很抱歉,我不能",
    "对不起,我无法",
    "对不起,我不能",
    "我无法提供",
    "我不能提供",
    "我无法协助",
    "申し訳ありませんが",
    "申し訳ございませんが",
    "すみませんが、お手伝い",
    "죄송하지만",
    "죄송합니다만",
    "عذرًا، لا أستطيع",
    "عذرًا، لا يمكنني",
    "आई एम सॉरी",
    "क्षमा करें, मैं",
];

/// Whether the text declines to answer.
pub(super) fn refuses(text: &str) -> bool {
    if text.len() > LONGEST {
        return false;
    }
    let plain: String = text.chars().map(plain).take(BEGINNING).collect::<String>().to_lowercase();
    let beginning = plain.trim_start_matches(|c: char| !c.is_alphanumeric());
    OTHERS.iter().any(|words| beginning.starts_with(words)) || declines(beginning)
}

/// Typesetters' signs as those of a keyboard.
const fn plain(sign: char) -> char {
    match sign {
        '’' | '‘' | '`' => '\'',
        '，' => ',',
        _ => sign,
    }
}

/// Regrets, then what cannot be done, then that it is the helping.
fn declines(beginning: &str) -> bool {
    let mut rest = beginning;
    // Each of them shortens the rest.
    while let Some(after) = REGRETS.iter().find_map(|words| rest.strip_prefix(words)) {
        if after.starts_with(char::is_alphanumeric) {
            break;
        }
        rest = after.trim_start_matches(|c: char| !c.is_alphanumeric());
    }
    let Some(after) = ENGLISH.iter().find_map(|words| rest.strip_prefix(words).map(|after| (words, after))) else {
        return false;
    };
    let (words, after) = after;
    // Within the same sentence.
    let sentence = after.split(['.', '!', '\n']).next().unwrap_or_default();
    HELPING.iter().any(|helping| sentence.contains(helping) || words.contains(helping))
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
            "Je suis désolé, mais je ne peux pas répondre.",
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
            "Buttons are blue.",
            "{\"answer\": \"I'm sorry, but I can't help with that.\"}",
            &long,
            "",
        ] {
            assert!(!refuses(text), "{text}");
        }
    }
}
