#ifndef ATTEND_ENGINE_TOKENIZER_RUST_HF_CHAT_H_
#define ATTEND_ENGINE_TOKENIZER_RUST_HF_CHAT_H_

#include "engine/tokenizer/rust/hf_tokenizer.h"

// Chat templates: Jinja as transformers 5.23 sets it up, by `minijinja` (Rust),
// as C functions. They hand over results as those of hf_tokenizer.h do.
//
// A rendering is bounded in steps, in macros in macros, and in what it writes.
// It is not in memory where a template joins texts to texts over and over: a
// template is trusted as far as the weights that it comes with. What is in the
// messages is text, whatever it is.
//
// Known to differ from Python's: `a % b` does not format; str.format() and the
// filter `format` are not there; `~` writes floats with Rust's exponents and
// nested lists with double quotes; a text joined to one that is marked safe is
// not escaped; a for loop takes none as an empty list.

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HfChat HfChat;

HfChat* hf_chat_load(HfText source, HfTextSink error, void* context);
void hf_chat_free(HfChat* chat);

// `variables`: what the template may name, as a json object. strftime_now() is
// of `unix_micros`, in local time. Any thread.
bool hf_chat_render(const HfChat* chat, HfText variables, int64_t unix_micros,
                    HfTextSink text, HfTextSink error, void* context);

#ifdef __cplusplus
}
#endif

#endif  // ATTEND_ENGINE_TOKENIZER_RUST_HF_CHAT_H_
