//! A short way from a place in a grammar to where the text may end.

use std::sync::atomic::{AtomicI32, Ordering};

use llguidance::api::StopReason;
use llguidance::earley::{BiasComputer, ParserRecognizer};
use llguidance::toktrie::{Recognizer, SimpleVob, TokTrie, INVALID_TOKEN};
use llguidance::TokenParser;

/// The bytes that a text goes on with that is to end soon: what closes is first,
/// what opens is last.
const ENDING_BYTES: &[u8] = b"}])>\"'\n,:; zZ0123456789nfteabcdghijklmopqrsuvwxy\
    ABCDEFGHIJKLMNOPQRSTUVWXY_+-.=|&%$#@!?*^~`/(<[{\\\t\r";
/// The same inside of a string, where a bracket closes nothing. There this
/// letter may follow; it may not begin a JSON value.
const STRING_BYTES: &[u8] = b"\"a";
const STRING_LETTER: u8 = b'a';
const MAX_ENDING_BYTES: usize = 4096;
/// Together some tenths of a second, which only a grammar takes that is made for
/// it.
const MAX_ENDING_FUEL: u64 = 1_000_000;
const MAX_ENDING_ITEMS: usize = 300_000;

/// Finds the first of ENDING_BYTES that may follow, or another byte. As what
/// makes masks it has the limits of work that a mask has.
struct EndingByte<'a> {
    trie: &'a TokTrie,
    found: AtomicI32, // -1: none
}

impl EndingByte<'_> {
    fn find(rec: &mut ParserRecognizer<'_>) -> Option<u8> {
        let mut follows = |byte| {
            let pushed = rec.try_push_byte(byte);
            if pushed {
                rec.pop_bytes(1);
            }
            pushed
        };
        let in_string = follows(STRING_LETTER);
        let first = if in_string { STRING_BYTES } else { &[] };
        // No text has bytes above 0xf4.
        let others = (0..=0xf4).filter(|byte| !ENDING_BYTES.contains(byte));
        let mut bytes = first.iter().chain(ENDING_BYTES).copied().chain(others);
        bytes.find(|&byte| follows(byte))
    }
}

impl BiasComputer for EndingByte<'_> {
    fn compute_bias(&self, rec: &mut ParserRecognizer<'_>, _start: &[u8]) -> SimpleVob {
        rec.trie_started("ending");
        let found = Self::find(rec).map_or(-1, i32::from);
        self.found.store(found, Ordering::Relaxed);
        rec.trie_finished();
        self.trie.alloc_token_set()
    }
    fn trie(&self) -> &TokTrie {
        self.trie
    }
}

/// Byte after byte: none is taken back, so that the work is bounded.
fn ending_bytes(from: &TokenParser, most: usize) -> Option<Vec<u8>> {
    let mut parser = from.parser.clone();
    let next = EndingByte {
        trie: from.token_env.tok_trie(),
        found: AtomicI32::new(-1),
    };
    let mut bytes = Vec::new();
    let before = parser.stats().clone();
    while bytes.len() <= most {
        let work = parser.stats().delta(&before);
        if work.lexer_cost > MAX_ENDING_FUEL || work.all_items > MAX_ENDING_ITEMS {
            return None;
        }
        let forced = parser.currently_forced_bytes().to_vec();
        if forced.is_empty() {
            if parser.is_accepting() {
                return Some(bytes);
            }
            parser.compute_bias(&next, &[]);
        }
        let more = if forced.is_empty() {
            vec![u8::try_from(next.found.load(Ordering::Relaxed)).ok()?]
        } else {
            forced
        };
        parser.apply_token(&more, INVALID_TOKEN).ok()?;
        if parser.get_error().is_some() {
            return None;
        }
        bytes.extend(more);
    }
    None
}

/// Fills the tokens after which the text may end, and says how many they are.
pub fn find_ending(from: &TokenParser, ids: &mut [u32]) -> Option<usize> {
    match from.stop_reason() {
        StopReason::NotStopped => {}
        StopReason::NoExtension | StopReason::EndOfSentence => return Some(0),
        _ => return None,
    }
    let trie = from.token_env.tok_trie();
    let longest = ids.len().saturating_mul(trie.max_token_len());
    let bytes = ending_bytes(from, longest.min(MAX_ENDING_BYTES))?;
    let tokens = trie.greedy_tokenize(&bytes);
    // Not every vocabulary has all bytes.
    if tokens.len() > ids.len() || trie.decode_raw(&tokens) != bytes {
        return None;
    }
    ids[..tokens.len()].copy_from_slice(&tokens);
    Some(tokens.len())
}
