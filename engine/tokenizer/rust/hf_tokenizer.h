#ifndef ATTEND_ENGINE_TOKENIZER_RUST_HF_TOKENIZER_H_
#define ATTEND_ENGINE_TOKENIZER_RUST_HF_TOKENIZER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Hugging Face's `tokenizers` (Rust), as C functions. Results are handed to a
// function of the caller's, so that no memory changes its owner; it gets
// `context`, and must neither throw nor keep what it is given. Where a function
// returns false or null, it has called `error` once, with a message; a panic
// inside the library is such an error. All text is UTF-8 without a final NUL.
//
// A tokenizer may be used by any number of threads once it is set up.

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
  int32_t text;    // 0: the text, 1: its pair, -1: put in by the template
  uint32_t begin;  // bytes of that text
  uint32_t end;
} HfToken;

typedef void (*HfTextSink)(void* context, HfText text);
typedef void (*HfTokenSink)(void* context, const HfToken* tokens, size_t size);
// `special`: decoding may leave it out.
typedef void (*HfPieceSink)(void* context, uint32_t id, HfText piece,
                            bool special);

// Of the contents of a tokenizer.json, whose truncation and padding are left
// out.
HfHandle* hf_tokenizer_load(HfText json, HfTextSink error, void* context);
void hf_tokenizer_free(HfHandle* tokenizer);

// Set up: adds tokens, or changes those that are there. `json` is a list of
// tokens as in tokenizer.json's added_tokens.
bool hf_tokenizer_add_tokens(HfHandle* tokenizer, HfText json, HfTextSink error,
                             void* context);
// Set up: whether special tokens written out in a text are text like any other.
void hf_tokenizer_split_special(HfHandle* tokenizer, bool split);

// Every token of the vocabulary and every added token, in no order; a token
// that is both comes once.
bool hf_tokenizer_pieces(const HfHandle* tokenizer, HfPieceSink pieces,
                         HfTextSink error, void* context);
// The type of the model ("BPE") and then the decoder ("null" if there is none),
// in one list in the json of tokenizer.json.
bool hf_tokenizer_describe(const HfHandle* tokenizer, HfTextSink json,
                           HfTextSink error, void* context);

// `pair` may be null. `tokens` is called once.
bool hf_tokenizer_encode(const HfHandle* tokenizer, HfText text,
                         const HfText* pair, bool add_special,
                         HfTokenSink tokens, HfTextSink error, void* context);
// Ids that there are not are left out.
bool hf_tokenizer_decode(const HfHandle* tokenizer, const uint32_t* ids,
                         size_t size, bool skip_special, HfTextSink text,
                         HfTextSink error, void* context);

#ifdef __cplusplus
}
#endif

#endif  // ATTEND_ENGINE_TOKENIZER_RUST_HF_TOKENIZER_H_
