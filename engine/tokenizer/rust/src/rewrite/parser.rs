//! Walks over the tokens of a tag. Each kind of syntax is a module with functions
//! that return the rewritten text of what they read; None: they cannot read it.

use crate::tokens::{Kind, Token};

/// Brackets in brackets. What is deeper stays as it is.
pub(super) const MAX_DEPTH: usize = 100;

pub(super) struct Parser<'a> {
    pub(super) tokens: &'a [Token<'a>],
    pub(super) at: usize,
    pub(super) depth: usize,
    /// Arguments of a macro whose default values are not constant.
    pub(super) defaults: Vec<(String, String)>,
}

impl<'a> Parser<'a> {
    pub(super) fn peek(&self) -> &'a str {
        self.tokens.get(self.at).map_or("", |token| token.text)
    }
    pub(super) fn kind(&self) -> Option<Kind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }
    pub(super) fn take(&mut self) -> String {
        let token = &self.tokens[self.at];
        self.at += 1;
        format!("{}{}", token.space, token.text)
    }
    pub(super) fn accept(&mut self, text: &str) -> Option<String> {
        (self.peek() == text && self.kind() != Some(Kind::Text)).then(|| self.take())
    }
    pub(super) fn take_name(&mut self) -> Option<String> {
        (self.kind() == Some(Kind::Name)).then(|| self.take())
    }
    pub(super) fn rest(&mut self) -> String {
        let mut out = String::new();
        while self.at < self.tokens.len() {
            out.push_str(&self.take());
        }
        out
    }
}

pub(super) fn is_constant(name: &str) -> bool {
    matches!(name, "true" | "false" | "none" | "True" | "False" | "None")
}
