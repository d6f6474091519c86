//! Folding a stream into an answer, and telling an end from a cut.

use crate::domain::{Answer, Piece, StreamEvent, Thinking, ToolCall, ToolPiece, Usage};

use super::calls::settle;
use super::is_answer_with;

/// What became of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Assembled {
    /// A whole answer.
    Answer(Answer),
    /// It ended properly, but there is no answer: thoughts alone, half a tool call, a filter, nothing at all.
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

/// How much of the words, and of the thoughts, stays in memory of a stream that is shown as it comes.
const SHOWN: usize = 256 * 1024;

/// How much of each is kept of a stream that is handed over whole; more is no answer.
const MOST: usize = 64 * 1024 * 1024;

/// The most bytes of tool calls and signatures in one answer. Whoever shows pieces does not show these, so they are always
/// kept.
const MOST_HIDDEN: usize = 16 * 1024 * 1024;

/// What a call or a signature counts for beyond its letters: those without one must not grow without an end either.
const APIECE: usize = 160;

/// Folds the events of one stream.
#[derive(Debug, Clone, Default)]
pub struct Assembler {
    answer: Answer,
    ended: bool,
    error: Option<String>,
    /// Whether the pieces are shown as they come, so that their end need not be kept.
    shows: bool,
    left_out: u64,
    /// Whether any of the words, kept or not, was more than white space.
    has_words: bool,
    /// Bytes of tool calls and signatures.
    hidden_bytes: usize,
    /// By which index the stream knows each of the answer's calls.
    indices: Vec<u64>,
}

impl Assembler {
    /// For a stream whose pieces are shown as they come: memory stays flat however long it is, and of the words and the
    /// thoughts only the beginning is kept.
    pub fn showing() -> Self {
        Self { shows: true, ..Self::default() }
    }

    /// Takes one event. The first error is kept; what follows it changes nothing.
    pub fn push(&mut self, event: &StreamEvent) {
        if self.error.is_some() {
            return;
        }
        match event {
            StreamEvent::Text(text) => {
                self.has_words |= !text.trim().is_empty();
                let room = self.room(self.answer.text.len());
                let left_out = keep(&mut self.answer.text, text, room);
                Piece::text(&mut self.answer.order, text.len() - left_out);
                self.leave_out(left_out);
            }
            StreamEvent::Reasoning(text) => {
                let room = self.room(self.answer.reasoning.len());
                let left_out = keep(&mut self.answer.reasoning, text, room);
                Piece::thought(&mut self.answer.order, text.get(..text.len() - left_out).unwrap_or_default());
                self.leave_out(left_out);
            }
            StreamEvent::Signature(signature) => {
                if self.has_room_for(signature.len() + APIECE) {
                    Piece::signature(&mut self.answer.order, signature);
                }
            }
            StreamEvent::Thought(thinking) => self.take_thought(thinking),
            StreamEvent::ToolCall(piece) => self.take_piece(piece),
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

    fn room(&self, kept: usize) -> usize {
        let most = if self.shows { SHOWN } else { MOST };
        most.saturating_sub(kept)
    }

    fn leave_out(&mut self, bytes: usize) {
        self.left_out = self.left_out.saturating_add(bytes as u64);
        if bytes > 0 && !self.shows {
            self.error = Some("the answer is larger than we take".to_owned());
        }
    }

    /// A thought that is nobody's to read: it is kept whole or not at all.
    fn take_thought(&mut self, thinking: &Thinking) {
        let pieces = [Some(&thinking.text), thinking.signature.as_ref(), thinking.redacted.as_ref()];
        let bytes: usize = pieces.into_iter().flatten().map(String::len).sum();
        if self.has_room_for(bytes + APIECE) {
            self.answer.order.push(Piece::Thought(thinking.clone()));
        }
    }

    /// Whether what no one is shown still fits. It is bounded with the calls, for it goes back with them.
    fn has_room_for(&mut self, bytes: usize) -> bool {
        self.hidden_bytes += bytes;
        if self.hidden_bytes > MOST_HIDDEN {
            self.error = Some("the tool calls and signatures are larger than we take".to_owned());
        }
        self.error.is_none()
    }

    /// Puts a piece to the call that it belongs to. Most servers count their calls; some give every call the index 0, and
    /// then only another id or name, or that the call before is whole, tells that a new one begins.
    fn take_piece(&mut self, piece: &ToolPiece) {
        if !self.has_room_for(piece.id.len() + piece.name.len() + piece.arguments.len()) {
            return;
        }
        let at = self.indices.iter().rposition(|index| *index == piece.index);
        let known = at.and_then(|at| self.answer.tool_calls.get_mut(at)).filter(|call| !begins_another(call, piece));
        match known {
            Some(call) => {
                if call.id.is_empty() {
                    call.id.clone_from(&piece.id);
                }
                if call.name.is_empty() {
                    call.name.clone_from(&piece.name);
                }
                call.arguments.push_str(&piece.arguments);
            }
            None => {
                let ToolPiece { index, id, name, arguments } = piece.clone();
                self.hidden_bytes += APIECE;
                self.indices.push(index);
                self.answer.order.push(Piece::Call);
                self.answer.tool_calls.push(ToolCall { id, name, arguments });
            }
        }
    }

    /// Whether words, thoughts or tool calls have come: the provider is at work. Only words have been shown to anybody,
    /// so it is they, in [`so_far`](Self::so_far), that make a move to another step visible.
    pub fn has_content(&self) -> bool {
        self.answer.has_content()
    }

    /// Whether the provider has said that the answer is over.
    pub fn has_ended(&self) -> bool {
        self.ended || self.error.is_some()
    }

    /// Whether an error was seen, so that nothing that follows counts.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Whether [`so_far`](Self::so_far) is all that has come.
    pub fn kept_all(&self) -> bool {
        self.left_out == 0
    }

    /// How many bytes of words and thoughts came beyond what is kept.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// What has come so far.
    pub fn so_far(&self) -> &Answer {
        &self.answer
    }

    /// What became of it, now that nothing follows.
    pub fn finish(mut self) -> Assembled {
        if let Some(data) = self.error {
            return Assembled::Error { partial: self.answer, data };
        }
        if !self.ended {
            return Assembled::Cut(self.answer);
        }
        settle(&mut self.answer);
        if is_answer_with(&self.answer, self.has_words) {
            Assembled::Answer(self.answer)
        } else {
            Assembled::Empty(self.answer)
        }
    }
}

/// Whether the piece is the first of a new call although its index is that of a known one.
fn begins_another(call: &ToolCall, piece: &ToolPiece) -> bool {
    let differs = |new: &str, known: &str| !new.is_empty() && !known.is_empty() && new != known;
    let other = differs(&piece.id, &call.id) || differs(&piece.name, &call.name);
    // Nothing that follows a whole object could make it a better one. The last character is a cheap look first.
    let whole = || call.arguments.trim_end().ends_with('}') && call.trouble().is_none();
    other || (!piece.name.is_empty() && !piece.arguments.trim().is_empty() && whole())
}

/// Appends as much of the text as there is room for; how much there was none for.
fn keep(kept: &mut String, text: &str, room: usize) -> usize {
    let end = text.floor_char_boundary(room.min(text.len()));
    kept.push_str(text.get(..end).unwrap_or_default());
    text.len() - end
}

fn replaced(old: Usage, new: Usage) -> Usage {
    Usage {
        input_tokens: new.input_tokens.or(old.input_tokens),
        output_tokens: new.output_tokens.or(old.output_tokens),
        cached_tokens: new.cached_tokens.or(old.cached_tokens),
    }
}
