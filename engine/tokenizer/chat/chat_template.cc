#include "engine/tokenizer/chat/chat_template.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "engine/json/json_file.h"
#include "engine/json/json_parse.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/chat/chat_json.h"
#include "engine/tokenizer/sandbox/sandbox.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;  // templates write objects in their order

// Published templates have at most 20 kB.
constexpr size_t kMaxTemplateBytes = 1 << 20;

// The variable of a template that takes tools.
constexpr char kTools[] = "tools";

// The text that a template makes; errors begin with its place.
absl::StatusOr<std::string> Run(absl::string_view place,
                                absl::string_view source,
                                absl::string_view variables, absl::Time now,
                                absl::FunctionRef<bool()> ended) {
  auto text = Sandbox::Shared().Run({.source = source,
                                     .variables = variables,
                                     .unix_micros = absl::ToUnixMicros(now)},
                                    ended);
  if (text.ok()) return text;
  return absl::Status(text.status().code(),
                      absl::StrCat(place, ": ", text.status().message()));
}

absl::Status Compile(const std::string& place, absl::string_view source) {
  if (source.size() > kMaxTemplateBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": the chat template has ", source.size(),
                     " bytes, limit is ", kMaxTemplateBytes));
  }
  RETURN_IF_ERROR(CheckChatText(place + ": the chat template", source));
  // Without variables it is only compiled.
  return Run(place, source, "", absl::UnixEpoch(), [] { return false; })
      .status();
}

// Clients see the names of files, but not of directories.
absl::Status WithoutDirectory(const std::string& directory,
                              const absl::Status& status) {
  return absl::InvalidArgumentError(
      absl::StrReplaceAll(status.message(), {{directory + "/", ""}}));
}

std::string DumpVariables(const Json& variables) {
  return variables.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

absl::Status ChatTemplate::Add(const Named& named) {
  const std::string key = named.key.empty() ? "" : ": " + named.key;
  const std::string place =
      absl::StrCat(std::filesystem::path(named.file).filename().string(), key);
  const absl::Status good = Compile(place, named.source);
  // A process that ended says nothing of the template.
  if (!good.ok() && !absl::IsInvalidArgument(good)) return good;
  templates_[named.name] = {.place = place,
                            .source = named.source,
                            .refusal = good,
                            .forms = {},
                            .thought = {}};
  return absl::OkStatus();
}

std::unique_ptr<ChatTemplate> ChatTemplate::Refused(absl::Status refusal) {
  std::unique_ptr<ChatTemplate> chat(new ChatTemplate);
  chat->templates_["default"].refusal = std::move(refusal);
  return chat;
}

void ChatTemplate::FindForms() {
  for (auto& [name, found] : templates_) {
    if (!found.refusal.ok()) continue;
    const auto render = [&, &place = found.place,
                         &source = found.source](const Json& variables) {
      Json all = Json::object();
      for (const auto& [token, text] : tokens_) all[token] = text;
      all.update(variables);
      return Run(place, source, DumpVariables(all), absl::UnixEpoch(),
                 [] { return false; });
    };
    const bool tools = absl::StrContains(found.source, kTools);
    found.forms = FindTemplateForms(tools, render);
    found.refusal = found.forms.refusal;
    if (!found.refusal.ok()) {
      found.refusal = absl::InvalidArgumentError(
          absl::StrCat(found.place, ": ", found.refusal.message()));
    } else {
      found.thought = FindThoughtMarks(found.source, found.forms, render);
    }
  }
}

absl::Status ChatTemplate::refusal() const {
  const auto chosen = Choose(false);
  return chosen.ok() ? (*chosen)->refusal : chosen.status();
}

absl::Status ChatTemplate::problem() const {
  RETURN_IF_ERROR(refusal());
  ASSIGN_OR_RETURN(const Template* chosen, Choose(true));
  RETURN_IF_ERROR(chosen->refusal);
  if (chosen->forms.tools != TemplateForms::Tools::kNone ||
      !absl::StrContains(chosen->source, kTools)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(chosen->place,
                   ": the chat template mentions tools, but "
                   "leaves them out in every form"));
}

bool ChatTemplate::takes_tools() const {
  const auto chosen = Choose(true);
  return chosen.ok() && (*chosen)->refusal.ok() &&
         (*chosen)->forms.tools != TemplateForms::Tools::kNone;
}

ThoughtMarks ChatTemplate::thought_marks() const {
  for (const auto& [name, found] : templates_) {
    if (!found.thought.end.empty()) return found.thought;
  }
  return {};
}

bool ChatTemplate::Mentions(absl::string_view text) const {
  return std::any_of(templates_.begin(), templates_.end(), [&](const auto& t) {
    return absl::StrContains(t.second.source, text);
  });
}

absl::Status ChatTemplate::AddFiles(const std::string& directory) {
  const std::string path = directory + "/chat_template.jinja";
  const absl::StatusOr<std::string> source = ReadFile(path);
  if (source.ok()) {
    RETURN_IF_ERROR(Add({"default", path, "", *source}));
  } else if (!absl::IsNotFound(source.status())) {
    return source.status();
  }
  std::error_code missing;
  const std::filesystem::path more = directory + "/additional_chat_templates";
  for (const auto& file : std::filesystem::directory_iterator(more, missing)) {
    if (file.path().extension() != ".jinja") continue;
    ASSIGN_OR_RETURN(const std::string text, ReadFile(file.path().string()));
    RETURN_IF_ERROR(
        Add({file.path().stem().string(), file.path().string(), "", text}));
  }
  return absl::OkStatus();
}

// Adds chat_template of tokenizer_config.json: a text, or a list of objects
// {name, template}.
absl::Status ChatTemplate::AddFields(const std::string& directory) {
  constexpr char kKey[] = "chat_template";
  const std::string path = directory + "/tokenizer_config.json";
  ASSIGN_OR_RETURN(const JsonFile file, JsonFile::LoadOrEmpty(path));
  const nlohmann::json* found = file.Find(kKey);
  if (found == nullptr) return absl::OkStatus();
  if (found->is_string()) {
    return Add({"default", path, kKey, found->get_ref<const std::string&>()});
  }
  if (!found->is_array()) {
    return file.Unexpected(kKey, "a text or a list of {name, template}");
  }
  for (const nlohmann::json& element : *found) {
    ASSIGN_OR_RETURN(const JsonFile named, file.ObjectAt(kKey, element));
    ASSIGN_OR_RETURN(const std::string name, named.StringOr("name", ""));
    ASSIGN_OR_RETURN(const std::string text, named.StringOr("template", ""));
    RETURN_IF_ERROR(Add({name, path, absl::StrCat(kKey, " ", name), text}));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ChatTemplate>> ChatTemplate::Load(
    const std::string& directory) {
  std::unique_ptr<ChatTemplate> chat(new ChatTemplate);
  const absl::Status added = chat->AddAll(directory);
  if (absl::IsInvalidArgument(added)) {
    return Refused(WithoutDirectory(directory, added));
  }
  RETURN_IF_ERROR(added);
  if (chat->templates_.empty()) return nullptr;
  ASSIGN_OR_RETURN(const HfConfig config, LoadHfConfig(directory));
  chat->SetTokens(config);
  chat->FindForms();
  return chat;
}

absl::Status ChatTemplate::AddAll(const std::string& directory) {
  RETURN_IF_ERROR(AddFiles(directory));
  return templates_.empty() ? AddFields(directory) : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ChatTemplate>> ChatTemplate::Create(
    const std::vector<Named>& templates, const HfConfig& config) {
  if (templates.empty()) return nullptr;
  std::unique_ptr<ChatTemplate> chat(new ChatTemplate);
  for (const Named& named : templates) {
    RETURN_IF_ERROR(chat->Add(named));
  }
  chat->SetTokens(config);
  chat->FindForms();
  return chat;
}

void ChatTemplate::SetTokens(const HfConfig& config) {
  const std::pair<const char*, const std::string&> tokens[] = {
      {"bos_token", config.bos},  {"eos_token", config.eos},
      {"unk_token", config.unk},  {"sep_token", config.sep},
      {"pad_token", config.pad},  {"cls_token", config.cls},
      {"mask_token", config.mask}};
  for (const auto& [name, token] : tokens) {
    if (!token.empty()) tokens_.emplace_back(name, token);
  }
}

absl::StatusOr<const ChatTemplate::Template*> ChatTemplate::Choose(
    bool has_tools) const {
  for (const char* name : {"tool_use", "default"}) {
    const auto found = templates_.find(name);
    if (found == templates_.end()) continue;
    if (found->first == "default" || has_tools) return &found->second;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the model has chat templates, but none is named default: ",
      absl::StrJoin(templates_, ", ", [](std::string* out, const auto& entry) {
        absl::StrAppend(out, entry.first);
      })));
}

absl::StatusOr<std::string> ChatTemplate::Render(
    const Chat& chat, absl::Time now, absl::FunctionRef<bool()> ended) const {
  if (chat.messages.empty()) {
    return absl::InvalidArgumentError(
        "messages is empty, must have at least one message");
  }
  Json variables = {{"tools", nullptr}, {"documents", nullptr}};
  for (const auto& [name, token] : tokens_) variables[name] = token;
  ASSIGN_OR_RETURN(const Json more,
                   ParseChatObject("variables", chat.variables));
  variables.update(more);
  ASSIGN_OR_RETURN(const Template* chosen,
                   Choose(!variables["tools"].is_null()));
  RETURN_IF_ERROR(chosen->refusal);
  Json messages = Json::array();
  for (size_t i = 0; i < chat.messages.size(); ++i) {
    ASSIGN_OR_RETURN(Json message, MessageJson(chat.messages[i], i));
    chosen->forms.SetContent(message);
    messages.push_back(std::move(message));
  }
  variables["messages"] = std::move(messages);
  variables["add_generation_prompt"] = chat.add_generation_prompt;
  chosen->forms.SetTools(variables);
  auto text =
      Run(chosen->place, chosen->source, DumpVariables(variables), now, ended);
  if (text.ok() || !absl::IsInvalidArgument(text.status())) return text;
  // The template may take no arguments but objects, and no long ids.
  const bool wraps = WrapArguments(variables["messages"]);
  if (!ShortenIds(variables["messages"]) && !wraps) return text;
  auto again =
      Run(chosen->place, chosen->source, DumpVariables(variables), now, ended);
  return again.ok() ? again : text;
}

}  // namespace attend
