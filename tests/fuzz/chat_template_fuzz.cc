// A chat template, compiled and rendered with a conversation.
#include <string>

#include "engine/tokenizer/rust/hf_chat.h"
#include "engine/tokenizer/rust/rust_call.h"
#include "engine/tokenizer/sandbox/sandbox.h"
#include "tests/fuzz/fuzz.h"

namespace attend {
namespace {

constexpr char kVariables[] = R"({
  "messages": [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": " H\u00e4 \u2028 {{ x }}\n<|im_end|> "},
    {"role": "assistant", "content": "", "reasoning_content": "so",
     "tool_calls": [{"type": "function", "function":
       {"name": "f", "arguments": {"a": 1.5e300, "b": [null, true]}}}]},
    {"role": "tool", "name": "f", "content": [{"type": "text", "text": "1"}]}],
  "tools": [{"type": "function", "function": {"name": "f", "parameters":
    {"type": "object", "properties": {"a": {"type": "number"}}}}}],
  "add_generation_prompt": true, "enable_thinking": false,
  "bos_token": "<s>", "eos_token": "</s>"})";
constexpr int64_t kNow = 1'700'000'000'000'000;

// libFuzzer sees what runs in this process only, and has limits of memory.
#ifdef ATTEND_LIBFUZZER
constexpr bool kHere = true;
#else
constexpr bool kHere = false;
#endif

absl::Status RenderHere(absl::string_view source) {
  RustCall<std::string> call;
  HfChat* const chat =
      hf_chat_load(ToText(source), TakeError<std::string>, &call);
  if (chat == nullptr) return call.Take(false).status();
  const bool rendered = hf_chat_render(chat, ToText(kVariables), kNow, TakeText,
                                       TakeError<std::string>, &call);
  hf_chat_free(chat);
  return call.Take(rendered).status();
}

// Where the server renders.
absl::Status RenderThere(absl::string_view source) {
  const SandboxJob job = {
      .source = source, .variables = kVariables, .unix_micros = kNow};
  return Sandbox::Shared().Run(job, [] { return false; }).status();
}

absl::Status Render(absl::string_view source) {
  return kHere ? RenderHere(source) : RenderThere(source);
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  attend::Accepted(attend::Render(attend::View(data, size)), "");
  return 0;
}
