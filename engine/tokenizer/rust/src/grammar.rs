//! The C functions of hf_grammar.h, which says what they do.

use std::ffi::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::slice;
use std::sync::Arc;
use std::thread;

use llguidance::api::{GrammarWithLexer, ParserLimits, StopReason, TopLevelGrammar};
use llguidance::earley::SlicedBiasComputer;
use llguidance::toktrie::{ApproximateTokEnv, InferenceCapabilities, TokRxInfo, TokTrie};
use llguidance::{ParserFactory, TokenParser};
use serde_json::{json, Value};
use tokenizers::tokenizer::Result;

use crate::ending::find_ending;
use crate::{guard, quiet_panics, schema, HfText, TextSink};

/// Twice that of the thread that tried the grammar.
const COMPILER_STACK: usize = 16 << 20;
/// Longer messages quote the grammar.
const MAX_ERROR: usize = 500;

fn limits() -> ParserLimits {
    ParserLimits {
        // A token: some milliseconds.
        step_lexer_fuel: 100_000,
        step_max_items: 30_000,
        max_items_in_row: 1_000,
        // 1 to 2 kB each.
        max_lexer_states: 20_000,
        // Tokens of other vocabularies than the tried one would be looked at.
        precompute_large_lexemes: false,
        verbose_errors: false,
        ..ParserLimits::default()
    }
}

/// Without what the library adds for those who mend it.
fn explain(error: impl std::fmt::Display) -> String {
    let mut text = error.to_string();
    for mark in ["\n<backtrace>", "\n<non-verbose/>"] {
        if let Some(end) = text.find(mark) {
            text.truncate(end);
        }
    }
    if text.len() > MAX_ERROR {
        let end = (0..=MAX_ERROR).rev().find(|&i| text.is_char_boundary(i));
        text.truncate(end.unwrap_or(0));
        text.push_str("...");
    }
    text.trim_end().to_string()
}

pub struct TokenTexts {
    factory: ParserFactory,
    size: usize,
}

impl TokenTexts {
    /// The end of the text is a token of its own, after all others: models may
    /// have several tokens that end a sequence, or none.
    fn load(texts: &[u8], ends: &[u64], slices: &[String]) -> Result<TokenTexts> {
        let mut words = Vec::with_capacity(ends.len() + 1);
        let mut begin = 0;
        for &end in ends {
            let end = end as usize;
            words.push(texts[begin..end].to_vec());
            begin = end;
        }
        let mut marked = vec![TokTrie::SPECIAL_TOKEN_MARKER];
        marked.extend_from_slice(b"<end>");
        words.push(marked);
        let size = ends.len();
        let trie = TokTrie::from(&TokRxInfo::new(size as u32 + 1, size as u32), &words);
        let mut factory = ParserFactory::new(
            &(Arc::new(ApproximateTokEnv::new(trie)) as _),
            InferenceCapabilities::default(),
            slices,
        )
        .map_err(explain)?;
        factory.quiet();
        *factory.limits_mut() = limits();
        Ok(TokenTexts { factory, size })
    }
}

fn json_schema(text: &str) -> Result<GrammarWithLexer> {
    let mut schema: Value = serde_json::from_str(text)?;
    if schema == Value::Bool(true) {
        schema = json!({});
    }
    schema::prepare(&mut schema)?;
    let Some(fields) = schema.as_object_mut() else {
        return Err("a JSON schema is an object or true".into());
    };
    // Free spaces would let a model write spaces for ever.
    fields.entry("x-guidance").or_insert(json!({
        "whitespace_flexible": false, "item_separator": ", ", "key_separator": ": "
    }));
    Ok(GrammarWithLexer::from_json_schema(schema))
}

fn choices(text: &str) -> Result<GrammarWithLexer> {
    let texts: Vec<String> = serde_json::from_str(text)?;
    let mut lark = String::from("start: CHOICE\nCHOICE:");
    for (i, text) in texts.iter().enumerate() {
        lark.push_str(if i == 0 { " " } else { " | " });
        lark.push_str(&serde_json::to_string(text)?);
    }
    Ok(GrammarWithLexer::from_lark(lark))
}

fn grammar(kind: u32, text: &str, spaced: bool) -> Result<TopLevelGrammar> {
    let mut inner = match kind {
        0 => json_schema(text)?,
        1 => GrammarWithLexer::from_regex(text),
        2 => GrammarWithLexer::from_lark(schema::prepare_lark(text)?),
        _ => choices(text)?,
    };
    if !spaced {
        return Ok(TopLevelGrammar::from_grammar(inner));
    }
    inner.name = Some("text".to_string());
    let outer = GrammarWithLexer::from_lark("start: \" \"? @text".to_string());
    Ok(TopLevelGrammar {
        grammars: vec![outer, inner],
        max_tokens: None,
    })
}

/// A token that has no text changes no text, so that a grammar could ask for it for
/// ever.
fn check_texts_alone(parser: &TokenParser) -> Result<()> {
    let spec = parser.parser.grammar().lexer_spec();
    if spec.token_range_lexemes(&spec.all_lexemes()).is_empty() {
        return Ok(());
    }
    Err("a token by number or name, as <[7]> or <end>; a grammar is of texts".into())
}

fn compile(texts: &TokenTexts, kind: u32, text: &str, spaced: bool) -> Result<HfMatcher> {
    let grammar = grammar(kind, text, spaced)?;
    let mut parser = texts.factory.create_parser(grammar).map_err(explain)?;
    check_texts_alone(&parser)?;
    parser.start_without_prompt();
    Ok(HfMatcher {
        parser,
        size: texts.size,
    })
}

/// On a thread with a stack that is large enough.
fn compile_aside(texts: &TokenTexts, kind: u32, text: &str, spaced: bool) -> Result<HfMatcher> {
    thread::scope(|scope| {
        let compiler = thread::Builder::new()
            .stack_size(COMPILER_STACK)
            .spawn_scoped(scope, || compile(texts, kind, text, spaced))?;
        compiler.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

pub struct HfMatcher {
    parser: TokenParser,
    size: usize,
}

impl HfMatcher {
    fn append(&mut self, id: u32) -> Result<()> {
        self.parser.consume_token(id).map_err(explain)?;
        // Notes that nothing may follow.
        self.parser.check_stop().map_err(explain)?;
        Ok(())
    }

    fn mask(&mut self, words: &mut [u32]) -> Result<bool> {
        words.fill(0);
        match self.parser.stop_reason() {
            StopReason::NotStopped => {}
            StopReason::NoExtension | StopReason::EndOfSentence => return Ok(true),
            reason => return Err(explain(reason).into()),
        }
        let mask = match self.parser.compute_mask() {
            Ok(mask) => mask,
            // The vocabulary has no token for what has to follow.
            Err(_) if self.parser.stop_reason() == StopReason::NoExtensionBias => return Ok(false),
            Err(error) => return Err(explain(error).into()),
        };
        let end = self.size;
        let given = mask.as_slice();
        let count = words.len().min(given.len());
        words[..count].copy_from_slice(&given[..count]);
        if let Some(last) = words.get_mut(end / 32) {
            *last &= !(1 << (end % 32));
        }
        Ok(mask.get(end))
    }
}

/// Steps of a text that a grammar is tried with.
const TRIED_STEPS: u32 = 100;

fn used_memory() -> usize {
    unsafe { libc::mallinfo2() }.uordblks
}

/// A vocabulary of all bytes stands for that of a model.
fn try_grammar(kind: u32, text: &str) -> Result<usize> {
    let bytes: Vec<u8> = (0..=255).collect();
    let ends: Vec<u64> = (1..=256).collect();
    let texts = TokenTexts::load(&bytes, &ends, &[])?;
    let used_before = used_memory();
    let mut matcher = compile(&texts, kind, text, false)?;
    let bytes = used_memory().saturating_sub(used_before);
    let mut words = [0; 8];
    for step in 0..TRIED_STEPS {
        matcher.mask(&mut words)?;
        let allowed: Vec<u32> = (0..256)
            .filter(|id| words[*id as usize / 32] >> (id % 32) & 1 == 1)
            .collect();
        if allowed.is_empty() {
            break;
        }
        // Any way through will do, if it is the same each time.
        matcher.append(allowed[step as usize * 7 % allowed.len()])?;
    }
    Ok(bytes)
}

#[no_mangle]
pub unsafe extern "C" fn hf_grammar_try(
    kind: u32,
    grammar: HfText,
    bytes: TextSink,
    error: TextSink,
    context: *mut c_void,
) -> bool {
    quiet_panics();
    let tried = guard(error, context, || {
        let used = try_grammar(kind, grammar.text()?)?;
        bytes(context, HfText::of(&used.to_string()));
        Ok(())
    });
    tried.is_some()
}

#[no_mangle]
pub unsafe extern "C" fn hf_token_texts_load(
    texts: HfText,
    ends: *const u64,
    size: usize,
    error: TextSink,
    context: *mut c_void,
) -> *mut TokenTexts {
    quiet_panics();
    let loaded = guard(error, context, || {
        let ends = slice::from_raw_parts(ends, size);
        TokenTexts::load(texts.bytes(), ends, &SlicedBiasComputer::general_slices())
    });
    loaded.map_or(std::ptr::null_mut(), |texts| Box::into_raw(Box::new(texts)))
}

#[no_mangle]
pub unsafe extern "C" fn hf_token_texts_free(texts: *mut TokenTexts) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(Box::from_raw(texts))));
}

#[no_mangle]
pub unsafe extern "C" fn hf_matcher_load(
    texts: *const TokenTexts,
    kind: u32,
    grammar: HfText,
    spaced: bool,
    error: TextSink,
    context: *mut c_void,
) -> *mut HfMatcher {
    let loaded = guard(error, context, || {
        compile_aside(&*texts, kind, grammar.text()?, spaced)
    });
    loaded.map_or(std::ptr::null_mut(), |m| Box::into_raw(Box::new(m)))
}

#[no_mangle]
pub unsafe extern "C" fn hf_matcher_copy(from: *const HfMatcher) -> *mut HfMatcher {
    Box::into_raw(Box::new(HfMatcher {
        parser: (*from).parser.clone(),
        size: (*from).size,
    }))
}

#[no_mangle]
pub unsafe extern "C" fn hf_matcher_free(matcher: *mut HfMatcher) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(Box::from_raw(matcher))));
}

#[no_mangle]
pub unsafe extern "C" fn hf_matcher_append(
    matcher: *mut HfMatcher,
    id: u32,
    error: TextSink,
    context: *mut c_void,
) -> bool {
    guard(error, context, || (*matcher).append(id)).is_some()
}

#[no_mangle]
pub unsafe extern "C" fn hf_matcher_mask(
    matcher: *mut HfMatcher,
    words: *mut u32,
    size: usize,
    can_end: *mut bool,
    error: TextSink,
    context: *mut c_void,
) -> bool {
    let found = guard(error, context, || {
        *can_end = (*matcher).mask(slice::from_raw_parts_mut(words, size))?;
        Ok(())
    });
    found.is_some()
}

#[no_mangle]
pub unsafe extern "C" fn hf_matcher_ending(
    matcher: *const HfMatcher,
    ids: *mut u32,
    size: usize,
    count: *mut usize,
) -> bool {
    let ids = match size {
        0 => &mut [],
        _ => slice::from_raw_parts_mut(ids, size),
    };
    let found = catch_unwind(AssertUnwindSafe(|| find_ending(&(*matcher).parser, ids)));
    let Ok(Some(length)) = found else {
        return false;
    };
    *count = length;
    true
}

#[no_mangle]
pub unsafe extern "C" fn hf_matcher_bytes(matcher: *const HfMatcher) -> usize {
    catch_unwind(AssertUnwindSafe(|| {
        (*matcher).parser.parser.lexer_stats().num_bytes
    }))
    .unwrap_or(0)
}
