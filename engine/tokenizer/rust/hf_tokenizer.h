#ifndef ATTEND_ENGINE_TOKENIZER_RUST_HF_TOKENIZER_H_
#define ATTEND_ENGINE_TOKENIZER_RUST_HF_TOKENIZER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Hugging Face's library `tokenizers` (Rust) as C functions. A function passes
// its results to a sink, which is a function of the caller, so memory never
// changes its owner. A sink gets `context`, must not throw, and must not keep
// its arguments. A function that returns false or null has called `error` once,
// with a message; a panic inside the library is such an error. All text is
// UTF-8 without a final NUL.
//
// Any thread may use a tokenizer that is set up.

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HfHandle HfHandle;

typedef struct {
  const char* data;  // not null
  size_t size;
} HfText;

typedef struct {
  uint32_t id;
  uint32_t type;   // token type
  int32_t text;    // 0: the text, 1: its pair, -1: added by the template
  uint32_t begin;  // bytes [begin, end) of that text
  uint32_t end;
  int32_t word;  // number of the word in that text; -1: none
} HfToken;

typedef void (*HfTextSink)(void* context, HfText text);
typedef void (*HfTokenSink)(void* context, const HfToken* tokens, size_t size);
// `special`: decoding may leave it out.
typedef void (*HfPieceSink)(void* context, uint32_t id, HfText piece,
                            bool special);

// `json` is the contents of a tokenizer.json. Its truncation and padding are
// ignored.
HfHandle* hf_tokenizer_load(HfText json, HfTextSink error, void* context);
void hf_tokenizer_free(HfHandle* tokenizer);

// Set up: adds tokens, or changes tokens that are there. `json` is a list like
// added_tokens of tokenizer.json.
bool hf_tokenizer_add_tokens(HfHandle* tokenizer, HfText json, HfTextSink error,
                             void* context);
// Set up: replaces the post-processor. `json` is like that of tokenizer.json.
bool hf_tokenizer_set_post_processor(HfHandle* tokenizer, HfText json,
                                     HfTextSink error, void* context);
// Set up: whether a special token in a text is text like any other.
void hf_tokenizer_split_special(HfHandle* tokenizer, bool split);

// Calls `pieces` for every token of the vocabulary and every added token, in
// any order; once for a token that is both.
bool hf_tokenizer_pieces(const HfHandle* tokenizer, HfPieceSink pieces,
                         HfTextSink error, void* context);
// Passes a JSON list of three values: the type of the model ("BPE"), the
// decoder as in tokenizer.json (null if there is none), and whether there is a
// post-processor.
bool hf_tokenizer_describe(const HfHandle* tokenizer, HfTextSink json,
                           HfTextSink error, void* context);

// `pair` may be null. `tokens` is called once.
bool hf_tokenizer_encode(const HfHandle* tokenizer, HfText text,
                         const HfText* pair, bool add_special,
                         HfTokenSink tokens, HfTextSink error, void* context);
// Ids that the vocabulary does not have are ignored.
bool hf_tokenizer_decode(const HfHandle* tokenizer, const uint32_t* ids,
                         size_t size, bool skip_special, HfTextSink text,
                         HfTextSink error, void* context);

#ifdef __cplusplus
}
#endif

#endif  // ATTEND_ENGINE_TOKENIZER_RUST_HF_TOKENIZER_H_
