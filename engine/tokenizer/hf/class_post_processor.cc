#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "engine/tokenizer/hf/class_json.h"
#include "engine/tokenizer/hf/class_values.h"
#include "engine/tokenizer/text/class_table.h"

namespace attend {
namespace {

using Json = nlohmann::json;

// A role without a token, as Python writes it.
constexpr char kNone[] = "None";

using IdOf = std::function<int(absl::string_view)>;

// The id that a class has for a role without a token; -1: the class refuses it.
int IdOfNone(const Json& row, const HfConfig& config, const IdOf& id_of) {
  const Json ids = row.value("none_ids", Json::object());
  int id = -1;
  for (const auto& [role, value] : ids.items()) {
    if (!RoleText(config, role).empty()) continue;
    id = value.is_number() ? value.get<int>() : id_of(RoleText(config, value));
  }
  return id;
}

// "cls:0 A:0 sep:0" as a list of TemplateProcessing. Adds the tokens to `used`.
Json TemplateOf(absl::string_view symbols, const Json& row,
                const HfConfig& config, std::set<std::string>& used) {
  Json list = Json::array();
  for (const absl::string_view symbol : absl::StrSplit(symbols, ' ')) {
    const std::vector<std::string> parts = absl::StrSplit(symbol, ':');
    const bool text = parts[0] == "A" || parts[0] == "B";
    std::string id = parts[0];
    if (id == "question") {
      id = "[QUESTION]";
      const Json* said = config.settings->Find("question_token");
      // As a text in the files it does not reach the class.
      if (said != nullptr && said->is_object()) id = said->value("content", id);
    } else if (!text && id != ".") {
      id = RoleText(config, id);
      if (id.empty() && row.value("drops_none", false)) continue;
      if (id.empty()) id = kNone;
    }
    if (!text) used.insert(id);
    list.push_back({{text ? "Sequence" : "SpecialToken",
                     {{"id", id}, {"type_id", parts[1][0] - '0'}}}});
  }
  return list;
}

// The templates of a tokenizer whose class has none: add_bos_token and
// add_eos_token say what stands around a text.
Json DefaultFrame(const HfConfig& config, bool adds_bos) {
  std::string single = "A:0", pair = " B:1";
  if (config.adds_bos.value_or(adds_bos) && !config.bos.empty()) {
    single = "bos:0 " + single;
    pair = " bos:1" + pair;
  }
  if (config.adds_eos.value_or(false) && !config.eos.empty()) {
    single += " eos:0";
    pair += " eos:1";
  }
  return {{"single", single}, {"pair", single + pair}};
}

// The post-processor of the row, not filled; null: that of the file stays.
Json PostOf(const Json& row, const HfConfig& config, bool has_own) {
  const Json post = row.value("post", Json());
  if (config.of_parts && post.is_object() && post.contains("default")) {
    return DefaultFrame(config, post["default"]);
  }
  // Classes that add tokens once more make the default of a missing one.
  const bool again = row.value("respecial", Json()) == "extra";
  const bool said = config.adds_bos || config.adds_eos;
  if (!has_own && (again || (post.is_null() && said))) {
    return DefaultFrame(config, false);
  }
  if (post.is_null() && !has_own) return row.value("post_if_none", Json());
  return post;
}

// A post-processor of another type than a template, with its tokens.
Json Filled(const Json& row, const Json& post, const HfConfig& config,
            const IdOf& id_of) {
  Json filled = ClassValues(row, config, nullptr).Fill(post);
  for (const char* key : {"sep", "cls"}) {
    if (!filled.contains(key) || !filled[key].is_null()) continue;
    const std::string name = row["post"][key];
    const std::string& token = RoleText(config, name.substr(1));
    const int id = token.empty() ? IdOfNone(row, config, id_of) : id_of(token);
    if (id < 0) return nullptr;
    filled[key] = {token.empty() ? kNone : token, id};
  }
  return filled;
}

}  // namespace

Json ClassPostProcessor(const HfConfig& config, bool has_own,
                        const IdOf& id_of) {
  static const auto* none = new Json(Json::object());
  const Json* row = FindClassRow(config.tokenizer_class);
  if (!config.built_by_class || row == nullptr) {
    if (!config.adds_bos && !config.adds_eos) return nullptr;
    row = none;
    has_own = false;
  }
  const Json post = PostOf(*row, config, has_own);
  if (post.is_null()) return nullptr;
  if (!post.contains("single")) return Filled(*row, post, config, id_of);
  std::set<std::string> used;
  Json made = {
      {"type", "TemplateProcessing"},
      {"single",
       TemplateOf(post["single"].get<std::string>(), *row, config, used)},
      {"pair", TemplateOf(post["pair"].get<std::string>(), *row, config, used)},
      {"special_tokens", Json::object()}};
  for (const std::string& token : used) {
    const int id =
        token == kNone ? IdOfNone(*row, config, id_of) : id_of(token);
    if (id < 0) return nullptr;
    made["special_tokens"][token] = {
        {"id", token}, {"ids", {id}}, {"tokens", {token}}};
  }
  return made;
}

}  // namespace attend
