//! How expressions reckon with numbers, and how much they may do.
//!
//! Before an expression is evaluated its tree is rewritten, so that functions of ours stand at the places that matter:
//!
//! - `+`, `-`, `*` and `/` of an `int` and a `double` are reckoned as doubles, each by itself. Everything else keeps its
//!   meaning, whatever else stands in the expression: `7 / 2` is 3, and `%` is for whole numbers.
//! - Each loop counts what it runs over and what it makes, and `+` counts how long the text or list becomes. Beyond a
//!   million it is an error, and so is every step after nobody waits any longer. So nothing has to be killed: a thread
//!   cannot be, and lists within lists, or texts that double at each step, would eat the machine first.
//! - In an expression that speaks of time, points and lengths of time are ordered, added and converted by `time`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr};
use cel::{Context, DeclarationError, ExecutionError, Value};

use super::time;

/// The most values that the loops of an expression may run over and make.
pub(super) const STEPS: u64 = 1_000_000;

/// So many bytes of a text count as one value.
const BYTES: u64 = 32;

const RANGE: &str = "@range";
const MADE: &str = "@made";
const STEP: &str = "@step";

type Reckon = fn(Value, Value) -> Result<Value, ExecutionError>;

/// The operators that are ours, and what they are then called.
const OPERATORS: &[(&str, &str, Reckon)] = &[
    ("_+_", "@plus", |one, other| one + other),
    ("_-_", "@minus", |one, other| one - other),
    ("_*_", "@times", |one, other| one * other),
    ("_/_", "@over", |one, other| one / other),
];

/// How much may still be done.
#[derive(Debug, Clone)]
pub(super) struct Meter {
    most: u64,
    used: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Meter {
    /// So much may be done.
    pub(super) fn of(most: u64) -> Self {
        Self { most, used: Arc::default(), is_over: Arc::default() }
    }

    /// Nobody waits any longer.
    pub(super) fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Counts so much.
    fn count(&self, more: u64) -> Result<(), ExecutionError> {
        let before = self.used.fetch_add(more, Ordering::Relaxed);
        if self.is_over.load(Ordering::Relaxed) {
            return Err(ExecutionError::InternalError("it takes too long".to_owned()));
        }
        if before.saturating_add(more) > self.most {
            let why = format!("its loops run over more than {} values", self.most);
            return Err(ExecutionError::InternalError(why));
        }
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Makes the functions known that the rewritten tree calls.
    pub(super) fn teach(&self, context: &mut Context<'_, '_>) -> Result<(), DeclarationError> {
        for name in [RANGE, MADE] {
            let meter = self.clone();
            context.add_function(name, move |value: Value| meter.count(size(&value)).map(|()| value))?;
        }
        let meter = self.clone();
        context.add_function(STEP, move |value: Value| meter.count(1).map(|()| value))?;
        for (_, name, reckon) in OPERATORS {
            let meter = self.clone();
            let with = move |one: Value, other: Value| {
                if let Some(came) = time::reckoned(name, &one, &other) {
                    return came;
                }
                let came = match (number(&one), number(&other)) {
                    (Some(left), Some(right)) if kind(&one) != kind(&other) => {
                        reckon(Value::Float(left), Value::Float(right))
                    }
                    _ => reckon(one, other),
                }?;
                let is_long = matches!(came, Value::String(_) | Value::Bytes(_) | Value::List(_));
                meter.count(if is_long { size(&came) } else { 0 })?;
                Ok::<Value, ExecutionError>(came)
            };
            context.add_function(name, with)?;
        }
        Ok(())
    }
}

/// How many values it is made of.
fn size(value: &Value) -> u64 {
    match value {
        Value::List(items) => items.iter().map(size).fold(1, u64::saturating_add),
        Value::Map(entries) => entries.map.values().map(size).fold(1, |sum, size| sum.saturating_add(size + 1)),
        Value::String(text) => 1 + text.len() as u64 / BYTES,
        Value::Bytes(bytes) => 1 + bytes.len() as u64 / BYTES,
        _ => 1,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(whole) => Some(*whole as f64),
        Value::UInt(whole) => Some(*whole as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

fn kind(value: &Value) -> std::mem::Discriminant<Value> {
    std::mem::discriminant(value)
}

/// Puts our functions into the tree; those that order and convert only where it speaks of time.
pub(super) fn rewrite(expr: &mut Expr, has_times: bool) {
    let rewrite = |expr: &mut Expr| rewrite(expr, has_times);
    match expr {
        Expr::Call(call) => {
            call.target.iter_mut().for_each(|target| rewrite(&mut target.expr));
            call.args.iter_mut().for_each(|argument| rewrite(&mut argument.expr));
            let ours = OPERATORS.iter().find(|(operator, ..)| *operator == call.func_name).map(|(_, name, _)| *name);
            let ours = ours.or_else(|| time::order(&call.func_name).filter(|_| has_times));
            let plain = time::plain(&call.func_name).filter(|_| has_times);
            match (ours, plain, call.args.as_mut_slice()) {
                (Some(name), _, [_, _]) => name.clone_into(&mut call.func_name),
                (None, Some(name), [argument]) => wrap(argument, name),
                _ => {}
            }
        }
        Expr::Comprehension(all) => comprehension(all, has_times),
        Expr::List(list) => list.elements.iter_mut().for_each(|item| rewrite(&mut item.expr)),
        Expr::Map(map) => map.entries.iter_mut().for_each(|entry| {
            if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                rewrite(&mut entry.key.expr);
                rewrite(&mut entry.value.expr);
            }
        }),
        Expr::Select(select) => rewrite(&mut select.operand.expr),
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => {}
    }
}

fn comprehension(all: &mut ComprehensionExpr, has_times: bool) {
    rewrite(&mut all.iter_range.expr, has_times);
    wrap(&mut all.iter_range, RANGE);
    step(&mut all.loop_step, &all.accu_var, has_times);
}

/// What the macro wrote around the user's expression stays as it is: the evaluator knows it by its form.
fn step(part: &mut IdedExpr, accu: &str, has_times: bool) {
    let rewrite = |expr: &mut Expr| rewrite(expr, has_times);
    let is_accu = |part: &IdedExpr| matches!(&part.expr, Expr::Ident(name) if name == accu);
    let Expr::Call(call) = &mut part.expr else { return };
    match (call.func_name.as_str(), call.args.as_mut_slice()) {
        ("_&&_" | "_||_", [before, own]) if is_accu(before) => {
            rewrite(&mut own.expr);
            wrap(own, STEP);
        }
        ("_+_", [before, more]) if is_accu(before) => {
            if let Expr::List(list) = &mut more.expr {
                for item in &mut list.elements {
                    rewrite(&mut item.expr);
                    wrap(item, MADE);
                }
            }
        }
        ("_?_:_", [own, then, _]) => {
            rewrite(&mut own.expr);
            wrap(own, STEP);
            step(then, accu, has_times);
        }
        _ => {}
    }
}

fn wrap(part: &mut IdedExpr, name: &str) {
    let inner = std::mem::take(part);
    part.expr = Expr::Call(CallExpr { func_name: name.to_owned(), target: None, args: vec![inner] });
}
