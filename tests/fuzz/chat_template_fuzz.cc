// A chat template, compiled and rendered with a conversation.
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

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  const SandboxJob job = {.source = View(data, size),
                          .variables = kVariables,
                          .unix_micros = 1'700'000'000'000'000};
  Accepted(Sandbox::Shared().Run(job, [] { return false; }).status(), "");
  return 0;
}
