//! The models of tokenizers, each in time that is bounded by the text.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::models::{ModelWrapper, TrainerWrapper};
use tokenizers::tokenizer::{Model, Result, Token};

/// A model of the library. It differs in time alone: the library's WordPiece takes
/// the third power of a word's length, for files that have no low limit of it.
#[derive(Clone)]
pub struct BoundedModel {
    pub library: ModelWrapper,
    longest: usize, // bytes of the longest token
}

impl<'de> Deserialize<'de> for BoundedModel {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let library = ModelWrapper::deserialize(from)?;
        let longest = match &library {
            ModelWrapper::WordPiece(model) => model.get_vocab().keys().map(String::len).max(),
            _ => None,
        };
        Ok(BoundedModel {
            library,
            longest: longest.unwrap_or(0),
        })
    }
}

/// The end of the longest token that begins at `start`, and its id and spelling.
fn longest_match(
    model: &WordPiece,
    word: &str,
    start: usize,
    longest: usize,
) -> Option<(usize, u32, String)> {
    let mut spelled = String::new();
    if start > 0 {
        spelled.push_str(&model.continuing_subword_prefix);
    }
    let prefix = spelled.len();
    let mut end = word.len().min(start + longest.saturating_sub(prefix));
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    spelled.push_str(&word[start..end]);
    while spelled.len() > prefix {
        if let Some(id) = model.token_to_id(&spelled) {
            return Some((start + spelled.len() - prefix, id, spelled));
        }
        spelled.pop();
    }
    None
}

/// Greedy longest match first, as WordPiece::tokenize().
fn cut_word(model: &WordPiece, word: &str, longest: usize) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while start < word.len() {
        match longest_match(model, word, start, longest) {
            Some((end, id, spelled)) => {
                tokens.push(Token::new(id, spelled, (start, end)));
                start = end;
            }
            None => {
                let id = model
                    .token_to_id(&model.unk_token)
                    .ok_or("WordPiece error: Missing [UNK] token from the vocabulary")?;
                return Ok(vec![Token::new(
                    id,
                    model.unk_token.clone(),
                    (0, word.len()),
                )]);
            }
        }
    }
    Ok(tokens)
}

impl Model for BoundedModel {
    type Trainer = TrainerWrapper;

    fn tokenize(&self, text: &str) -> Result<Vec<Token>> {
        match &self.library {
            ModelWrapper::WordPiece(model)
                if text.chars().count() <= model.max_input_chars_per_word =>
            {
                cut_word(model, text, self.longest)
            }
            library => library.tokenize(text),
        }
    }

    fn token_to_id(&self, token: &str) -> Option<u32> {
        self.library.token_to_id(token)
    }

    fn id_to_token(&self, id: u32) -> Option<String> {
        self.library.id_to_token(id)
    }

    fn get_vocab(&self) -> HashMap<String, u32> {
        self.library.get_vocab()
    }

    fn get_vocab_size(&self) -> usize {
        self.library.get_vocab_size()
    }

    fn save(&self, folder: &Path, name: Option<&str>) -> Result<Vec<PathBuf>> {
        self.library.save(folder, name)
    }

    fn get_trainer(&self) -> Self::Trainer {
        self.library.get_trainer()
    }
}
