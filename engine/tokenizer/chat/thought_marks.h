#ifndef ATTEND_ENGINE_TOKENIZER_CHAT_THOUGHT_MARKS_H_
#define ATTEND_ENGINE_TOKENIZER_CHAT_THOUGHT_MARKS_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/tokenizer/chat/template_forms.h"

namespace attend {

// The marks around what a model thinks before it answers, as "<think>" and
// "</think>". Both are empty if there are none.
struct ThoughtMarks {
  std::string begin, end;
};

// The marks of published models.
absl::Span<const ThoughtMarks> KnownThoughtMarks();

// The marks that a chat template has: known ones in its source, or else those
// between which it shows the thought of an answer, which clients and templates
// have in fields of several names. `render` renders a conversation by the
// template.
ThoughtMarks FindThoughtMarks(absl::string_view source,
                              const TemplateForms& forms,
                              absl::FunctionRef<absl::StatusOr<std::string>(
                                  const nlohmann::ordered_json& variables)>
                                  render);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_CHAT_THOUGHT_MARKS_H_
