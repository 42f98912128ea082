use crate::Error;
use tonic::Code;

/// The text of a stream that may have been made several times. Each time it begins
/// anew, and what has been seen is left out. Results are the same each time,
/// whatever else the servers do, if the seed is.
#[derive(Default)]
pub(crate) struct Replay {
    seen: String,
    at: usize, // bytes of the current attempt's text
}

impl Replay {
    pub(crate) fn begun(&self) -> bool {
        !self.seen.is_empty()
    }

    /// The next part is the first of a new attempt.
    pub(crate) fn again(&mut self) {
        self.at = 0;
    }

    /// What of an attempt's next part has not been seen.
    pub(crate) fn next(&mut self, part: &str) -> Result<String, Error> {
        let seen = self.seen.as_bytes();
        let known = &seen[self.at.min(seen.len())..seen.len().min(self.at + part.len())];
        if !part.as_bytes().starts_with(known) {
            return Err(another_text());
        }
        // A character's end: that of all that was seen, or of the part.
        let new = part[known.len()..].to_owned();
        self.at += part.len();
        self.seen += &new;
        Ok(new)
    }

    /// The attempt ends well; that it ends before what has been seen does not.
    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.at < self.seen.len() {
            return Err(another_text());
        }
        Ok(())
    }
}

fn another_text() -> Error {
    Error::new(
        Code::Unavailable,
        "the stream broke off, and has another text when it is made again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_may_be_cut_elsewhere() {
        let mut text = Replay::default();
        assert_eq!(text.next("aé").unwrap(), "aé");
        text.again();
        assert_eq!(text.next("a").unwrap(), "");
        assert!(text.end().is_err());
        assert_eq!(text.next("é€b").unwrap(), "€b");
        assert_eq!(text.next("").unwrap(), "");
        assert!(text.end().is_ok());
        text.again();
        // The first byte of é is that of è.
        assert!(text.next("aè").is_err());
    }
}
