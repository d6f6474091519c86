//! What narrows the lists: words that must all occur, some of them in one place.
//!
//! `class:auth`, `provider:groq`, `state:quarantine`, and free text that occurs anywhere in the line. Upper and lower case
//! are the same.

use crate::domain::{Class, LadderName};

use super::board::{AttemptLine, DeploymentLine, Fate, QuotaLine};

/// Words that must all occur.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Filter {
    words: Vec<Word>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Class(String),
    Provider(String),
    State(String),
    Text(String),
}

impl Filter {
    pub(super) fn read(text: &str) -> Self {
        let word = |word: &str| {
            let word = word.to_lowercase();
            let of = |name: &str| word.strip_prefix(name).map(str::to_owned);
            (of("class:").map(Word::Class))
                .or_else(|| of("provider:").map(Word::Provider))
                .or_else(|| of("state:").map(Word::State))
                .unwrap_or(Word::Text(word))
        };
        Self { words: text.split_whitespace().map(word).collect() }
    }

    pub(super) fn takes_deployment(&self, line: &DeploymentLine) -> bool {
        let class = line.class.map(Class::as_str).unwrap_or_default();
        let account = line.target.account.as_str();
        let ladders = line.ladders.iter().map(LadderName::as_str);
        let texts = [line.name.as_str(), line.state.word(), &line.why, account, class].into_iter().chain(ladders);
        let texts: Vec<&str> = texts.chain(line.hold.as_deref()).collect();
        self.takes(&Facts {
            class: Some(class),
            provider: line.target.deployment.provider.as_str(),
            state: Some(line.state.word()),
            texts: &texts,
        })
    }

    pub(super) fn takes_quota(&self, line: &QuotaLine) -> bool {
        let texts = [line.name.as_str(), line.dimension.as_str(), &line.source];
        self.takes(&Facts { class: None, provider: line.scope.provider.as_str(), state: None, texts: &texts })
    }

    pub(super) fn takes_attempt(&self, line: &AttemptLine) -> bool {
        let class = match line.fate {
            Fate::Failed(class) => class.as_str(),
            Fate::Answered => "answered",
            Fate::Running => "running",
            Fate::GivenUp => "given up",
            Fate::Nobody => "nobody",
        };
        let texts = [line.name.as_str(), &line.said, line.request.as_str(), class, line.kind.as_str()];
        self.takes(&Facts { class: Some(class), provider: &line.provider, state: None, texts: &texts })
    }

    /// A word for a place that the line does not have is passed over: `state:open` leaves the quotas as they are.
    fn takes(&self, facts: &Facts<'_>) -> bool {
        let within = |text: &str, part: &str| text.to_lowercase().contains(part);
        self.words.iter().all(|word| match word {
            Word::Class(part) => facts.class.is_none_or(|class| within(class, part)),
            Word::Provider(part) => within(facts.provider, part),
            Word::State(part) => facts.state.is_none_or(|state| within(state, part)),
            Word::Text(part) => facts.texts.iter().any(|text| within(text, part)),
        })
    }
}

/// What a line offers to a filter.
struct Facts<'a> {
    class: Option<&'a str>,
    provider: &'a str,
    state: Option<&'a str>,
    texts: &'a [&'a str],
}
