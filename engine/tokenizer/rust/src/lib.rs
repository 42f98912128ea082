//! The C functions of hf_tokenizer.h, which says what they do.

use std::ffi::{c_char, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::slice;
use std::sync::Once;
use std::thread;

mod args;
mod characters;
mod chat;
mod ending;
mod format;
mod grammar;
mod keywords;
mod model;
mod objects;
mod python;
mod rewrite;
mod schema;
mod sequences;
mod spec;
mod strings;
mod style;
mod texts;
mod tokens;

use model::BoundedModel;
use tokenizers::tokenizer::{EncodeInput, Result};
use tokenizers::{
    AddedToken, DecoderWrapper, Encoding, ModelWrapper, NormalizerWrapper, PostProcessorWrapper,
    PreTokenizerWrapper, TokenizerImpl,
};

type Tokenizer = TokenizerImpl<
    BoundedModel,
    NormalizerWrapper,
    PreTokenizerWrapper,
    PostProcessorWrapper,
    DecoderWrapper,
>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct HfText {
    data: *const c_char,
    size: usize,
}

impl HfText {
    fn of(text: &str) -> HfText {
        HfText {
            data: text.as_ptr().cast(),
            size: text.len(),
        }
    }

    /// The caller's text, which lives as long as its call.
    unsafe fn bytes<'a>(self) -> &'a [u8] {
        slice::from_raw_parts(self.data.cast(), self.size)
    }

    unsafe fn text<'a>(self) -> Result<&'a str> {
        Ok(std::str::from_utf8(self.bytes())?)
    }
}

#[repr(C)]
pub struct HfToken {
    id: u32,
    token_type: u32,
    text: i32,
    begin: u32,
    end: u32,
    word: i32,
}

type TextSink = extern "C" fn(*mut c_void, HfText);
type TokenSink = extern "C" fn(*mut c_void, *const HfToken, usize);
type PieceSink = extern "C" fn(*mut c_void, u32, HfText, bool);

/// What `work` gives; None after telling `error` why not. No panic gets out.
fn guard<T>(error: TextSink, context: *mut c_void, work: impl FnOnce() -> Result<T>) -> Option<T> {
    let message = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => return Some(value),
        Ok(Err(e)) => e.to_string(),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied());
            format!("tokenizers: {}", text.unwrap_or("panic"))
        }
    };
    error(context, HfText::of(&message));
    None
}

/// A panic is an error like any other here, and is not written to stderr.
fn quiet_panics() {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
}

/// As much as a main thread usually has.
const PARSER_STACK: usize = 8 << 20;

/// A tokenizer without the memory that parsing takes. The parser frees small
/// pieces of memory between those that stay, so that no page is free: what it
/// makes is copied, and dropped as a whole. It is made on a thread of its own,
/// for which malloc takes other memory, so that the copy does not fill the holes.
fn compact(json: &[u8]) -> Result<Tokenizer> {
    let parsed = thread::scope(|scope| {
        let parser = thread::Builder::new()
            .stack_size(PARSER_STACK)
            .spawn_scoped(scope, || serde_json::from_slice::<Tokenizer>(json))?;
        let parsed = parser.join().unwrap_or_else(|panic| resume_unwind(panic));
        Result::Ok(parsed?)
    })?;
    Ok(parsed.clone())
}

#[no_mangle]
pub unsafe extern "C" fn hf_tokenizer_load(
    json: HfText,
    error: TextSink,
    context: *mut c_void,
) -> *mut Tokenizer {
    quiet_panics();
    let loaded = guard(error, context, || {
        let mut tokenizer = compact(json.bytes())?;
        tokenizer.with_truncation(None)?;
        tokenizer.with_padding(None);
        Ok(tokenizer)
    });
    loaded.map_or(std::ptr::null_mut(), |t| Box::into_raw(Box::new(t)))
}

#[no_mangle]
pub unsafe extern "C" fn hf_tokenizer_free(tokenizer: *mut Tokenizer) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(Box::from_raw(tokenizer))));
}

#[no_mangle]
pub unsafe extern "C" fn hf_tokenizer_add_tokens(
    tokenizer: *mut Tokenizer,
    json: HfText,
    error: TextSink,
    context: *mut c_void,
) -> bool {
    let added = guard(error, context, || {
        let tokens: Vec<AddedToken> = serde_json::from_slice(json.bytes())?;
        for token in tokens {
            if token.special {
                (*tokenizer).add_special_tokens([token])?;
            } else {
                (*tokenizer).add_tokens([token])?;
            }
        }
        Ok(())
    });
    added.is_some()
}

#[no_mangle]
pub unsafe extern "C" fn hf_tokenizer_set_post_processor(
    tokenizer: *mut Tokenizer,
    json: HfText,
    error: TextSink,
    context: *mut c_void,
) -> bool {
    let set = guard(error, context, || {
        let processor: Option<PostProcessorWrapper> = serde_json::from_slice(json.bytes())?;
        (*tokenizer).with_post_processor(processor);
        Ok(())
    });
    set.is_some()
}

#[no_mangle]
pub unsafe extern "C" fn hf_tokenizer_split_special(tokenizer: *mut Tokenizer, split: bool) {
    (*tokenizer).set_encode_special_tokens(split);
}

#[no_mangle]
pub unsafe extern "C" fn hf_tokenizer_pieces(
    tokenizer: *const Tokenizer,
    pieces: PieceSink,
    error: TextSink,
    context: *mut c_void,
) -> bool {
    let told = guard(error, context, || {
        let added = (*tokenizer).get_added_vocabulary();
        for (piece, id) in (*tokenizer).get_vocab(true) {
            let special = added.is_special_token(&piece);
            pieces(context, id, HfText::of(&piece), special);
        }
        Ok(())
    });
    told.is_some()
}

#[no_mangle]
pub unsafe extern "C" fn hf_tokenizer_describe(
    tokenizer: *const Tokenizer,
    json: TextSink,
    error: TextSink,
    context: *mut c_void,
) -> bool {
    let told = guard(error, context, || {
        let model = match &(*tokenizer).get_model().library {
            ModelWrapper::BPE(_) => "BPE",
            ModelWrapper::WordPiece(_) => "WordPiece",
            ModelWrapper::WordLevel(_) => "WordLevel",
            ModelWrapper::Unigram(_) => "Unigram",
        };
        let has_post_processor = (*tokenizer).get_post_processor().is_some();
        let described =
            serde_json::to_string(&(model, (*tokenizer).get_decoder(), has_post_processor))?;
        json(context, HfText::of(&described));
        Ok(())
    });
    told.is_some()
}

/// Where each character of a text begins, and the last one ends.
struct CharacterBytes(Vec<u32>);

impl CharacterBytes {
    fn of(text: &str) -> CharacterBytes {
        if text.is_ascii() {
            return CharacterBytes(Vec::new());
        }
        let begins = text.char_indices().map(|(byte, _)| byte as u32);
        CharacterBytes(begins.chain([text.len() as u32]).collect())
    }

    fn byte(&self, character: usize) -> u32 {
        match self.0.last() {
            None => character as u32,
            Some(&end) => self.0.get(character).copied().unwrap_or(end),
        }
    }
}

/// `encoding` has offsets in characters of `texts`.
fn tokens_of(encoding: &Encoding, texts: [&str; 2]) -> Vec<HfToken> {
    let bytes = texts.map(CharacterBytes::of);
    let special = encoding.get_special_tokens_mask();
    let offsets = encoding.get_offsets();
    let types = encoding.get_type_ids();
    let words = encoding.get_word_ids();
    let text = |i| match encoding.token_to_sequence(i) {
        Some(sequence) if special[i] == 0 => sequence as i32,
        _ => -1,
    };
    let token = |(i, &id): (usize, &u32)| {
        let text = text(i);
        let of = &bytes[usize::from(text == 1)];
        HfToken {
            id,
            token_type: types[i],
            text,
            begin: of.byte(offsets[i].0),
            end: of.byte(offsets[i].1),
            word: words[i].map_or(-1, |word| word as i32),
        }
    };
    encoding.get_ids().iter().enumerate().map(token).collect()
}

#[no_mangle]
pub unsafe extern "C" fn hf_tokenizer_encode(
    tokenizer: *const Tokenizer,
    text: HfText,
    pair: *const HfText,
    add_special: bool,
    tokens: TokenSink,
    error: TextSink,
    context: *mut c_void,
) -> bool {
    let encoded = guard(error, context, || {
        let first = text.text()?;
        let second = pair.as_ref().map(|pair| pair.text()).transpose()?;
        let input = match second {
            None => EncodeInput::Single(first.into()),
            Some(pair) => EncodeInput::Dual(first.into(), pair.into()),
        };
        // Not encode(), which counts in bytes: there the library trims spaces
        // of several bytes off as if each were one byte.
        let encoding = (*tokenizer).encode_char_offsets(input, add_special)?;
        let all = tokens_of(&encoding, [first, second.unwrap_or("")]);
        tokens(context, all.as_ptr(), all.len());
        Ok(())
    });
    encoded.is_some()
}

#[no_mangle]
pub unsafe extern "C" fn hf_tokenizer_decode(
    tokenizer: *const Tokenizer,
    ids: *const u32,
    size: usize,
    skip_special: bool,
    text: TextSink,
    error: TextSink,
    context: *mut c_void,
) -> bool {
    let decoded = guard(error, context, || {
        let all = if size == 0 {
            &[]
        } else {
            slice::from_raw_parts(ids, size)
        };
        let joined = (*tokenizer).decode(all, skip_special)?;
        text(context, HfText::of(&joined));
        Ok(())
    });
    decoded.is_some()
}
