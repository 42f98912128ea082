// A chat template, compiled and rendered with a conversation.
#include <string>

#include "tests/fuzz/fuzz.h"

#ifdef ATTEND_LIBFUZZER
#include "engine/tokenizer/rust/hf_chat.h"
#include "engine/tokenizer/rust/rust_call.h"
#else
#include "engine/tokenizer/sandbox/sandbox.h"
#endif

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

// Coverage is seen in this process only, and limits of memory are libFuzzer's.
// Without it the templates are rendered where the server renders them.
#ifdef ATTEND_LIBFUZZER
absl::Status Render(absl::string_view source) {
  RustCall<std::string> call;
  HfChat* chat = hf_chat_load(ToText(source), TakeError<std::string>, &call);
  if (chat == nullptr) return call.status();
  const bool rendered = hf_chat_render(chat, ToText(kVariables), kNow, TakeText,
                                       TakeError<std::string>, &call);
  hf_chat_free(chat);
  return rendered ? absl::OkStatus() : call.status();
}
#else
absl::Status Render(absl::string_view source) {
  const SandboxJob job = {
      .source = source, .variables = kVariables, .unix_micros = kNow};
  return Sandbox::Shared().Run(job, [] { return false; }).status();
}
#endif

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  attend::Accepted(attend::Render(attend::View(data, size)), "");
  return 0;
}
