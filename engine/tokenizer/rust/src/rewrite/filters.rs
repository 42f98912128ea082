//! Filters and tests.

use super::parser::Parser;
use crate::tokens::Kind;

impl Parser<'_> {
    pub(super) fn filters(&mut self, from: String) -> Option<String> {
        let mut out = from;
        loop {
            if let Some(bar) = self.accept("|") {
                out += &(bar + &self.take_name()?);
                if self.peek() == "(" {
                    out += &self.arguments()?;
                }
            } else if let Some(word) = self.accept("is") {
                out += &word;
                out += &self.accept("not").unwrap_or_default();
                out += &self.take_name()?;
                out += &self.test_argument()?;
            } else {
                return Some(out);
            }
        }
    }

    pub(super) fn test_argument(&mut self) -> Option<String> {
        let ends = matches!(
            self.peek(),
            "else" | "or" | "and" | "is" | "if" | "not" | "in"
        );
        match self.kind() {
            Some(Kind::Sign) if self.peek() == "(" => self.arguments(),
            Some(Kind::Sign) if !matches!(self.peek(), "[" | "{") => Some(String::new()),
            Some(Kind::Name) if ends => Some(String::new()),
            Some(_) => {
                let primary = self.primary()?;
                self.postfix(primary)
            }
            None => Some(String::new()),
        }
    }
}
