#include "engine/tokenizer/chat/chat_template.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/json/json_file.h"
#include "engine/json/json_parse.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/sandbox/sandbox.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;  // templates write objects in their order

// Published templates have at most 20 kB.
constexpr size_t kMaxTemplateBytes = 1 << 20;

absl::Status CheckUtf8(absl::string_view name, absl::string_view text) {
  const size_t invalid = FindInvalidUtf8(text);
  if (invalid == absl::string_view::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is not UTF-8 at byte ", invalid));
}

// The JSON object in `text`; an empty object if `text` is empty.
absl::StatusOr<Json> ParseObject(absl::string_view name,
                                 absl::string_view text) {
  if (text.empty()) return Json::object();
  return ParseOrderedJsonObject(name, text);
}

// The reasoning of a message has three names. Templates read the first or the
// second: sets both.
void NameReasoning(Json& message) {
  for (const char* name : {"reasoning_content", "thinking", "reasoning"}) {
    if (!message.contains(name)) continue;
    Json reasoning = message[name];
    Json named = Json::object({{"thinking", reasoning}});
    named.update(message);
    named["reasoning_content"] = std::move(reasoning);
    message = std::move(named);
    return;
  }
}

absl::StatusOr<Json> ToJson(const ChatMessage& message, size_t index) {
  const std::string name = absl::StrCat("messages[", index, "]");
  RETURN_IF_ERROR(CheckUtf8(name + ".role", message.role));
  RETURN_IF_ERROR(CheckUtf8(name + ".content", message.content));
  ASSIGN_OR_RETURN(const Json fields,
                   ParseObject(name + ".fields", message.fields));
  Json json = {{"role", message.role}, {"content", message.content}};
  json.update(fields);
  for (auto field = json.begin(); field != json.end();) {
    field = field->is_null() ? json.erase(field) : std::next(field);
  }
  NameReasoning(json);
  return json;
}

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

}  // namespace

absl::Status ChatTemplate::Add(const Named& named) {
  const std::string key = named.key.empty() ? "" : ": " + named.key;
  const std::string place = named.file + key;
  if (named.source.size() > kMaxTemplateBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": the chat template has ", named.source.size(),
                     " bytes, limit is ", kMaxTemplateBytes));
  }
  RETURN_IF_ERROR(CheckUtf8(place + ": the chat template", named.source));
  // Without variables it is only compiled.
  RETURN_IF_ERROR(Run(place, named.source, "", absl::UnixEpoch(), [] {
                    return false;
                  }).status());
  const std::string name = std::filesystem::path(named.file).filename();
  templates_[named.name] = {name + key, named.source};
  return absl::OkStatus();
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
  RETURN_IF_ERROR(chat->AddFiles(directory));
  if (chat->templates_.empty()) RETURN_IF_ERROR(chat->AddFields(directory));
  if (chat->templates_.empty()) return nullptr;
  ASSIGN_OR_RETURN(const HfConfig config, LoadHfConfig(directory));
  chat->SetTokens(config);
  return chat;
}

absl::StatusOr<std::unique_ptr<ChatTemplate>> ChatTemplate::Create(
    const std::vector<Named>& templates, const HfConfig& config) {
  if (templates.empty()) return nullptr;
  std::unique_ptr<ChatTemplate> chat(new ChatTemplate);
  for (const Named& named : templates) {
    RETURN_IF_ERROR(chat->Add(named));
  }
  chat->SetTokens(config);
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
  ASSIGN_OR_RETURN(const Json more, ParseObject("variables", chat.variables));
  variables.update(more);
  Json messages = Json::array();
  for (size_t i = 0; i < chat.messages.size(); ++i) {
    ASSIGN_OR_RETURN(Json message, ToJson(chat.messages[i], i));
    messages.push_back(std::move(message));
  }
  variables["messages"] = std::move(messages);
  variables["add_generation_prompt"] = chat.add_generation_prompt;

  ASSIGN_OR_RETURN(const Template* chosen,
                   Choose(!variables["tools"].is_null()));
  const std::string json =
      variables.dump(-1, ' ', false, Json::error_handler_t::replace);
  return Run(chosen->place, chosen->source, json, now, ended);
}

}  // namespace attend
