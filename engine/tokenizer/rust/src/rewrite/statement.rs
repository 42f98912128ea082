//! Statements: if, for, set, with, macro and call.

use super::parser::{is_constant, Parser};
use crate::tokens::{Kind, Token};

impl Parser<'_> {
    pub(super) fn statement(&mut self) -> Option<String> {
        let name = self.peek();
        let mut out = self.take_name()?;
        match name {
            "if" | "elif" => out += &self.tuple(true)?,
            "for" => {
                out += &self.targets("in")?;
                out += &self.take();
                let items = self.tuple(false)?;
                out += &format!(" seq__({items})");
                if let Some(word) = self.accept("if") {
                    out += &(word + &self.ternary()?);
                }
                out += &self.accept("recursive").unwrap_or_default();
            }
            "set" => {
                if !self
                    .tokens
                    .iter()
                    .any(|token| token.text == "=" && token.depth == 0)
                {
                    return Some(out + &self.rest());
                }
                out += &self.targets("=")?;
                out += &self.take();
                out += &self.tuple(true)?;
            }
            "with" => {
                while self.at < self.tokens.len() {
                    out += &(self.take_name()? + &self.accept("=")? + &self.ternary()?);
                    out += &self.accept(",").unwrap_or_default();
                }
            }
            "macro" => {
                out += &self.take_name()?;
                out += &self.parameters()?;
            }
            "call" => {
                if self.peek() == "(" {
                    out += &self.parameters()?;
                }
                out += &self.ternary()?;
            }
            "generation" => out = out.replace(name, "with"),
            "endgeneration" => out = out.replace(name, "endwith"),
            _ => out += &self.rest(),
        }
        Some(out)
    }

    /// What is assigned to, up to `end`.
    pub(super) fn targets(&mut self, end: &str) -> Option<String> {
        let mut out = String::new();
        while self.at < self.tokens.len() {
            if self.peek() == end && self.tokens[self.at].depth == 0 {
                return Some(out);
            }
            out += &self.take();
        }
        None
    }

    pub(super) fn parameters(&mut self) -> Option<String> {
        let mut out = self.accept("(")?;
        loop {
            if let Some(close) = self.accept(")") {
                return Some(out + &close);
            }
            let name = self.take_name()?;
            out += &name;
            if let Some(equals) = self.accept("=") {
                let from = self.at;
                let value = self.ternary()?;
                let constant = |token: &Token| token.kind != Kind::Name || is_constant(token.text);
                if self.tokens[from..self.at].iter().all(constant) {
                    out += &(equals + &value);
                } else {
                    out += &(equals + "missing__");
                    self.defaults.push((name.trim().to_string(), value));
                }
            }
            match self.accept(",") {
                Some(comma) => out += &comma,
                None => return Some(out + &self.accept(")")?),
            }
        }
    }
}
