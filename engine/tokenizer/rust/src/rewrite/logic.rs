//! Tuples, conditions and comparisons.

use super::parser::{is_constant, Parser, MAX_DEPTH};
use crate::tokens::Kind;

impl Parser<'_> {
    /// One expression, or several without brackets: a tuple.
    pub(super) fn tuple(&mut self, with_if: bool) -> Option<String> {
        let one = |parser: &mut Self| match with_if {
            true => parser.ternary(),
            false => parser.or(),
        };
        let mut all = one(self)?;
        if self.peek() != "," || self.kind() == Some(Kind::Text) {
            return Some(all);
        }
        while let Some(comma) = self.accept(",") {
            all += &comma;
            if self.at == self.tokens.len() || self.peek() == ")" {
                break;
            }
            all += &one(self)?;
        }
        Some(format!(" tuple__({all})"))
    }

    pub(super) fn ternary(&mut self) -> Option<String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut out = self.or()?;
        while let Some(word) = self.accept("if") {
            out += &(word + &self.or()?);
            if let Some(word) = self.accept("else") {
                out += &(word + &self.ternary()?);
            }
        }
        self.depth -= 1;
        Some(out)
    }

    pub(super) fn or(&mut self) -> Option<String> {
        let mut out = self.and()?;
        while let Some(word) = self.accept("or") {
            out = format!("{}{word}{}", kept(out), self.and()?);
        }
        Some(out)
    }

    pub(super) fn and(&mut self) -> Option<String> {
        let mut out = self.not()?;
        while let Some(word) = self.accept("and") {
            out = format!("{}{word}{}", kept(out), self.not()?);
        }
        Some(out)
    }

    pub(super) fn not(&mut self) -> Option<String> {
        let mut words = String::new();
        while let Some(word) = self.accept("not") {
            words += &word;
        }
        Some(words + &self.compare()?)
    }

    pub(super) fn compare(&mut self) -> Option<String> {
        let first = self.sum()?;
        let mut more = Vec::new();
        loop {
            let negated = self.peek() == "not";
            let operator = match self.peek() {
                "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" => self.take(),
                "not" => self.take() + &self.accept("in")?,
                _ => break,
            };
            more.push((operator, negated, self.sum()?));
        }
        let [(operator, negated, second)] = more.as_slice() else {
            let more = more
                .into_iter()
                .map(|(operator, _, value)| operator + &value);
            return Some(first + &more.collect::<String>());
        };
        let function = match operator.trim() {
            "==" => "eq__",
            "!=" => "not eq__",
            "<" => "lt__",
            "<=" => "le__",
            ">" => "gt__",
            ">=" => "ge__",
            _ if *negated => "not in__",
            _ => "in__",
        };
        let call = format!("{function}({first},{second})");
        Some(if call.starts_with("not") {
            format!(" ({call})")
        } else {
            format!(" {call}")
        })
    }
}

/// minijinja makes a Boolean of a constant before `and` and `or`.
fn kept(operand: String) -> String {
    let text = operand.trim_start();
    let constant = text.starts_with(['\'', '"']) || text.starts_with(|c: char| c.is_ascii_digit());
    match constant || is_constant(text) {
        true => format!(" same__({operand})"),
        false => operand,
    }
}
