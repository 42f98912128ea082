#include "server/connect/json_message.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_parse.h"
#include "engine/tensor/check.h"
#include "server/connect/json_scalar.h"
#include "server/http_call/http_status.h"
#include "server/http_call/json_value.h"

namespace attend {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr size_t kMaxShownName = 100;

// Fills a message from the parser's events, so that no JSON is kept. An object
// that no field expects is an error at its first character; so the levels of
// the JSON are those of the message.
class MessageBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit MessageBuilder(Message& top) : top_(top) {}

  bool null() override {
    if (levels_.empty()) return FailTop();
    // The same as an absent field.
    const bool has_place = level().in_list || level().map != nullptr;
    return has_place ? Fail("is null, must be a value") : true;
  }
  bool boolean(bool value) override { return Set(value); }
  bool number_integer(int64_t value) override { return Set(value); }
  bool number_unsigned(uint64_t value) override { return Set(value); }
  bool number_float(double value, const std::string&) override {
    return Set(value);
  }
  bool string(std::string& value) override { return Set(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) override { return FailTop(); }
  bool start_object(size_t) override;
  bool key(std::string& name) override;
  bool end_object() override {
    levels_.pop_back();
    return EndValue();
  }
  bool start_array(size_t) override;
  bool end_array() override {
    level().in_list = false;
    return EndValue();
  }
  bool parse_error(size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    error_ = absl::InvalidArgumentError(
        absl::StrCat("the body: not valid json: ", ShortText(error.what())));
    return false;
  }

  const absl::Status& error() const { return error_; }

 private:
  // An object that is being read.
  struct Level {
    Message* message;    // its field gets the next value
    Message* map_owner;  // the message with the map, or null
    const FieldDescriptor* map;
    const FieldDescriptor* field = nullptr;  // field of the last key
    std::string key = {};                    // last key of a map
    bool in_list = false;
    int64_t entries = 0;              // number of list entries read
    std::set<std::string> seen = {};  // names of fields, or keys of a map
  };

  Level& level() { return levels_.back(); }
  bool OpenMap();
  bool FindField(const std::string& name);
  bool NewEntry(const std::string& key);
  bool Set(JsonScalar value);
  bool EndValue() {
    if (!levels_.empty() && level().in_list) ++level().entries;
    return true;
  }
  // False, with an error, if the field must not be set.
  bool CheckOneof();

  // The name of the place of the current value: "inputs[0].tokens.ids[3]".
  std::string Place() const;
  bool Fail(absl::string_view problem) {
    error_ = FieldError(Place(), problem);
    return false;
  }
  bool FailTop() {
    error_ = absl::InvalidArgumentError("the body must be a JSON object");
    return false;
  }
  bool FailObject() {
    const FieldDescriptor& field = *level().field;
    const bool wants_list = field.is_repeated() && !level().in_list;
    return Fail(absl::StrCat("is an object, must be ",
                             wants_list ? "a list" : ExpectedJson(field)));
  }

  Message& top_;
  std::vector<Level> levels_;
  absl::Status error_;
};

std::string MessageBuilder::Place() const {
  std::string place;
  for (const Level& at : levels_) {
    if (at.field == nullptr) continue;
    if (at.map != nullptr) {
      absl::StrAppend(&place, "[",
                      absl::CHexEscape(at.key.substr(0, kMaxShownName)), "]");
      continue;
    }
    absl::StrAppend(&place, place.empty() ? "" : ".", at.field->name());
    if (at.in_list) absl::StrAppend(&place, "[", at.entries, "]");
  }
  return place;
}

bool MessageBuilder::start_object(size_t) {
  if (levels_.empty()) {
    levels_.push_back({&top_, nullptr, nullptr});
    return true;
  }
  const FieldDescriptor& field = *level().field;
  if (field.is_map() && level().in_list) return FailObject();
  if (field.is_map()) {
    levels_.push_back({nullptr, level().message, &field});
    return true;
  }
  const bool is_object = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
                         !IsDuration(field);
  if (!is_object || field.is_repeated() != level().in_list) {
    return FailObject();
  }
  if (!CheckOneof()) return false;
  Message& message = *level().message;
  const auto& reflection = *message.GetReflection();
  levels_.push_back({field.is_repeated()
                         ? reflection.AddMessage(&message, &field)
                         : reflection.MutableMessage(&message, &field),
                     nullptr, nullptr});
  return true;
}

bool MessageBuilder::key(std::string& name) {
  return level().map == nullptr ? FindField(name) : NewEntry(name);
}

bool MessageBuilder::FindField(const std::string& name) {
  const auto& descriptor = *level().message->GetDescriptor();
  level().field = nullptr;  // places end with the object
  const FieldDescriptor* field = descriptor.FindFieldByName(name);
  if (field == nullptr) field = descriptor.FindFieldByCamelcaseName(name);
  const std::string place = Place();
  const std::string full = absl::StrCat(
      place, place.empty() ? "" : ".",
      field == nullptr ? absl::CHexEscape(name.substr(0, kMaxShownName))
                       : field->name());
  if (field == nullptr) {
    error_ = FieldError(full, "is not a field that this server knows here");
  } else if (!level().seen.insert(field->name()).second) {
    error_ = FieldError(full, "is given twice");
  }
  level().field = field;
  return error_.ok();
}

bool MessageBuilder::NewEntry(const std::string& key) {
  Level& map = level();
  const auto& entry = *map.map->message_type();
  map.message =
      map.map_owner->GetReflection()->AddMessage(map.map_owner, map.map);
  map.field = entry.map_value();
  map.key = key;
  if (!map.seen.insert(key).second) return Fail("is given twice");
  const FieldDescriptor& of_key = *entry.map_key();
  if (SetScalar(*map.message, of_key, key)) return true;
  return Fail(absl::StrCat("has a key that must be ", ExpectedJson(of_key)));
}

bool MessageBuilder::start_array(size_t) {
  if (levels_.empty()) return FailTop();
  const FieldDescriptor& field = *level().field;
  if (!field.is_repeated() || field.is_map() || level().in_list) {
    return Fail(absl::StrCat("is a list, must be ", ExpectedJson(field)));
  }
  level().in_list = true;
  level().entries = 0;
  return true;
}

bool MessageBuilder::CheckOneof() {
  const auto* oneof = level().field->real_containing_oneof();
  if (oneof == nullptr) return true;
  const Message& message = *level().message;
  const auto& reflection = *message.GetReflection();
  if (!reflection.HasOneof(message, oneof)) return true;
  return Fail(
      absl::StrCat("is given beside ",
                   reflection.GetOneofFieldDescriptor(message, oneof)->name(),
                   ", which excludes it"));
}

bool MessageBuilder::Set(JsonScalar value) {
  if (levels_.empty()) return FailTop();
  const FieldDescriptor& field = *level().field;
  const bool wants_list = field.is_repeated() && !level().in_list;
  if (!wants_list) {
    if (!CheckOneof()) return false;
    if (SetScalar(*level().message, field, value)) return EndValue();
  }
  const Json shown = std::visit([](auto& of) { return Json(of); }, value);
  error_ = JsonValue(shown, Place())
               .Unexpected(wants_list ? field.is_map() ? "an object" : "a list"
                                      : ExpectedJson(field));
  return false;
}

}  // namespace

absl::Status ParseJsonMessage(absl::string_view json, Message& message) {
  // The parser would take it for the end, whatever follows.
  if (json.find('\0') != json.npos) {
    return absl::InvalidArgumentError("the body: not valid json: a byte 0");
  }
  MessageBuilder builder(message);
  const bool parsed =
      nlohmann::json::sax_parse(json.begin(), json.end(), &builder);
  ATTEND_CHECK(parsed == builder.error().ok());
  return builder.error();
}

}  // namespace attend
