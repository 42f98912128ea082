#ifndef ATTEND_ENGINE_TOKENIZER_RUST_HF_CHAT_H_
#define ATTEND_ENGINE_TOKENIZER_RUST_HF_CHAT_H_

#include "engine/tokenizer/rust/hf_tokenizer.h"

// Chat templates as C functions: Jinja by `minijinja` (Rust), set up as in
// transformers 5.23. Results are passed as in hf_tokenizer.h.
//
// A rendering has limits of its steps, of the depth of macros and of the size
// of its output. It has no limits of memory, stack and time: a single step may
// work on values that have become huge. Therefore a template that is not
// trusted must be rendered in a process of its own (engine/tokenizer/sandbox).
// Messages are harmless: they are only text.
//
// Known differences from Python's Jinja:
// * `%` does not format strings; there is no str.format() and no filter
//   `format`;
// * `~` writes floats with Rust's exponents, and nested lists with double
//   quotes;
// * a text that is joined to a text marked safe is not escaped;
// * a for loop over none has no turns.

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HfChat HfChat;

HfChat* hf_chat_load(HfText source, HfTextSink error, void* context);
void hf_chat_free(HfChat* chat);

// `variables`: the variables of the template, as a JSON object. strftime_now()
// gives the time `unix_micros` as local time. Any thread may call it.
bool hf_chat_render(const HfChat* chat, HfText variables, int64_t unix_micros,
                    HfTextSink text, HfTextSink error, void* context);

#ifdef __cplusplus
}
#endif

#endif  // ATTEND_ENGINE_TOKENIZER_RUST_HF_CHAT_H_
