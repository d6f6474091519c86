//! Whether a model declines, in the words in which models do.
//!
//! It says so at once and briefly: `I'm sorry, but I can't help with that.` Of a long text, or of one that begins
//! otherwise, nothing is said: whoever answers and regrets something on the way has answered. "I can't" begins many a good
//! answer too ("I can't see a second error in this log", a letter that declines an invitation). So what cannot be done must
//! be the helping itself, and what it cannot be done with must be what was asked: `that`, `this request`, `such content`.
//! What goes on with a `but` answers after all. A refusal that is missed is found by a check; a good answer that is thrown
//! away is lost.

/// The longest text that may be one, in bytes.
const LONGEST: usize = 480;

/// How far into the text its beginning goes, in characters.
const BEGINNING: usize = 240;

/// Beginnings after which must come what is declined.
const ENGLISH: &[&str] = &[
    "i can't",
    "i cannot",
    "i can not",
    "i'm unable to",
    "i am unable to",
    "i'm not able to",
    "i am not able to",
    "i won't be able to",
    "i will not be able to",
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

/// What is not done, without more.
const HELPING: &[&str] = &["help", "assist", "comply"];

/// What is not done with that which was asked.
const DOING: &[&str] = &[
    "help",
    "helping",
    "assist",
    "assisting",
    "comply",
    "fulfill",
    "fulfil",
    "provide",
    "providing",
    "create",
    "creating",
    "generate",
    "generating",
    "produce",
    "producing",
    "write",
    "writing",
    "answer",
    "answering",
    "respond",
    "responding",
    "discuss",
    "discussing",
    "engage",
    "engaging",
    "continue",
    "continuing",
    "participate",
    "share",
    "sharing",
    "offer",
    "facilitate",
    "encourage",
    "do",
    "doing",
    "decline",
    "comfortable",
];

/// What may follow `that` or `this`, if anything does.
const ASKED: &[&str] = &[
    "request",
    "requests",
    "question",
    "questions",
    "content",
    "topic",
    "task",
    "type",
    "kind",
    "sort",
    "information",
    "conversation",
    "material",
    "prompt",
    "here",
];

/// Words that say of themselves what is declined.
const FORBIDDEN: &[&str] = &[
    "such",
    "advice",
    "assistance",
    "illegal",
    "harmful",
    "unethical",
    "dangerous",
    "explicit",
    "hateful",
    "malicious",
];

/// How far behind the beginning the verb may stand, and how far behind the verb what was asked, in words.
const NEAR: (usize, usize) = (4, 6);

/// The words of another language: how it begins, what is not done, and with what.
struct Tongue {
    beginnings: &'static [&'static str],
    doing: &'static [&'static str],
    asked: &'static [&'static str],
}

const TONGUES: &[Tongue] = &[
    Tongue {
        beginnings: &[
            "es tut mir leid, aber ich kann",
            "es tut mir leid, aber dabei kann ich",
            "es tut mir leid, ich kann",
            "es tut mir leid, dabei kann ich",
            "tut mir leid, aber ich kann",
            "tut mir leid, aber dabei kann ich",
            "tut mir leid, ich kann",
            "entschuldigung, aber ich kann",
            "leider kann ich",
            "dabei kann ich",
            "ich kann",
        ],
        doing: &[
            "nicht helfen",
            "nicht weiterhelfen",
            "nicht behilflich",
            "nicht unterstützen",
            "nicht beantworten",
            "nicht nachkommen",
            "nicht erfüllen",
            "nicht bereitstellen",
            "nicht erstellen",
        ],
        asked: &["dabei", "damit", "anfrage", "solche", "diese frage"],
    },
    Tongue {
        beginnings: &[
            "je suis désolé, mais je ne peux",
            "je suis désolée, mais je ne peux",
            "je suis désolé, je ne peux",
            "désolé, mais je ne peux",
            "désolé, je ne peux",
            "je ne peux pas",
        ],
        doing: &["aider", "assister", "répondre", "fournir", "générer", "créer", "satisfaire"],
        asked: &[
            "cela",
            "à ça",
            "avec ça",
            "cette demande",
            "votre demande",
            "ta demande",
            "ce sujet",
            "cette question",
            "ce type",
            "ce genre",
        ],
    },
    Tongue {
        beginnings: &["lo siento, pero no puedo", "lo siento, no puedo", "no puedo"],
        doing: &["ayudar", "asistir", "responder", "proporcionar", "generar", "crear", "cumplir"],
        asked: &[
            "con eso",
            "con esto",
            "a eso",
            "esa solicitud",
            "esta solicitud",
            "tu solicitud",
            "su solicitud",
            "esa petición",
            "ese tipo",
            "este tipo",
            "esa pregunta",
        ],
    },
    Tongue {
        beginnings: &["mi dispiace, ma non posso", "mi dispiace, non posso", "non posso"],
        doing: &["aiutar", "assister", "rispondere", "fornire", "generare", "creare", "soddisfare"],
        asked: &["con questo", "a questo", "questa richiesta", "tua richiesta", "questa domanda", "questo tipo"],
    },
    Tongue {
        beginnings: &["desculpe, mas não posso", "desculpe, não posso", "sinto muito, mas não posso", "não posso"],
        doing: &["ajudar", "responder", "fornecer", "gerar", "criar", "atender", "auxiliar"],
        asked: &[
            "isso",
            "essa solicitação",
            "sua solicitação",
            "seu pedido",
            "esse pedido",
            "esse tipo",
            "essa pergunta",
        ],
    },
    Tongue {
        beginnings: &["het spijt me, maar ik kan", "het spijt me, ik kan", "sorry, maar ik kan"],
        doing: &["helpen", "assisteren", "beantwoorden", "voldoen"],
        asked: &["daarmee", "daarbij", "hiermee", "hierbij", "verzoek", "die vraag", "deze vraag"],
    },
    Tongue {
        beginnings: &["przykro mi, ale nie mogę", "niestety nie mogę", "niestety, nie mogę"],
        doing: &["pomóc", "odpowiedzieć", "spełnić"],
        asked: &["w tym", "z tym", "na to", "tej prośby"],
    },
    Tongue {
        beginnings: &["извините, но я не могу", "простите, но я не могу", "к сожалению, я не могу", "я не могу"],
        doing: &["помочь", "ответить", "выполнить", "предоставить"],
        asked: &["с этим", "в этом", "на это", "на этот", "этот запрос", "вашу просьбу", "ваш запрос"],
    },
    Tongue {
        beginnings: &["üzgünüm"],
        doing: &["yardımcı ol", "yardım ed", "yanıt ver"],
        asked: &["bu konuda", "buna", "bu isteğ", "bu talep"],
    },
    Tongue {
        beginnings: &[
            "抱歉,我无法",
            "抱歉,我不能",
            "抱歉,无法",
            "很抱歉,我无法",
            "很抱歉,我不能",
            "对不起,我无法",
            "对不起,我不能",
            "我无法",
            "我不能",
        ],
        doing: &["协助", "帮助", "回答", "提供", "满足", "帮您", "帮你", "生成"],
        asked: &["这个", "这", "此", "该", "您的请求", "你的请求"],
    },
    Tongue {
        beginnings: &["申し訳ありませんが", "申し訳ございませんが", "すみませんが"],
        doing: &["できません", "できかねます", "応じられません"],
        asked: &["が、お答え", "が、お手伝い", "その", "この", "ご要望", "ご依頼", "ご質問"],
    },
    Tongue {
        beginnings: &["죄송하지만", "죄송합니다만"],
        doing: &["도와드릴 수 없", "도와 드릴 수 없", "답변할 수 없", "답변드릴 수 없", "제공할 수 없"],
        asked: &["죄송하지만 도와", "죄송합니다만 도와", "죄송하지만 답변", "요청", "질문", "그런", "이러한"],
    },
    Tongue {
        beginnings: &["عذرًا، لا أستطيع", "عذرًا، لا يمكنني"],
        doing: &["مساعد", "الإجابة", "تقديم"],
        asked: &["هذا", "ذلك", "هذه", "طلبك"],
    },
    Tongue {
        beginnings: &["क्षमा करें, मैं"], doing: &["मदद", "सहायता"], asked: &["इस", "उस"]
    },
];

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
    }
}

/// Regrets, then what cannot be done, then that it is the helping with what was asked.
fn declines(beginning: &str) -> bool {
    let mut rest = beginning;
    // Each of them shortens the rest.
    while let Some(after) = REGRETS.iter().find_map(|words| rest.strip_prefix(words)) {
        if after.starts_with(char::is_alphanumeric) {
            break;
        }
        rest = after.trim_start_matches(|c: char| !c.is_alphanumeric());
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
    let is_alone = |word: &&str| HELPING.contains(word) || *word == "decline";
    match rest.get(at..).unwrap_or_default() {
        [verb] | [verb, "you"] if is_alone(verb) => true,
        [_, object @ ..] => names_the_request(object),
        [] => false,
    }
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
