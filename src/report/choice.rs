//! What a person's words mean: `status groq`, `reset b12 @team`.
//!
//! A word is a selector or the id of a hold. An id looks like the name of a provider, so a provider of that name that
//! anybody knows comes first; ids are made by the store and names by people, and who chose the name means it.
//!
//! Model ids may hold `@` themselves, and without a config nobody knows whether `claude@2024` is a model or a model with
//! a key. Such a word is read in both ways.

use crate::catalog::nearest_word;
use crate::domain::{Deployment, LadderName, ModelName, ParseNameError, Scope, Selector, Target};
use crate::policy::Versioned;

use super::status::{Known, hold_id};

/// One word.
#[derive(Debug, Clone, PartialEq)]
struct Word {
    text: String,
    /// How it may be read as a selector; none when it is the id of a hold.
    readings: Vec<Selector>,
}

/// What was chosen; no word at all means everything.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choice {
    words: Vec<Word>,
}

/// A word to which nothing answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// The word.
    pub word: String,
    /// Whether it is the id of a hold.
    pub is_hold: bool,
    /// What may have been meant.
    pub near: Option<String>,
}

impl Choice {
    /// Reads the words. `is_provider` says whether a provider of that name is known.
    ///
    /// # Errors
    /// When a word is neither a selector nor an id.
    pub fn read(words: &[String], is_provider: impl Fn(&str) -> bool) -> Result<Self, ParseNameError> {
        let read = |text: &String| {
            let is_hold = is_hold_id(text) && !is_provider(text);
            let readings = if is_hold { Vec::new() } else { readings(text)? };
            Ok(Word { text: text.clone(), readings })
        };
        Ok(Self { words: words.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// Whether nothing was named, which means all.
    pub fn is_everything(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether the deployment is meant: by its name, or because a hold covers it that is named by its id.
    pub fn means(&self, target: &Target, holds: &[Versioned]) -> bool {
        self.is_everything()
            || self.words.iter().any(|word| {
                word.names(&target.deployment)
                    || holds.iter().any(|held| word.is_id_of(held) && held.record.scope().covers(target))
            })
    }

    /// Whether the hold is meant: by its id, by its scope, or because it covers a deployment that is named.
    pub fn means_hold(&self, held: &Versioned, known: &[Known]) -> bool {
        self.is_everything() || self.words.iter().any(|word| word.means_hold(held, known))
    }

    /// Whether what is counted for the scope is meant: by its scope, or because it covers a deployment that is named.
    pub fn means_scope(&self, scope: &Scope, known: &[Known]) -> bool {
        self.is_everything() || self.words.iter().any(|word| word.means_scope(scope, known))
    }

    /// Whether the ladder itself is meant, by its name.
    pub fn names_ladder(&self, ladder: &LadderName) -> bool {
        self.words.iter().any(|word| word.is_name_of(ladder))
    }

    /// The words to which nothing answers that is known: no hold, no deployment, and none of the ladders.
    pub fn misses(&self, holds: &[Versioned], known: &[Known], ladders: &[LadderName]) -> Vec<Miss> {
        let answered = |word: &&Word| {
            ladders.iter().any(|ladder| word.is_name_of(ladder))
                || holds.iter().any(|held| word.means_hold(held, known))
                || known.iter().any(|known| word.names(&known.target.deployment))
        };
        let miss = |word: &Word| {
            let names = match word.readings.is_empty() {
                // Another hold of nearly the same id is none that anybody means, unless the number is the same.
                true => holds.iter().map(hold_id).filter(|id| id.get(1..) == word.text.get(1..)).collect(),
                false => spellings(holds, known),
            };
            let near = nearest_word(&word.text, names.iter().map(String::as_str)).map(str::to_owned);
            Miss { word: word.text.clone(), is_hold: word.readings.is_empty(), near }
        };
        self.words.iter().filter(|word| !answered(word)).map(miss).collect()
    }

    /// The holds whose ids were taken for names of providers.
    pub fn shadowed<'a>(&self, holds: &'a [Versioned]) -> Vec<&'a Versioned> {
        let is_name =
            |held: &Versioned| self.words.iter().any(|word| !word.readings.is_empty() && word.text == hold_id(held));
        holds.iter().filter(|held| is_name(held)).collect()
    }
}

impl Word {
    fn is_name_of(&self, ladder: &LadderName) -> bool {
        !self.readings.is_empty() && *ladder == *self.text
    }

    fn names(&self, deployment: &Deployment) -> bool {
        self.readings.iter().any(|selector| selector.matches(deployment))
    }

    fn is_id_of(&self, held: &Versioned) -> bool {
        self.readings.is_empty() && self.text == hold_id(held)
    }

    fn means_hold(&self, held: &Versioned, known: &[Known]) -> bool {
        self.is_id_of(held) || self.means_scope(held.record.scope(), known)
    }

    fn means_scope(&self, scope: &Scope, known: &[Known]) -> bool {
        self.readings.iter().any(|selector| scope.named_by(selector))
            || known.iter().any(|known| self.names(&known.target.deployment) && scope.covers(&known.target))
    }
}

/// Whether the text has the form of a hold's id: the letter of its kind and a number.
fn is_hold_id(text: &str) -> bool {
    let number = text.strip_prefix(['c', 'q', 'b']);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// How a selector may be read.
///
/// # Errors
/// When it is none.
pub fn readings(text: &str) -> Result<Vec<Selector>, ParseNameError> {
    let selector: Selector = text.parse()?;
    let other = match (&selector.model, &selector.credential) {
        (Some(model), Some(credential)) => {
            let model = ModelName::new(format!("{model}@{credential}"));
            Some(Selector { provider: selector.provider.clone(), model: Some(model), credential: None })
        }
        _ => None,
    };
    Ok(std::iter::once(selector).chain(other).collect())
}

/// The selector that names a scope, as far as a selector can.
pub fn selector_of(scope: &Scope) -> Selector {
    Selector {
        provider: Some(scope.provider.clone()),
        model: scope.model.clone(),
        credential: scope.credential.clone(),
    }
}

/// All words that would be answered.
fn spellings(holds: &[Versioned], known: &[Known]) -> Vec<String> {
    let named = known.iter().map(|known| {
        let Deployment { provider, model, credential } = known.target.deployment.clone();
        Selector { provider: Some(provider), model: Some(model), credential }
    });
    let held = holds.iter().map(|held| selector_of(held.record.scope()));
    let mut words = Vec::new();
    for whole in named.chain(held) {
        let nothing = Selector { provider: None, model: None, credential: None };
        let provider = Selector { provider: whole.provider.clone(), ..nothing.clone() };
        words.push(Selector { model: whole.model.clone(), ..provider.clone() });
        if whole.credential.is_some() {
            words.push(Selector { credential: whole.credential.clone(), ..nothing });
            words.push(Selector { credential: whole.credential.clone(), ..provider.clone() });
        }
        words.extend([provider, whole]);
    }
    words.iter().map(ToString::to_string).collect()
}
