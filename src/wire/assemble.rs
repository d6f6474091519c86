//! Folding a stream into an answer, and telling an end from a cut.

use crate::domain::{Answer, StreamEvent, Usage};

use super::is_answer;

/// What became of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Assembled {
    /// A whole answer.
    Answer(Answer),
    /// It ended properly, but there are no words: thoughts alone, a filter, nothing at all.
    Empty(Answer),
    /// It stopped without a finish reason or an end mark; what there is, is half an answer at best.
    Cut(Answer),
    /// The provider reported an error inside the stream.
    Error {
        /// What had come before.
        partial: Answer,
        /// The event's own data.
        data: String,
    },
}

/// Folds the events of one stream.
#[derive(Debug, Clone, Default)]
pub struct Assembler {
    answer: Answer,
    ended: bool,
    error: Option<String>,
}

impl Assembler {
    /// Takes one event. The first error is kept; what follows it changes nothing.
    pub fn push(&mut self, event: &StreamEvent) {
        if self.error.is_some() {
            return;
        }
        match event {
            StreamEvent::Text(text) => self.answer.text.push_str(text),
            StreamEvent::OtherContent => self.answer.other_content = true,
            StreamEvent::Usage(usage) => self.answer.usage = replaced(self.answer.usage, *usage),
            StreamEvent::Finish(finish) => {
                self.answer.finish = Some(finish.clone());
                self.ended = true;
            }
            StreamEvent::Error(data) => self.error = Some(data.clone()),
            StreamEvent::End => self.ended = true,
        }
    }

    /// Whether words, thoughts or tool calls have come: the provider is at work. Only words have been shown to anybody,
    /// so it is they, in [`so_far`](Self::so_far), that make a move to another step visible.
    pub fn has_content(&self) -> bool {
        self.answer.other_content || !self.answer.text.is_empty()
    }

    /// Whether the provider has said that the answer is over.
    pub fn has_ended(&self) -> bool {
        self.ended || self.error.is_some()
    }

    /// What has come so far.
    pub fn so_far(&self) -> &Answer {
        &self.answer
    }

    /// What became of it, now that nothing follows.
    pub fn finish(self) -> Assembled {
        match self.error {
            Some(data) => Assembled::Error { partial: self.answer, data },
            None if !self.ended => Assembled::Cut(self.answer),
            None if is_answer(&self.answer) => Assembled::Answer(self.answer),
            None => Assembled::Empty(self.answer),
        }
    }
}

fn replaced(old: Usage, new: Usage) -> Usage {
    Usage {
        input_tokens: new.input_tokens.or(old.input_tokens),
        output_tokens: new.output_tokens.or(old.output_tokens),
        cached_tokens: new.cached_tokens.or(old.cached_tokens),
    }
}
