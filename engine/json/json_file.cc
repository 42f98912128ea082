#include "engine/json/json_file.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_parse.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

using Json = nlohmann::json;

bool InRange(const Json& value, IntRange range) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() >
          static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return false;
  }
  const int64_t number = value.get<int64_t>();
  return number >= range.min && number <= range.max;
}

std::string RangeText(IntRange range) {
  return absl::StrCat("in [", range.min, ", ", range.max, "]");
}

// Appends `value`, which is an integer in range or a list of these. False if it
// is something else.
bool AppendInts(const Json& value, IntRange range, std::vector<int>& ints) {
  if (!value.is_array()) {
    if (!InRange(value, range)) return false;
    ints.push_back(value.get<int>());
    return true;
  }
  for (const Json& element : value) {
    if (!InRange(element, range)) return false;
    ints.push_back(element.get<int>());
  }
  return true;
}

double NumberOf(const Json& value) {
  return value.is_number() ? value.get<double>() : std::nan("");
}

// Empties a tree from its leaves up. A tree that is not empty allocates a list
// while it is destroyed, which would end the process where memory is short.
void Clear(Json& value) {
  if (!value.is_structured()) return;
  for (Json& element : value) Clear(element);
  value.clear();
}

std::shared_ptr<const Json> Share(Json tree) {
  return {new Json(std::move(tree)), [](Json* shared) {
            Clear(*shared);
            delete shared;
          }};
}

}  // namespace

JsonFile::JsonFile(std::string path, std::shared_ptr<const Json> top)
    : path_(std::move(path)), top_(std::move(top)) {}

absl::StatusOr<JsonFile> JsonFile::Load(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return Parse(path, text);
}

absl::StatusOr<JsonFile> JsonFile::LoadOrEmpty(const std::string& path) {
  absl::StatusOr<JsonFile> file = Load(path);
  return absl::IsNotFound(file.status()) ? Parse(path, "{}") : file;
}

absl::StatusOr<JsonFile> JsonFile::Parse(std::string name,
                                         absl::string_view text) {
  ASSIGN_OR_RETURN(Json top, ParseJsonObject(name, text));
  return Of(std::move(name), std::move(top));
}

JsonFile JsonFile::Of(std::string name, Json object) {
  return JsonFile(std::move(name), Share(std::move(object)));
}

std::vector<JsonFile> JsonFile::ObjectsOf(
    const std::string& name, const std::shared_ptr<const Json>& list) {
  std::vector<JsonFile> objects;
  for (const Json& element : *list) {
    if (!list->is_array() || !element.is_object()) break;
    objects.push_back(JsonFile(absl::StrCat(name, "[", objects.size(), "]"),
                               std::shared_ptr<const Json>(list, &element)));
  }
  return objects;
}

absl::StatusOr<std::vector<JsonFile>> JsonFile::LoadList(
    const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(Json parsed, ParseJson(path, text));
  const auto top = Share(std::move(parsed));
  std::vector<JsonFile> objects = ObjectsOf(absl::StrCat(path, ": "), top);
  if (top->is_array() && objects.size() == top->size()) return objects;
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": is ", JsonText(*top), ", expected a list of json objects"));
}

const Json* JsonFile::Find(absl::string_view key) const {
  const auto found = top_->find(std::string(key));
  if (found == top_->end() || found->is_null()) return nullptr;
  return &*found;
}

bool JsonFile::Has(absl::string_view key) const { return Find(key) != nullptr; }

bool JsonFile::IsNull(absl::string_view key) const {
  const auto found = top_->find(std::string(key));
  return found != top_->end() && found->is_null();
}

absl::Status JsonFile::Unexpected(absl::string_view key,
                                  absl::string_view expected) const {
  const Json* value = Find(key);
  return absl::InvalidArgumentError(absl::StrCat(
      path_, ": ", key, " is ", value == nullptr ? "missing" : JsonText(*value),
      ", expected ", expected));
}

absl::StatusOr<int64_t> JsonFile::Int(absl::string_view key,
                                      IntRange range) const {
  const Json* value = Find(key);
  if (value == nullptr || !InRange(*value, range)) {
    return Unexpected(key, absl::StrCat("an integer ", RangeText(range)));
  }
  return value->get<int64_t>();
}

absl::StatusOr<double> JsonFile::Float(absl::string_view key,
                                       FloatRange range) const {
  const Json* value = Find(key);
  const double number = value == nullptr ? std::nan("") : NumberOf(*value);
  if (!(number >= range.min && number <= range.max)) {
    return Unexpected(
        key, absl::StrCat("a number in [", range.min, ", ", range.max, "]"));
  }
  return number;
}

absl::StatusOr<bool> JsonFile::Bool(absl::string_view key) const {
  const Json* value = Find(key);
  if (value == nullptr || !value->is_boolean()) {
    return Unexpected(key, "true or false");
  }
  return value->get<bool>();
}

absl::StatusOr<std::vector<int>> JsonFile::Ints(absl::string_view key,
                                                IntRange range) const {
  const Json* value = Find(key);
  std::vector<int> ints;
  if (value == nullptr || !AppendInts(*value, range, ints)) {
    return Unexpected(key, absl::StrCat("an integer or a list of integers ",
                                        RangeText(range)));
  }
  return ints;
}

absl::StatusOr<std::vector<float>> JsonFile::Floats(absl::string_view key,
                                                    size_t count,
                                                    FloatRange range) const {
  const Json* value = Find(key);
  std::vector<float> floats;
  if (value != nullptr && value->is_array()) {
    for (const Json& element : *value) {
      const double number = NumberOf(element);
      if (!(number >= range.min && number <= range.max)) break;
      floats.push_back(static_cast<float>(number));
    }
    if (floats.size() == count && value->size() == count) return floats;
  }
  return Unexpected(key, absl::StrCat("a list of ", count, " numbers in [",
                                      range.min, ", ", range.max, "]"));
}

absl::StatusOr<std::vector<std::vector<int>>> JsonFile::IntLists(
    absl::string_view key, IntRange range) const {
  const Json* value = Find(key);
  const absl::Status error = Unexpected(
      key, absl::StrCat("a list of lists of integers ", RangeText(range)));
  if (value == nullptr || !value->is_array()) return error;
  std::vector<std::vector<int>> lists;
  for (const Json& element : *value) {
    lists.emplace_back();
    if (!element.is_array() || !AppendInts(element, range, lists.back())) {
      return error;
    }
  }
  return lists;
}

absl::StatusOr<std::vector<std::pair<std::vector<int>, double>>>
JsonFile::IntListsWithNumbers(absl::string_view key, IntRange range) const {
  const Json* value = Find(key);
  const absl::Status error =
      Unexpected(key, absl::StrCat("a list of pairs: a list of integers ",
                                   RangeText(range), " and a number"));
  if (value == nullptr || !value->is_array()) return error;
  std::vector<std::pair<std::vector<int>, double>> pairs;
  for (const Json& element : *value) {
    if (!element.is_array() || element.size() != 2 || !element[0].is_array() ||
        !element[1].is_number()) {
      return error;
    }
    pairs.emplace_back(std::vector<int>(), element[1].get<double>());
    if (!AppendInts(element[0], range, pairs.back().first)) return error;
  }
  return pairs;
}

absl::StatusOr<JsonFile> JsonFile::Object(absl::string_view key) const {
  const Json* value = Find(key);
  return value == nullptr ? Unexpected(key, "an object")
                          : ObjectAt(key, *value);
}

absl::StatusOr<JsonFile> JsonFile::ObjectAt(absl::string_view key,
                                            const Json& value) const {
  if (!value.is_object()) return Unexpected(key, "an object");
  return JsonFile(absl::StrCat(path_, ": ", key),
                  std::shared_ptr<const Json>(top_, &value));
}

JsonFile JsonFile::WithFallback(const JsonFile& fallback) const {
  Json merged = *fallback.top_;
  for (const auto& [key, value] : top_->items()) {
    if (!value.is_null()) merged[key] = value;
  }
  return Of(path_, std::move(merged));
}

absl::StatusOr<std::vector<JsonFile>> JsonFile::Objects(
    absl::string_view key) const {
  const Json* value = Find(key);
  if (value == nullptr) return Unexpected(key, "a list of objects");
  std::vector<JsonFile> objects = ObjectsOf(
      absl::StrCat(path_, ": ", key), std::shared_ptr<const Json>(top_, value));
  if (value->is_array() && objects.size() == value->size()) return objects;
  return Unexpected(key, "a list of objects");
}

absl::Status JsonFile::ExpectOnly(
    absl::Span<const absl::string_view> keys) const {
  for (const auto& [key, value] : top_->items()) {
    const bool known = absl::c_linear_search(keys, key);
    if (known && !value.is_null()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": ", known ? "null for key '" : "unknown key '",
                     absl::CHexEscape(key.substr(0, 100)), "'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> JsonFile::IntOr(absl::string_view key, int64_t fallback,
                                        IntRange range) const {
  if (!Has(key)) return fallback;
  return Int(key, range);
}

absl::StatusOr<double> JsonFile::FloatOr(absl::string_view key, double fallback,
                                         FloatRange range) const {
  if (!Has(key)) return fallback;
  return Float(key, range);
}

absl::StatusOr<bool> JsonFile::BoolOr(absl::string_view key,
                                      bool fallback) const {
  if (!Has(key)) return fallback;
  return Bool(key);
}

absl::Status JsonFile::ExpectNeutral(absl::string_view key,
                                     double neutral) const {
  const Json* value = Find(key);
  if (value == nullptr) return absl::OkStatus();
  const bool is_neutral = value->is_boolean()  ? !value->get<bool>()
                          : value->is_number() ? value->get<double>() == neutral
                          : value->is_string()
                              ? value->get_ref<const std::string&>().empty()
                              : value->empty();
  if (is_neutral) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path_, ": ", key, " is ", JsonText(*value), ", which is not supported"));
}

}  // namespace attend
