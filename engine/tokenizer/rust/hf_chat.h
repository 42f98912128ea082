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
// Filters, tests, functions, operators and methods are those of Python's Jinja
// (tests/field/jinja.json). Known differences:
// * integers have 128 bits, and True and 1 are two keys of a map;
// * generators and ranges are lists; a method is not found by a subscript;
// * macros take no more arguments than they name (varargs, kwargs);
// * `with a = 1, b = a` reads the new `a`, and the tag `autoescape` does
//   nothing;
// * there is no filter `urlize` and no function `lipsum`.

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
