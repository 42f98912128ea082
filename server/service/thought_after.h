#ifndef ATTEND_SERVER_SERVICE_THOUGHT_AFTER_H_
#define ATTEND_SERVER_SERVICE_THOUGHT_AFTER_H_

#include "absl/strings/string_view.h"
#include "engine/api/thought.h"
#include "engine/tokenizer/chat/chat_template.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// The thought that an answer to `prompt`, a text of `chat`, may begin with. Its
// marks are those of the template, or else known ones that are tokens of the
// vocabulary. Some prompts begin the thought, others end it at once, so that
// the model does not think.
Thought ThoughtAfter(absl::string_view prompt, const ChatTemplate& chat,
                     const Tokenizer& tokenizer);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_THOUGHT_AFTER_H_
