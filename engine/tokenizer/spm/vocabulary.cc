#include "engine/tokenizer/spm/vocabulary.h"

#include <cstdint>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/read_file.h"

namespace attend {
namespace {

using Json = nlohmann::json;

// Takes the events of a flat object of numbers; refuses anything else, and so
// sees a token that occurs twice, of which a tree would keep the last.
class Reader : public nlohmann::json_sax<Json> {
 public:
  explicit Reader(absl::flat_hash_map<std::string, int64_t>& ids) : ids_(ids) {}

  bool key(string_t& token) override {
    token_ = token;
    return true;
  }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override {
    // Too large for the other type is too large for an id, whatever it is.
    return Add(value > INT64_MAX ? INT64_MAX : static_cast<int64_t>(value));
  }
  bool start_object(size_t) override {
    return open_++ == 0 || Fail("is an object, expected an id");
  }
  bool end_object() override { return true; }
  bool number_float(number_float_t, const string_t& text) override {
    return Fail(absl::StrCat("has id ", text, ", expected an integer"));
  }
  bool null() override { return Fail("has no id"); }
  bool boolean(bool) override { return Fail("is a boolean, expected an id"); }
  bool string(string_t&) override {
    return Fail("is a string, expected an id");
  }
  bool binary(binary_t&) override { return Fail("is binary, expected an id"); }
  bool start_array(size_t) override {
    return Fail("is a list, expected an id");
  }
  bool end_array() override { return true; }
  bool parse_error(size_t, const std::string&,
                   const nlohmann::detail::exception& e) override {
    error_ = absl::StrCat("not valid json: ", e.what());
    return false;
  }

  const std::string& error() const { return error_; }

 private:
  bool Add(int64_t id) {
    if (open_ == 0) return Fail("is a number, expected an object");
    return ids_.emplace(token_, id).second || Fail("occurs twice");
  }
  bool Fail(absl::string_view problem) {
    error_ = open_ == 0 ? absl::StrCat("the top ", problem)
                        : absl::StrCat("token \"", token_, "\" ", problem);
    return false;
  }

  absl::flat_hash_map<std::string, int64_t>& ids_;
  std::string token_;
  std::string error_;
  int open_ = 0;
};

}  // namespace

absl::StatusOr<Vocabulary> Vocabulary::Load(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  absl::flat_hash_map<std::string, int64_t> ids;
  Reader reader(ids);
  try {
    if (!Json::sax_parse(text, &reader) || !reader.error().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": ", reader.error()));
    }
  } catch (const std::exception& e) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", e.what()));
  }

  Vocabulary vocabulary;
  const auto size = static_cast<int64_t>(ids.size());
  vocabulary.tokens_.resize(ids.size());
  std::vector<bool> used(ids.size());
  for (const auto& [token, id] : ids) {
    if (id < 0 || id >= size) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": token \"", token, "\" has id ", id, ", expected one in [0, ",
          size, ") for ", size, " tokens without a hole"));
    }
    if (used[id]) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": token \"", token, "\" has id ", id, ", as has ",
                       "\"", vocabulary.tokens_[id], "\""));
    }
    used[id] = true;
    vocabulary.tokens_[id] = token;
    vocabulary.ids_[token] = static_cast<int>(id);
  }
  return vocabulary;
}

absl::Status Vocabulary::Add(const std::string& token) {
  if (!ids_.emplace(token, size()).second) {
    return absl::InvalidArgumentError(absl::StrCat(
        "token \"", token, "\" has id ", Find(token), ", expected none"));
  }
  tokens_.push_back(token);
  return absl::OkStatus();
}

int Vocabulary::Find(absl::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? -1 : found->second;
}

}  // namespace attend
