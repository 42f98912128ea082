#include "engine/tokenizer/chat/template_forms.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;
using Render =
    absl::FunctionRef<absl::StatusOr<std::string>(const Json& variables)>;

// A word that no template has.
std::string MarkOf(absl::string_view role) {
  return absl::StrCat("qzx", role, "mark7");
}

// Templates may change the case of what they write.
bool Shows(const absl::StatusOr<std::string>& text, absl::string_view role) {
  return text.ok() &&
         absl::StrContains(absl::AsciiStrToLower(*text), MarkOf(role));
}

Json Parts(const std::string& text) {
  return Json::array({{{"type", "text"}, {"text", text}}});
}

Json Conversation(std::initializer_list<const char*> roles,
                  const TemplateForms& forms) {
  Json messages = Json::array();
  for (const char* role : roles) {
    Json message = {{"role", role}, {"content", MarkOf(role)}};
    forms.SetContent(message);
    messages.push_back(std::move(message));
  }
  return {{"messages", std::move(messages)},
          {"tools", nullptr},
          {"documents", nullptr},
          {"add_generation_prompt", true}};
}

// A template that takes too long for one form takes too long for all.
bool TooLong(const absl::StatusOr<std::string>& text) {
  return !text.ok() && (absl::StrContains(text.status().message(), "takes") ||
                        !absl::IsInvalidArgument(text.status()));
}

// Finds the form of what a user writes. False: nothing more is to be tried.
bool FindUserForm(Render render, TemplateForms& forms) {
  const auto text = render(Conversation({"user"}, forms));
  if (Shows(text, "user")) return true;
  if (TooLong(text)) return false;
  forms.parts_roles = {"user"};
  const auto parts = render(Conversation({"user"}, forms));
  if (Shows(parts, "user")) return true;
  forms.parts_roles.clear();
  if (text.ok() && parts.ok()) {
    forms.refusal = absl::InvalidArgumentError(
        "the chat template leaves out what a user writes, whether content is a "
        "text or a list of parts");
  }
  return false;
}

// The other roles have the form of a text where the template shows it.
void FindOtherForms(Render render, TemplateForms& forms) {
  for (const char* role : {"system", "assistant"}) {
    const auto show = [&](const TemplateForms& tried) {
      return render(role == std::string("system")
                        ? Conversation({"system", "user"}, tried)
                        : Conversation({"user", "assistant", "user"}, tried));
    };
    const auto text = show(forms);
    if (Shows(text, role)) continue;
    if (TooLong(text)) return;
    TemplateForms tried = forms;
    tried.parts_roles.push_back(role);
    if (Shows(show(tried), role)) forms = tried;
  }
}

Json MarkedTools() {
  const Json parameters = {
      {"type", "object"},
      {"properties", {{"city", {{"type", "string"}, {"description", "d"}}}}},
      {"required", Json::array({"city"})}};
  return Json::array({{{"type", "function"},
                       {"function",
                        {{"name", MarkOf("tool")},
                         {"description", "d"},
                         {"parameters", parameters}}}}});
}

TemplateForms::Tools FindToolsForm(Render render, const TemplateForms& forms) {
  bool failed = false;
  for (const auto form :
       {TemplateForms::Tools::kVariable, TemplateForms::Tools::kWithSystem,
        TemplateForms::Tools::kSystem}) {
    TemplateForms tried = forms;
    tried.tools = form;
    Json variables = Conversation({"user"}, forms);
    variables["tools"] = MarkedTools();
    tried.SetTools(variables);
    const auto text = render(variables);
    if (Shows(text, "tool")) return form;
    failed |= !text.ok();
    if (TooLong(text)) break;
  }
  // An error does not mean that tools are left out.
  return failed ? TemplateForms::Tools::kVariable : TemplateForms::Tools::kNone;
}

}  // namespace

void TemplateForms::SetContent(Json& message) const {
  Json& content = message["content"];
  if (!content.is_string() ||
      std::find(parts_roles.begin(), parts_roles.end(),
                message.value("role", "")) == parts_roles.end()) {
    return;
  }
  content = Parts(content.get<std::string>());
}

void TemplateForms::SetTools(Json& variables) const {
  if (tools != Tools::kWithSystem && tools != Tools::kSystem) return;
  const Json given = variables["tools"];
  Json& messages = variables["messages"];
  if (!given.is_array() || given.empty() || messages.empty()) return;
  if (messages[0].value("role", "") != "system") {
    Json system = {{"role", "system"}, {"content", ""}};
    SetContent(system);
    messages.insert(messages.begin(), std::move(system));
  }
  if (tools == Tools::kWithSystem) return;
  Json functions = Json::array();
  for (const Json& tool : given) {
    functions.push_back(tool.is_object() && tool.contains("function")
                            ? tool["function"]
                            : tool);
  }
  if (!messages[0].contains("tools")) {
    messages[0]["tools"] =
        functions.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

TemplateForms FindTemplateForms(bool mentions_tools, Render render) {
  TemplateForms forms;
  // Until it is known better.
  if (mentions_tools) forms.tools = TemplateForms::Tools::kVariable;
  if (!FindUserForm(render, forms)) return forms;
  FindOtherForms(render, forms);
  if (mentions_tools) forms.tools = FindToolsForm(render, forms);
  return forms;
}

}  // namespace attend
