#ifndef ATTEND_ENGINE_TOKENIZER_CHAT_TEMPLATE_FORMS_H_
#define ATTEND_ENGINE_TOKENIZER_CHAT_TEMPLATE_FORMS_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attend {

// The forms in which a chat template reads what a conversation has. A template
// leaves out, without an error, what it expects in another form, so the forms
// are found by rendering marked conversations.
struct TemplateForms {
  enum class Tools {
    kNone,        // the template leaves tools out
    kVariable,    // the variable `tools`
    kWithSystem,  // the same, but only beside a system message
    kSystem,      // the field `tools` of the system message, as JSON text
  };

  // Roles of which `content` has to be a list of parts, not a text.
  std::vector<std::string> parts_roles;
  Tools tools = Tools::kNone;
  // OK, or why the template is of no use: it leaves out what a user writes in
  // every form.
  absl::Status refusal;

  // Puts the content of a message, a text, and the tools among `variables` into
  // the forms that the template reads.
  void SetContent(nlohmann::ordered_json& message) const;
  void SetTools(nlohmann::ordered_json& variables) const;
};

// Finds the forms. `render` renders a conversation by the template; its errors
// tell nothing about a form. `mentions_tools`: tools are tried, too.
TemplateForms FindTemplateForms(bool mentions_tools,
                                absl::FunctionRef<absl::StatusOr<std::string>(
                                    const nlohmann::ordered_json& variables)>
                                    render);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_CHAT_TEMPLATE_FORMS_H_
