#ifndef ATTEND_SERVER_OPENAI_CALL_TAGS_H_
#define ATTEND_SERVER_OPENAI_CALL_TAGS_H_

#include "absl/strings/string_view.h"

namespace attend {

// The tags around one call or several.
struct CallTags {
  absl::string_view open, close;
};

// Tags that are text. The first is that of kTagged; the second is a part of its
// call; that of kFunction may be any.
inline constexpr CallTags kCallTags[] = {
    {"<tool_call>", "</tool_call>"},      // Hermes, Qwen, SmolLM3, GLM
    {"<function=", "</function>"},        // Llama 3.1, Qwen3-Coder
    {"<|tool_call|>", "<|/tool_call|>"},  // Phi-4-mini, Granite
    {"<TOOLCALL>", "</TOOLCALL>"},        // Nemotron
    {"<tool_calls>", "</tool_calls>"},    // Hunyuan, Jamba
    {"<seed:tool_call>", "</seed:tool_call>"},
    {"<minimax:tool_call>", "</minimax:tool_call>"},
    {"<function_calls>", "</function_calls>"},
    {"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"},              // DeepSeek
    {"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"},  // Kimi
};
inline constexpr const CallTags& kToolCall = kCallTags[0];
inline constexpr const CallTags& kFunctionTag = kCallTags[1];

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_CALL_TAGS_H_
