//! Rules on what an answer says: CEL expressions that must be true.
//!
//! CEL always ends, but not always soon, and both its reader and its evaluator recurse. So an expression is bounded in
//! length, in depth, in the loops that lie within each other, and in what these may run over (see `reckon`). It is read and
//! evaluated in a thread of its own that has stack enough for all that these bounds allow, and is waited for no longer than
//! a second; then the thread ends by itself at its next step. Whatever is not plainly `true` has failed and says why: a
//! missing key, a number that is a text, loops that run over too much. That much is said by the answer and the expression
//! alone. How long it takes is also said by the machine, and whether a thread can be started is said by nothing else: a
//! rule that was not decided is therefore no fault of the model, as a program is none that hangs.
//!
//! JSON has one kind of number and CEL has three that do not mix in sums. A whole number of the answer is an `int` where
//! it fits into one; a sum that mixes it with a broken number is reckoned in `double`, so that `answer.net + answer.tax ==
//! answer.total` means the same whatever figures a model writes.
//!
//! Of the two readers of the crate the hand-written one is used: the generated one takes a millisecond for its tables in
//! every process, which is as long as all the rest of a request.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use cel::common::ast::{ComprehensionExpr, EntryExpr, Expr, IdedExpr};
use cel::parser::PrattParser;
use cel::{Context, Env, ExecutionError};
use serde_json::Value;

use crate::domain::excerpt;

use super::reckon::{self, Meter};
use super::time;

/// The longest expression, in bytes.
pub const LONGEST: usize = 2000;

/// How deep an expression may be.
const DEEPEST: usize = 64;

/// How many loops may lie within each other.
const LOOPS: usize = 2;

/// What an evaluation is given.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// How long it is waited for.
    time: Duration,
    /// In bytes.
    stack: usize,
}

/// Stack for all that the bounds allow, also where nothing is optimised. It is address space until it is used.
const ROOM: Room = Room { time: Duration::from_secs(1), stack: 16 << 20 };

/// Why a rule does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unmet {
    /// It is not true of the answer: why not, as a predicate of the expression.
    Untrue(String),
    /// It was not decided, which is no fault of the answer.
    Undecided(String),
}

/// The variables of an expression.
const VARIABLES: &[&str] = &["answer", "text", "input"];

/// Names of types, which read like variables.
const TYPES: &[&str] = &["int", "uint", "double", "string", "bytes", "bool", "list", "map", "null_type", "type"];

const FUNCTIONS: &[&str] = &[
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "bool",
    "type",
    "dyn",
    "has",
    "all",
    "exists",
    "exists_one",
    "map",
    "filter",
];

/// An expression that was read and found good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    source: Arc<str>,
    names_answer: bool,
}

/// What an expression speaks of.
#[derive(Debug, Clone)]
pub(super) struct About {
    answer: Arc<Value>,
    text: Arc<str>,
    input: Arc<str>,
}

impl About {
    pub(super) fn new(answer: Option<&Value>, text: &str, input: &str) -> Self {
        Self { answer: Arc::new(answer.cloned().unwrap_or(Value::Null)), text: text.into(), input: input.into() }
    }
}

impl Rule {
    /// Reads an expression.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    pub fn new(source: &str) -> Result<Self, String> {
        let source = source.trim();
        if source.is_empty() {
            return Err("the expression is empty".to_owned());
        }
        if source.len() > LONGEST {
            return Err(format!("the expression is longer than {LONGEST} bytes"));
        }
        let source: Arc<str> = source.into();
        let text = Arc::clone(&source);
        let names = apart(ROOM, move || read(&text).and_then(|expression| names(&expression)));
        let names_answer = names.map_err(|why| format!("it could not be read: {why}"))??;
        Ok(Self { source, names_answer })
    }

    /// As it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it speaks of the parsed answer.
    pub fn names_answer(&self) -> bool {
        self.names_answer
    }

    /// Whether it is true; else why not.
    pub(super) fn holds(&self, about: &About) -> Result<(), Unmet> {
        self.holds_within(ROOM, about)
    }

    fn holds_within(&self, room: Room, about: &About) -> Result<(), Unmet> {
        let (source, about, meter) = (Arc::clone(&self.source), about.clone(), Meter::of(reckon::STEPS));
        let own = meter.clone();
        let decided = apart(room, move || decide(&source, &about, &own));
        meter.stop();
        decided.map_err(Unmet::Undecided)?.map_err(Unmet::Untrue)
    }
}

/// Does this in a thread with a large stack, or says why it is not done. A thread that takes too long is left to itself:
/// nothing can end it from outside, and it holds nothing that anybody waits for.
fn apart<T: Send + 'static>(room: Room, work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    let (sender, receiver) = mpsc::channel();
    let work = move || {
        // Who waited may have given up.
        let _ = sender.send(work());
    };
    let thread = std::thread::Builder::new().name("rule".to_owned()).stack_size(room.stack);
    thread.spawn(work).map_err(|error| format!("no thread can be started for it: {error}"))?;
    receiver.recv_timeout(room.time).map_err(|_| format!("it takes longer than {:?}", room.time))
}

fn read(source: &str) -> Result<IdedExpr, String> {
    PrattParser::new().parse(source).map_err(|errors| {
        let said = errors.to_string();
        // The place in the first line, then a picture of it that needs lines of its own.
        let first = said.lines().next().unwrap_or_default();
        excerpt(first.trim_start_matches("ERROR: <input>:").trim_start_matches("ERROR: "), 200)
    })
}

/// Whether the answer is named; refuses what is not known and what is too deep.
fn names(expression: &IdedExpr) -> Result<bool, String> {
    let mut walk = Walk::default();
    walk.visit(&expression.expr, 0)?;
    Ok(walk.names_answer)
}

#[derive(Default)]
struct Walk {
    /// The variables of the loops that are open.
    bound: Vec<String>,
    names_answer: bool,
}

impl Walk {
    fn visit(&mut self, expr: &Expr, depth: usize) -> Result<(), String> {
        if depth > DEEPEST {
            return Err(format!("the expression is nested more than {DEEPEST} deep"));
        }
        match expr {
            Expr::Unspecified | Expr::Literal(_) => Ok(()),
            Expr::Ident(name) => self.name(name),
            Expr::Call(call) => {
                function(&call.func_name)?;
                call.target.iter().try_for_each(|target| self.visit(&target.expr, depth + 1))?;
                call.args.iter().try_for_each(|argument| self.visit(&argument.expr, depth + 1))
            }
            Expr::Comprehension(all) => self.comprehension(all, depth),
            Expr::List(list) => list.elements.iter().try_for_each(|item| self.visit(&item.expr, depth + 1)),
            Expr::Map(map) => map.entries.iter().try_for_each(|entry| self.entry(&entry.expr, depth)),
            Expr::Select(select) => self.visit(&select.operand.expr, depth + 1),
            Expr::Struct(named) => Err(format!("unknown type `{}`", excerpt(&named.type_name, 40))),
        }
    }

    fn entry(&mut self, entry: &EntryExpr, depth: usize) -> Result<(), String> {
        match entry {
            EntryExpr::MapEntry(entry) => {
                self.visit(&entry.key.expr, depth + 1)?;
                self.visit(&entry.value.expr, depth + 1)
            }
            EntryExpr::StructField(field) => self.visit(&field.value.expr, depth + 1),
        }
    }

    fn comprehension(&mut self, all: &ComprehensionExpr, depth: usize) -> Result<(), String> {
        self.visit(&all.iter_range.expr, depth + 1)?;
        let outside = self.bound.len();
        self.bound.extend([&all.iter_var, &all.accu_var].map(Clone::clone));
        self.bound.extend(all.iter_var2.clone());
        if self.bound.iter().filter(|name| **name == all.accu_var).count() > LOOPS {
            return Err(format!("more than {LOOPS} loops lie within each other"));
        }
        for part in [&all.accu_init, &all.loop_cond, &all.loop_step, &all.result] {
            self.visit(&part.expr, depth + 1)?;
        }
        self.bound.truncate(outside);
        Ok(())
    }

    fn name(&mut self, name: &str) -> Result<(), String> {
        if self.bound.iter().any(|bound| bound == name) || TYPES.contains(&name) {
            return Ok(());
        }
        if !VARIABLES.contains(&name) {
            return Err(format!("unknown variable `{}`; known are {}", excerpt(name, 40), VARIABLES.join(", ")));
        }
        self.names_answer |= name == "answer";
        Ok(())
    }
}

/// Operators have names with signs in them.
fn function(name: &str) -> Result<(), String> {
    let is_operator = name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_') || name.starts_with('_');
    let known = || FUNCTIONS.iter().chain(time::FUNCTIONS).copied();
    if is_operator || known().any(|known| known == name) {
        return Ok(());
    }
    let near = crate::catalog::nearest_word(name, known());
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Err(format!("unknown function `{}`{hint}", excerpt(name, 40)))
}

fn decide(source: &str, about: &About, meter: &Meter) -> Result<(), String> {
    let mut expression = read(source)?;
    let has_times = time::speaks_of_time(source);
    reckon::rewrite(&mut expression.expr, has_times);
    match evaluate(&expression, about, meter, has_times) {
        Ok(cel::Value::Bool(true)) => Ok(()),
        Ok(cel::Value::Bool(false)) => Err("is not true".to_owned()),
        Ok(other) => Err(format!("is {} and not true or false", excerpt(&format!("{other:?}"), 60))),
        Err(ExecutionError::InternalError(why)) => Err(format!("could not be evaluated: {}", excerpt(&why, 160))),
        Err(error) => Err(format!("could not be evaluated: {}", excerpt(&error.to_string(), 160))),
    }
}

fn evaluate(
    expression: &IdedExpr,
    about: &About,
    meter: &Meter,
    has_times: bool,
) -> Result<cel::Value, ExecutionError> {
    let mut context = Context::with_env(Arc::new(Env::stdlib()));
    let of_time = |context: &mut Context<'_, '_>| if has_times { time::teach(context) } else { Ok(()) };
    let taught = meter.teach(&mut context).and_then(|()| of_time(&mut context));
    taught.map_err(|error| ExecutionError::InternalError(error.to_string()))?;
    context.add_variable_from_value("answer", value(&about.answer));
    context.add_variable_from_value("text", about.text.to_string());
    context.add_variable_from_value("input", about.input.to_string());
    cel::Value::resolve(expression, &context)
}

fn value(json: &Value) -> cel::Value {
    match json {
        Value::Null => cel::Value::Null,
        Value::Bool(truth) => cel::Value::Bool(*truth),
        Value::Number(found) => number(found),
        Value::String(text) => cel::Value::String(Arc::new(text.clone())),
        Value::Array(items) => cel::Value::List(Arc::new(items.iter().map(value).collect::<Vec<_>>())),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, item)| (key.clone(), value(item)));
            cel::Value::Map(entries.collect::<std::collections::HashMap<_, _>>().into())
        }
    }
}

fn number(number: &serde_json::Number) -> cel::Value {
    match (number.as_i64(), number.as_u64()) {
        (Some(whole), _) => cel::Value::Int(whole),
        (None, Some(large)) => cel::Value::UInt(large),
        (None, None) => cel::Value::Float(number.as_f64().unwrap_or(f64::NAN)),
    }
}

#[cfg(test)]
#[path = "rule_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "rule_standard_tests.rs"]
mod standard_tests;
