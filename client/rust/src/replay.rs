use std::any::Any;

use tonic::Code;

use crate::v1::generation_params::ForcedPrefix;
use crate::v1::{FinishReason, GenerateChunk, GenerateRequest, GenerationParams, Model, Tokens};
use crate::Error;

/// The text of a stream that may have been made several times. Results are the same
/// each time, whatever else the servers do, if the seed is. A stream is made again
///
/// - by its tokens so far as forced prefix: they are not computed again one by one.
///   For models that continue text, by greedy search;
/// - else from its beginning, and what has been seen is left out.
#[derive(Default)]
pub(crate) struct Replay {
    seen: String,
    at: usize,     // bytes of the current attempt's text
    known: usize,  // of what was seen, before the current attempt
    ids: Vec<i32>, // of that text
    ended: bool,   // the last token has come
}

impl Replay {
    pub(crate) fn begun(&self) -> bool {
        !self.seen.is_empty()
    }

    /// Whether the attempt that has failed brought something new.
    pub(crate) fn went_on(&mut self) -> bool {
        let before = std::mem::replace(&mut self.known, self.seen.len());
        self.known > before
    }

    /// The name of the model on which it depends whether a forced prefix will do;
    /// None: it will not.
    pub(crate) fn asks_for(&self, request: &dyn Any) -> Option<String> {
        let request = request.downcast_ref::<GenerateRequest>()?;
        let params = request.params.as_ref()?;
        let may = !self.ids.is_empty()
            && !self.ended
            && params.max_new_tokens.is_some()
            && params.constraint.is_none()
            && params.forced_prefix.is_none();
        may.then(|| request.model.clone())
    }

    /// The request of the next attempt. `model`: if it may continue.
    pub(crate) fn again<Q: Clone + 'static>(&mut self, request: &Q, model: Option<Model>) -> Q {
        let mut again = request.clone();
        let known: Option<&mut GenerateRequest> = (&mut again as &mut dyn Any).downcast_mut();
        let params = known.and_then(|request| request.params.as_mut());
        match (params, model) {
            (Some(params), Some(model)) if self.continues(params, &model) => {
                self.shorten(params, &model.defaults.unwrap_or_default());
            }
            _ => {
                self.at = 0;
                self.ids.clear();
            }
        }
        again
    }

    fn continues(&self, params: &GenerationParams, model: &Model) -> bool {
        let defaults = model.defaults.clone().unwrap_or_default();
        let Some(last) = self.ids.last() else {
            return false;
        };
        let most = params.max_new_tokens.unwrap_or(0);
        let one = |own: Option<i32>, other: Option<i32>| own.or(other) == Some(1);
        let all = [params, &defaults];
        // With these set the rest of a result is not what a result is that begins
        // with the tokens so far, or text may be held back.
        let flag = |of: fn(&GenerationParams) -> Option<bool>| all.iter().find_map(|each| of(each));
        let number =
            |of: fn(&GenerationParams) -> Option<f32>| all.iter().find_map(|each| of(each));
        model.continues_source
            && (most == 0 || most as usize > self.ids.len())
            && !model.eos_ids.contains(last)
            && !params.stop_ids.contains(last)
            && one(params.num_beams, defaults.num_beams)
            && one(params.num_return_sequences, defaults.num_return_sequences)
            && flag(|each| each.do_sample) != Some(true)
            && flag(|each| each.echo) != Some(true)
            && flag(|each| each.prompt_log_probs) != Some(true)
            && number(|each| each.presence_penalty).unwrap_or(0.0) == 0.0
            && number(|each| each.frequency_penalty).unwrap_or(0.0) == 0.0
            && all
                .iter()
                .all(|each| each.stop_strings.is_empty() && each.begin_suppress_tokens.is_empty())
    }

    /// What is left to compute.
    fn shorten(&self, params: &mut GenerationParams, defaults: &GenerationParams) {
        let made = self.ids.len() as i32;
        let least = params.min_new_tokens.or(defaults.min_new_tokens).unwrap_or(0);
        params.min_new_tokens = Some((least - made).max(0));
        // 0: as many as there is room for.
        params.max_new_tokens =
            params.max_new_tokens.map(|most| if most == 0 { 0 } else { most - made });
        let tokens = Tokens { ids: self.ids.clone(), ..Default::default() };
        params.forced_prefix = Some(ForcedPrefix::PrefixTokens(tokens));
    }

    /// A message of the stream has come; its text is the next part.
    pub(crate) fn take(&mut self, message: &dyn Any) {
        if let Some(chunk) = message.downcast_ref::<GenerateChunk>() {
            self.ids.extend(&chunk.ids);
            self.ended |= chunk.finish_reason() != FinishReason::Unspecified;
        }
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
        text.again(&(), None);
        assert_eq!(text.next("a").unwrap(), "");
        assert!(text.end().is_err());
        assert_eq!(text.next("é€b").unwrap(), "€b");
        assert_eq!(text.next("").unwrap(), "");
        assert!(text.end().is_ok());
        text.again(&(), None);
        // The first byte of é is that of è.
        assert!(text.next("aè").is_err());
    }
}
