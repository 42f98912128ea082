#include "engine/json/json_parse.h"

#include <cstddef>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/json/utf8.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;
constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxShown = 80;
constexpr size_t kMaxShownText = 250;
// Objects in order are lists: to find a member takes as long as there are
// members.
constexpr size_t kMaxOrderedMembers = 512;
// Each has memory of its own, which may be thirty times its text.
constexpr size_t kMaxOrderedOwners = size_t{1} << 18;
// Each takes a tenth of a microsecond and more, and nothing ends the parsing.
constexpr size_t kMaxOrderedPlain = size_t{1} << 21;

// Without the name of the exception: "[json.exception.parse_error.101] ".
std::string Message(const std::exception& e) {
  const absl::string_view text = e.what();
  const size_t end = text[0] == '[' ? text.find("] ") : text.npos;
  return ShortText(end == text.npos ? text : text.substr(end + 2));
}

// Builds the value from the parser's events. The parser itself would accept any
// depth, and would take the last value of a key that occurs twice.
template <class Json>
class Builder final : public nlohmann::json_sax<Json> {
  static constexpr bool kOrdered = std::is_same_v<Json, nlohmann::ordered_json>;

 public:
  using Text = typename Json::string_t;
  // Takes a member of the object at the top. False if the key came before.
  using Use = absl::FunctionRef<bool(const Text& key, const Json& value)>;

  Builder() = default;
  explicit Builder(Use use) : use_(use) {}

  bool null() override { return CountPlain() && Add(nullptr); }
  bool boolean(bool value) override { return CountPlain() && Add(value); }
  bool number_integer(typename Json::number_integer_t value) override {
    return CountPlain() && Add(value);
  }
  bool number_unsigned(typename Json::number_unsigned_t value) override {
    return CountPlain() && Add(value);
  }
  bool number_float(typename Json::number_float_t value, const Text&) override {
    return CountPlain() && Add(value);
  }
  bool string(Text& value) override {
    return CountOwner() && Add(std::move(value));
  }
  bool binary(typename Json::binary_t&) override { return Fail("binary"); }
  bool start_object(size_t) override { return Open(Json::object()); }
  bool end_object() override { return UseMember() && Close(); }
  bool start_array(size_t) override { return Open(Json::array()); }
  bool end_array() override { return Close(); }
  bool key(Text& key) override {
    if (!UseMember()) return false;
    if (use_.has_value() && open_.size() == 1) {
      used_key_ = std::move(key);
      member_ = &used_value_.emplace();
      return true;
    }
    auto& members = open_.back()->template get_ref<typename Json::object_t&>();
    if (kOrdered && members.size() == kMaxOrderedMembers) {
      return Fail(absl::StrCat("an object with more than ", kMaxOrderedMembers,
                               " members"));
    }
    const auto [member, is_new] = members.emplace(key, nullptr);
    if (!is_new) return FailTwice(key);
    member_ = &member->second;
    return true;
  }
  bool parse_error(size_t, const std::string&,
                   const nlohmann::detail::exception& e) override {
    return Fail(Message(e));
  }

  Json& top() { return top_; }
  const std::string& error() const { return error_; }

 private:
  // The place of the next value.
  Json& Place() {
    if (open_.empty()) return top_;
    if (open_.back()->is_object()) return *member_;
    open_.back()->push_back(nullptr);
    return open_.back()->back();
  }
  bool Add(Json value) {
    Place() = std::move(value);
    return true;
  }
  bool Open(Json value) {
    if (open_.size() == kMaxDepth) {
      return Fail(absl::StrCat("nested deeper than ", kMaxDepth));
    }
    if (!CountOwner()) return false;
    Json& place = Place();
    place = std::move(value);
    open_.push_back(&place);
    return true;
  }
  bool CountOwner() {
    if (!kOrdered || ++owners_ <= kMaxOrderedOwners) return true;
    return Fail(absl::StrCat("more than ", kMaxOrderedOwners,
                             " strings, lists and objects"));
  }
  bool CountPlain() {
    if (!kOrdered || ++plain_ <= kMaxOrderedPlain) return true;
    return Fail(absl::StrCat("more than ", kMaxOrderedPlain,
                             " numbers, truth values and nulls"));
  }
  bool Close() {
    open_.pop_back();
    return true;
  }
  // Passes the last member of the object at the top to use_, if there is one.
  bool UseMember() {
    if (open_.size() > 1 || !used_value_.has_value()) return true;
    if (!(*use_)(used_key_, *used_value_)) return FailTwice(used_key_);
    used_value_.reset();
    return true;
  }
  bool FailTwice(const Text& key) {
    return Fail(absl::StrCat("key \"", ShortText(key), "\" twice"));
  }
  bool Fail(std::string error) {
    error_ = std::move(error);
    return false;
  }

  Json top_;
  std::vector<Json*> open_;  // lists and objects that have not ended
  Json* member_ = nullptr;   // value of the innermost object's last key
  size_t owners_ = 0;        // strings, lists and objects
  size_t plain_ = 0;         // all other values
  std::optional<Use> use_;
  Text used_key_;
  std::optional<Json> used_value_;
  std::string error_;
};

template <class Json>
absl::StatusOr<Json> Parse(absl::string_view name, absl::string_view text,
                           Builder<Json> builder = {}) {
  if (text.size() > kMaxBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": ", text.size(), " bytes of json, limit is ", kMaxBytes));
  }
  // The parser would take it for the end, whatever follows.
  if (text.find('\0') != text.npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": not valid json: a byte 0"));
  }
  try {
    if (Json::sax_parse(text.begin(), text.end(), &builder)) {
      return std::move(builder.top());
    }
  } catch (const std::exception& e) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", Message(e)));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": not valid json: ", builder.error()));
}

template <class Json>
std::string Shown(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kMaxShown) {
    text.resize(kMaxShown);  // ASCII only: never half a character
    text += "...";
  }
  return text;
}

template <class Json>
absl::StatusOr<Json> ParseObject(absl::string_view name, absl::string_view text,
                                 Builder<Json> builder = {}) {
  ASSIGN_OR_RETURN(Json top, Parse<Json>(name, text, std::move(builder)));
  if (top.is_object()) return top;
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": is ", Shown(top), ", expected a json object"));
}

}  // namespace

absl::StatusOr<nlohmann::json> ParseJson(absl::string_view name,
                                         absl::string_view text) {
  return Parse<nlohmann::json>(name, text);
}

absl::StatusOr<nlohmann::json> ParseJsonObject(absl::string_view name,
                                               absl::string_view text) {
  return ParseObject<nlohmann::json>(name, text);
}

absl::StatusOr<nlohmann::ordered_json> ParseOrderedJsonObject(
    absl::string_view name, absl::string_view text) {
  return ParseObject<nlohmann::ordered_json>(name, text);
}

absl::Status ParseMembers(
    absl::string_view name, absl::string_view text,
    absl::FunctionRef<bool(const std::string& key, const nlohmann::json& value)>
        use) {
  return ParseObject(name, text, Builder<nlohmann::json>(use)).status();
}

std::string JsonText(const nlohmann::json& value) { return Shown(value); }

std::string ShortText(absl::string_view text) {
  if (text.size() <= kMaxShownText) return ReplaceInvalidUtf8(text);
  size_t end = kMaxShownText;
  const auto inside = [](char byte) { return (byte & 0xc0) == 0x80; };
  while (end > 0 && inside(text[end])) --end;  // never half a character
  return absl::StrCat(ReplaceInvalidUtf8(text.substr(0, end)), "...");
}

}  // namespace attend
