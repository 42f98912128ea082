//! Names, literals and brackets, with what stands after them: attributes,
//! subscripts and arguments.

use super::methods::{DICT_METHODS, METHODS};
use super::parser::Parser;
use crate::tokens::Kind;

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Option<String> {
        match self.kind()? {
            Kind::Name | Kind::Number => Some(self.take()),
            Kind::Text => {
                let mut out = self.take();
                while self.kind() == Some(Kind::Text) {
                    out += &self.take();
                }
                Some(out)
            }
            Kind::Sign => match self.peek() {
                "(" => self.brackets(),
                "[" => self.list("[", "]", false),
                "{" => self.list("{", "}", true),
                _ => None,
            },
        }
    }

    /// A tuple, or an expression in brackets.
    pub(super) fn brackets(&mut self) -> Option<String> {
        let open = self.accept("(")?;
        if let Some(close) = self.accept(")") {
            return Some(format!(" tuple__{open}{close}"));
        }
        let inner = self.tuple(true)?;
        Some(open + &inner + &self.accept(")")?)
    }

    pub(super) fn list(&mut self, open: &str, close: &str, pairs: bool) -> Option<String> {
        let mut out = self.accept(open)?;
        loop {
            if let Some(end) = self.accept(close) {
                return Some(out + &end);
            }
            out += &self.ternary()?;
            if pairs {
                out += &(self.accept(":")? + &self.ternary()?);
            }
            match self.accept(",") {
                Some(comma) => out += &comma,
                None => return Some(out + &self.accept(close)?),
            }
        }
    }

    pub(super) fn postfix(&mut self, from: String) -> Option<String> {
        let mut out = from;
        loop {
            out = match self.peek() {
                "." if self.kind() == Some(Kind::Sign) => self.attribute(out)?,
                "[" if self.kind() == Some(Kind::Sign) => out + &self.subscript()?,
                "(" if self.kind() == Some(Kind::Sign) => out + &self.arguments()?,
                _ => return Some(out),
            };
        }
    }

    pub(super) fn attribute(&mut self, of: String) -> Option<String> {
        let point = self.take();
        let number = self.kind() == Some(Kind::Number);
        let name = self.peek();
        let text = if number {
            self.take()
        } else {
            self.take_name()?
        };
        let loops = of.trim() == "loop";
        if self.peek() == "(" || loops || !METHODS.contains(&name) {
            return Some(of + &point + &text);
        }
        let kind = usize::from(DICT_METHODS.contains(&name));
        Some(format!(" attr__({of},'{name}',{kind})"))
    }

    pub(super) fn subscript(&mut self) -> Option<String> {
        let mut out = self.accept("[")?;
        loop {
            if let Some(end) = self.accept("]") {
                return Some(out + &end);
            }
            out += &match self.accept(":") {
                Some(colon) => colon,
                None => self.tuple(true)?,
            };
        }
    }

    pub(super) fn arguments(&mut self) -> Option<String> {
        let mut out = self.accept("(")?;
        loop {
            if let Some(end) = self.accept(")") {
                return Some(out + &end);
            }
            let named = self
                .tokens
                .get(self.at + 1)
                .is_some_and(|token| token.text == "=");
            if matches!(self.peek(), "*" | "**") && self.kind() == Some(Kind::Sign) {
                out += &self.take();
            } else if named {
                out += &(self.take_name()? + &self.take());
            }
            out += &self.ternary()?;
            match self.accept(",") {
                Some(comma) => out += &comma,
                None => return Some(out + &self.accept(")")?),
            }
        }
    }
}
