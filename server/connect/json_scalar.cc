#include "server/connect/json_scalar.h"

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

using google::protobuf::Duration;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::util::TimeUtil;

// Strings may hold numbers: 64 bits are more than other programs can read. In
// one form only, "6" and neither "+6" nor "06", so that keys are different.
template <class Number>
std::optional<Number> ToInteger(const JsonScalar& value) {
  using Limits = std::numeric_limits<Number>;
  if (const auto* text = std::get_if<std::string>(&value)) {
    Number number = 0;
    const bool plain =
        absl::SimpleAtoi(*text, &number) && absl::StrCat(number) == *text;
    return plain ? std::optional(number) : std::nullopt;
  }
  if (const auto* number = std::get_if<int64_t>(&value)) {
    if (!std::in_range<Number>(*number)) return std::nullopt;
    return static_cast<Number>(*number);
  }
  if (const auto* number = std::get_if<uint64_t>(&value)) {
    if (!std::in_range<Number>(*number)) return std::nullopt;
    return static_cast<Number>(*number);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    // 2^53: from there on doubles leave integers out.
    const bool exact =
        *number == std::floor(*number) && std::abs(*number) <= 9007199254740992;
    if (!exact || *number < static_cast<double>(Limits::min()) ||
        *number > static_cast<double>(Limits::max())) {
      return std::nullopt;
    }
    return static_cast<Number>(*number);
  }
  return std::nullopt;
}

std::optional<double> ToDouble(const JsonScalar& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (*text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (*text == "Infinity") return std::numeric_limits<double>::infinity();
    if (*text == "-Infinity") return -std::numeric_limits<double>::infinity();
    return std::nullopt;
  }
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return static_cast<double>(*number);
  }
  if (const auto* number = std::get_if<uint64_t>(&value)) {
    return static_cast<double>(*number);
  }
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

std::optional<float> ToFloat(const JsonScalar& value) {
  const std::optional<double> number = ToDouble(value);
  if (!number.has_value()) return std::nullopt;
  const bool too_large = std::isfinite(*number) &&
                         std::abs(*number) > std::numeric_limits<float>::max();
  if (too_large) return std::nullopt;
  return static_cast<float>(*number);
}

std::optional<bool> ToBool(const JsonScalar& value) {
  const auto* is_true = std::get_if<bool>(&value);
  return is_true == nullptr ? std::nullopt : std::optional(*is_true);
}

std::optional<std::string> ToText(const FieldDescriptor& field,
                                  const JsonScalar& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return std::nullopt;
  if (field.type() == FieldDescriptor::TYPE_STRING) return *text;
  std::string bytes;
  if (absl::Base64Unescape(*text, &bytes)) return bytes;
  if (absl::WebSafeBase64Unescape(*text, &bytes)) return bytes;
  return std::nullopt;
}

// By its name or by its number.
const EnumValueDescriptor* ToEnum(const FieldDescriptor& field,
                                  const JsonScalar& value) {
  if (const auto* name = std::get_if<std::string>(&value)) {
    return field.enum_type()->FindValueByName(*name);
  }
  const std::optional<int32_t> number = ToInteger<int32_t>(value);
  if (!number.has_value()) return nullptr;
  return field.enum_type()->FindValueByNumber(*number);
}

// Returns true for digits, optionally with a point and up to nine decimals.
bool IsSeconds(absl::string_view text) {
  constexpr size_t kMostDigits = 12, kMostDecimals = 9;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  const bool digits = std::all_of(parts.begin(), parts.end(), [](auto part) {
    return !part.empty() &&
           std::all_of(part.begin(), part.end(), absl::ascii_isdigit);
  });
  return digits && parts.size() <= 2 && parts.front().size() <= kMostDigits &&
         (parts.size() == 1 || parts.back().size() <= kMostDecimals);
}

// Refuses texts that protobuf's function accepts, but its JSON mapping does not
// define.
std::optional<Duration> ToDuration(const JsonScalar& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return std::nullopt;
  absl::string_view seconds = *text;
  absl::ConsumePrefix(&seconds, "-");
  Duration duration;
  const bool known = absl::ConsumeSuffix(&seconds, "s") && IsSeconds(seconds) &&
                     TimeUtil::FromString(*text, &duration);
  if (!known || std::abs(duration.seconds()) > TimeUtil::kDurationMaxSeconds) {
    return std::nullopt;
  }
  return duration;
}

bool PutDuration(Message& message, const FieldDescriptor& field,
                 const JsonScalar& value) {
  const auto duration = ToDuration(value);
  if (!duration) return false;
  const Reflection& reflection = *message.GetReflection();
  Message& to = field.is_repeated()
                    ? *reflection.AddMessage(&message, &field)
                    : *reflection.MutableMessage(&message, &field);
  to.CopyFrom(*duration);
  return true;
}

template <class Number>
std::string IntegerIn() {
  return absl::StrCat("an integer in [", std::numeric_limits<Number>::min(),
                      ", ", std::numeric_limits<Number>::max(), "]");
}

std::string NamesOf(const google::protobuf::EnumDescriptor& type) {
  std::vector<std::string> names;
  names.reserve(type.value_count());
  for (int i = 0; i < type.value_count(); ++i) {
    names.push_back(absl::StrCat("\"", type.value(i)->name(), "\""));
  }
  return absl::StrCat("one of ", absl::StrJoin(names, ", "));
}

// Sets or adds by the functions of Reflection for the field's type.
template <class Value, class Set, class Add>
bool Put(Message& message, const FieldDescriptor& field, Value&& value, Set set,
         Add add) {
  if (!value) return false;
  const Reflection& reflection = *message.GetReflection();
  if (field.is_repeated()) {
    (reflection.*add)(&message, &field, *std::forward<Value>(value));
  } else {
    (reflection.*set)(&message, &field, *std::forward<Value>(value));
  }
  return true;
}

}  // namespace

bool IsDuration(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
         field.message_type() == Duration::descriptor();
}

std::string ExpectedJson(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return IntegerIn<int32_t>();
    case FieldDescriptor::CPPTYPE_INT64:
      return IntegerIn<int64_t>();
    case FieldDescriptor::CPPTYPE_UINT32:
      return IntegerIn<uint32_t>();
    case FieldDescriptor::CPPTYPE_UINT64:
      return IntegerIn<uint64_t>();
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "a number";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return NamesOf(*field.enum_type());
    case FieldDescriptor::CPPTYPE_STRING:
      return field.type() == FieldDescriptor::TYPE_BYTES ? "bytes in base64"
                                                         : "a string";
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return IsDuration(field) ? "a duration, as \"1.5s\"" : "an object";
  }
  return "";
}

bool SetScalar(Message& message, const FieldDescriptor& field,
               const JsonScalar& value) {
  using R = Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return Put(message, field, ToInteger<int32_t>(value), &R::SetInt32,
                 &R::AddInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return Put(message, field, ToInteger<int64_t>(value), &R::SetInt64,
                 &R::AddInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return Put(message, field, ToInteger<uint32_t>(value), &R::SetUInt32,
                 &R::AddUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return Put(message, field, ToInteger<uint64_t>(value), &R::SetUInt64,
                 &R::AddUInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Put(message, field, ToDouble(value), &R::SetDouble, &R::AddDouble);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Put(message, field, ToFloat(value), &R::SetFloat, &R::AddFloat);
    case FieldDescriptor::CPPTYPE_BOOL:
      return Put(message, field, ToBool(value), &R::SetBool, &R::AddBool);
    case FieldDescriptor::CPPTYPE_STRING:
      return Put(message, field, ToText(field, value), &R::SetString,
                 &R::AddString);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const EnumValueDescriptor* number = ToEnum(field, value);
      if (number == nullptr) return false;
      return Put(message, field, std::optional(number), &R::SetEnum,
                 &R::AddEnum);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return IsDuration(field) && PutDuration(message, field, value);
  }
  return false;
}

}  // namespace attend
