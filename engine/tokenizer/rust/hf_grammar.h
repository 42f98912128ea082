#ifndef ATTEND_ENGINE_TOKENIZER_RUST_HF_GRAMMAR_H_
#define ATTEND_ENGINE_TOKENIZER_RUST_HF_GRAMMAR_H_

#include "engine/tokenizer/rust/hf_tokenizer.h"

// Grammars as C functions: `llguidance` (Rust) says which tokens may follow.
// Results are passed as in hf_tokenizer.h.
//
// The step from one token to the next has limits of its work, and a matcher has
// a limit of its lexer's states. To make a matcher has no sure limits of time,
// memory and stack: a grammar that is not trusted must be tried in a process of
// its own first (engine/tokenizer/sandbox).

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  kHfJsonSchema,  // JSON that the schema allows, with one space after ',' and
                  // ':' and no others
  kHfRegex,       // text that matches as a whole
  kHfLark,        // llguidance's variant of Lark
  kHfChoices,     // one of the texts of a JSON list
} HfGrammarKind;

// Tries a grammar: compiles it, and follows a text that it allows, byte by
// byte, for a while. Passes the bytes of memory that the compiled grammar
// takes, as a number, where the process has one arena of malloc.
bool hf_grammar_try(HfGrammarKind kind, HfText grammar, HfTextSink bytes,
                    HfTextSink error, void* context);

// The texts of a vocabulary, made ready for masks.
typedef struct HfTokenTexts HfTokenTexts;
// A place in a grammar. Matchers that are copies of each other share memory
// that they fill, and wait for each other; otherwise one thread at a time may
// use a matcher.
typedef struct HfMatcher HfMatcher;

// `texts` are those of the ids 0, 1, ... one after the other; `ends` [size] is
// where each ends. An id without a text is in no mask.
HfTokenTexts* hf_token_texts_load(HfText texts, const uint64_t* ends,
                                  size_t size, HfTextSink error, void* context);
void hf_token_texts_free(HfTokenTexts* texts);

// The beginning of a grammar. `spaced`: a text may begin with one space that
// the grammar does not have.
HfMatcher* hf_matcher_load(const HfTokenTexts* texts, HfGrammarKind kind,
                           HfText grammar, bool spaced, HfTextSink error,
                           void* context);
HfMatcher* hf_matcher_copy(const HfMatcher* from);
void hf_matcher_free(HfMatcher* matcher);

// Follows a token. After an error the matcher is of no use.
bool hf_matcher_append(HfMatcher* matcher, uint32_t id, HfTextSink error,
                       void* context);
// Sets the bit id % 32 of words[id / 32] for each id that may follow, clears
// all other bits, and says whether the text may end here. `size` is that of the
// vocabulary in words.
bool hf_matcher_mask(HfMatcher* matcher, uint32_t* words, size_t size,
                     bool* can_end, HfTextSink error, void* context);
// Finds a short way from here to where the text may end: `*count` ids, at most
// `size`. False: it found none. It takes the time of some masks, does not look
// for the shortest way, and uses up the states of the lexer as a text does.
bool hf_matcher_ending(const HfMatcher* matcher, uint32_t* ids, size_t size,
                       size_t* count);
// About the bytes that the matcher shares with its copies.
size_t hf_matcher_bytes(const HfMatcher* matcher);

#ifdef __cplusplus
}
#endif

#endif  // ATTEND_ENGINE_TOKENIZER_RUST_HF_GRAMMAR_H_
