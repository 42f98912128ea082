#include "server/app/option_values.h"

#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/tensor/status_macros.h"
#include "server/app/byte_count.h"

namespace attend {
namespace {

absl::Status Check(bool good, absl::string_view text,
                   absl::string_view expected) {
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "'", absl::CHexEscape(text.substr(0, 200)), "' is not ", expected));
}

template <typename Type>
absl::Status ParseType(absl::string_view text, const absl::StatusOr<Type>& type,
                       absl::string_view names, std::optional<Type>& value) {
  value.reset();
  if (text == "auto") return absl::OkStatus();
  if (type.ok()) value = *type;
  return Check(type.ok(), text, names);
}

}  // namespace

absl::Status ParseValue(absl::string_view text, int& value) {
  return Check(absl::SimpleAtoi(text, &value), text, "a whole number");
}

absl::Status ParseValue(absl::string_view text, double& share) {
  const bool good = absl::SimpleAtod(text, &share) && share >= 0 && share <= 1;
  return Check(good, text, "a number from 0 to 1");
}

absl::Status ParseValue(absl::string_view text, size_t& bytes) {
  const std::optional<uint64_t> count = ParseByteCount(text);
  bytes = count.value_or(0);
  return Check(count.has_value(), text, kByteCountForms);
}

absl::Status ParseValue(absl::string_view text, bool& value) {
  return Check(absl::SimpleAtob(text, &value), text, "true or false");
}

absl::Status ParseValue(absl::string_view text, std::string& value) {
  value = std::string(text);
  return absl::OkStatus();
}

absl::Status ParseValue(absl::string_view text, absl::Duration& value) {
  return Check(absl::ParseDuration(text, &value), text,
               "a duration (500ms, 30s, 10m, inf)");
}

absl::Status ParseValue(absl::string_view text, LogLevel& value) {
  ASSIGN_OR_RETURN(value, ParseLogLevel(text));
  return absl::OkStatus();
}

absl::Status ParseValue(absl::string_view text, LogFormat& value) {
  ASSIGN_OR_RETURN(value, ParseLogFormat(text));
  return absl::OkStatus();
}

absl::Status ParseValue(absl::string_view text, AccessLogForm& value) {
  ASSIGN_OR_RETURN(value, ParseAccessLogForm(text));
  return absl::OkStatus();
}

absl::Status ParseValue(absl::string_view text, FairShare& value) {
  ASSIGN_OR_RETURN(value, ParseFairShare(text));
  return absl::OkStatus();
}

absl::Status ParseValue(absl::string_view text, ModelControlMode& value) {
  value = text == "explicit" ? ModelControlMode::kExplicit
          : text == "poll"   ? ModelControlMode::kPoll
                             : ModelControlMode::kNone;
  return Check(text == ValueText(value), text, "none, explicit or poll");
}

absl::Status ParseValue(absl::string_view text, Isa& value) {
  ASSIGN_OR_RETURN(value, ParseIsa(text));
  return absl::OkStatus();
}

absl::Status ParseValue(absl::string_view text,
                        std::optional<ClientAuth>& value) {
  ASSIGN_OR_RETURN(value, ParseClientAuth(text));
  return absl::OkStatus();
}

absl::Status ParseValue(absl::string_view text,
                        std::optional<ComputeType>& value) {
  return ParseType(text, ParseComputeType(text),
                   "f32, bf16, int8, w8, int4 or auto", value);
}

absl::Status ParseValue(absl::string_view text, std::optional<KvType>& value) {
  return ParseType(text, ParseKvType(text), "f32, bf16, int8 or auto", value);
}

absl::Status ParseValue(absl::string_view text,
                        std::vector<std::string>& list) {
  list.emplace_back(text);
  return absl::OkStatus();
}

std::string ValueText(int value) { return absl::StrCat(value); }

std::string ValueText(double value) { return absl::StrCat(value); }

std::string ValueText(size_t bytes) { return ByteCountText(bytes); }

std::string ValueText(bool value) { return value ? "true" : "false"; }

std::string ValueText(const std::string& value) {
  return value.empty() ? "empty" : value;
}

std::string ValueText(absl::Duration value) {
  return absl::FormatDuration(value);
}

std::string ValueText(LogLevel value) {
  return std::string(LogLevelName(value));
}

std::string ValueText(LogFormat value) {
  return std::string(LogFormatName(value));
}

std::string ValueText(AccessLogForm value) {
  return std::string(AccessLogFormName(value));
}

std::string ValueText(FairShare value) {
  return std::string(FairShareName(value));
}

std::string ValueText(ModelControlMode value) {
  switch (value) {
    case ModelControlMode::kNone:
      return "none";
    case ModelControlMode::kExplicit:
      return "explicit";
    case ModelControlMode::kPoll:
      return "poll";
  }
  return "";
}

std::string ValueText(Isa value) { return std::string(IsaName(value)); }

std::string ValueText(const std::optional<ClientAuth>& value) {
  return value.has_value() ? std::string(ClientAuthName(*value)) : "empty";
}

std::string ValueText(const std::optional<ComputeType>& value) {
  return value.has_value() ? std::string(TypeName(*value)) : "auto";
}

std::string ValueText(const std::optional<KvType>& value) {
  return value.has_value() ? std::string(TypeName(*value)) : "auto";
}

std::string ValueText(const std::vector<std::string>& list) {
  return ValueText(absl::StrJoin(list, ","));
}

}  // namespace attend
