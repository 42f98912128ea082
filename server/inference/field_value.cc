#include "server/inference/field_value.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/utf8.h"
#include "server/inference/json_message.h"

namespace attend {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// A status message travels in metadata, which clients limit to some KiB.
constexpr size_t kShownBytes = 100;

absl::Status Wrong(absl::string_view name, const Value& value,
                   absl::string_view must) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", KindOf(value), ", must be ", must));
}

template <class T>
absl::StatusOr<T> ToInteger(const Value& value, absl::string_view name) {
  const auto cast = [&](auto number) -> absl::StatusOr<T> {
    if (std::in_range<T>(number)) return static_cast<T>(number);
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is ", number, ", must be in [", std::numeric_limits<T>::min(),
        ", ", std::numeric_limits<T>::max(), "]"));
  };
  if (const auto* number = std::get_if<int64_t>(&value)) return cast(*number);
  if (const auto* number = std::get_if<uint64_t>(&value)) return cast(*number);
  return Wrong(name, value, "an integer");
}

template <class T>
absl::StatusOr<T> ToNumber(const Value& value, absl::string_view name) {
  if (const auto* number = std::get_if<double>(&value)) {
    return static_cast<T>(*number);
  }
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return static_cast<T>(*number);
  }
  if (const auto* number = std::get_if<uint64_t>(&value)) {
    return static_cast<T>(*number);
  }
  return Wrong(name, value, "a number");
}

absl::StatusOr<bool> ToBool(const Value& value, absl::string_view name) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  return Wrong(name, value, "a boolean");
}

absl::StatusOr<std::string> ToText(const Value& value, absl::string_view name) {
  const auto* text = std::get_if<absl::string_view>(&value);
  if (text == nullptr) return Wrong(name, value, "a string");
  if (const size_t at = FindInvalidUtf8(*text); at != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s is not UTF-8 at byte %d", name, at));
  }
  return std::string(*text);
}

// Returns the name of an enumeration's value without the words that all of its
// names begin with, up to the last underscore of the first one, in lower case.
// Empty for "unspecified", which is the absence of the parameter.
std::string ValueName(const EnumDescriptor& type, int index) {
  const size_t prefix = type.value(0)->name().rfind('_') + 1;
  std::string name =
      absl::AsciiStrToLower(type.value(index)->name().substr(prefix));
  return name == "unspecified" ? "" : name;
}

// The names of an enumeration's values: "false, true, never".
std::string Names(const EnumDescriptor& type) {
  std::string names;
  for (int i = 0; i < type.value_count(); ++i) {
    const std::string name = ValueName(type, i);
    if (name.empty()) continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ", name);
  }
  return names;
}

absl::StatusOr<int> ToEnum(const Value& value, const EnumDescriptor& type,
                           absl::string_view name) {
  absl::string_view wanted;
  if (const auto* flag = std::get_if<bool>(&value)) {
    wanted = *flag ? "true" : "false";
  } else if (const auto* text = std::get_if<absl::string_view>(&value)) {
    wanted = *text;
  } else {
    return Wrong(name, value, "a string");
  }
  for (int i = 0; i < type.value_count(); ++i) {
    const std::string known = ValueName(type, i);
    if (!known.empty() && absl::EqualsIgnoreCase(known, wanted)) {
      return type.value(i)->number();
    }
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s is '%s', must be one of %s", name,
      absl::CHexEscape(wanted.substr(0, kShownBytes)), Names(type)));
}

// Sets a field without parts to one value, or adds the value to a list.
absl::Status SetOne(Message& message, const FieldDescriptor& field,
                    const Value& value, absl::string_view name) {
  const auto& reflection = *message.GetReflection();
  const auto set = [&](auto one, auto setter, auto adder) {
    if (!one.ok()) return one.status();
    (reflection.*(field.is_repeated() ? adder : setter))(&message, &field,
                                                         *std::move(one));
    return absl::OkStatus();
  };
  using R = google::protobuf::Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return set(ToBool(value, name), &R::SetBool, &R::AddBool);
    case FieldDescriptor::CPPTYPE_INT32:
      return set(ToInteger<int32_t>(value, name), &R::SetInt32, &R::AddInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return set(ToInteger<int64_t>(value, name), &R::SetInt64, &R::AddInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return set(ToInteger<uint32_t>(value, name), &R::SetUInt32,
                 &R::AddUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return set(ToInteger<uint64_t>(value, name), &R::SetUInt64,
                 &R::AddUInt64);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return set(ToNumber<float>(value, name), &R::SetFloat, &R::AddFloat);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return set(ToNumber<double>(value, name), &R::SetDouble, &R::AddDouble);
    case FieldDescriptor::CPPTYPE_ENUM:
      return set(ToEnum(value, *field.enum_type(), name), &R::SetEnumValue,
                 &R::AddEnumValue);
    case FieldDescriptor::CPPTYPE_STRING:
      return set(ToText(value, name), &R::SetString, &R::AddString);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return Wrong(name, value, "JSON");
}

// Sets a field to what a JSON text says.
absl::Status SetJson(Message& message, const FieldDescriptor& field,
                     const Value& value, absl::string_view name) {
  ASSIGN_OR_RETURN(const std::string json, ToText(value, name));
  const std::unique_ptr<Message> parsed(message.New());
  RETURN_IF_ERROR(ReadJsonField(json, name, field, *parsed));
  message.MergeFrom(*parsed);
  return absl::OkStatus();
}

absl::Status CheckOneof(const Message& message, const FieldDescriptor& field,
                        absl::string_view name) {
  const auto* oneof = field.real_containing_oneof();
  if (oneof == nullptr) return absl::OkStatus();
  const auto* other =
      message.GetReflection()->GetOneofFieldDescriptor(message, oneof);
  if (other == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s and %s are both set, must be one of them", name, other->name()));
}

}  // namespace

absl::Status SetField(Message& message, const FieldDescriptor& field,
                      absl::Span<const Value> elements,
                      absl::string_view name) {
  RETURN_IF_ERROR(CheckOneof(message, field, name));
  const bool parts = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if ((parts || !field.is_repeated()) && elements.size() != 1) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s has %d values, must have one", name, elements.size()));
  }
  if (parts) return SetJson(message, field, elements[0], name);
  for (const Value& element : elements) {
    RETURN_IF_ERROR(SetOne(message, field, element, name));
  }
  return absl::OkStatus();
}

absl::Status SetField(Message& message, const FieldDescriptor& field,
                      const Value& parameter, absl::string_view name) {
  if (field.is_repeated() &&
      std::holds_alternative<absl::string_view>(parameter)) {
    return SetJson(message, field, parameter, name);
  }
  return SetField(message, field, absl::MakeConstSpan(&parameter, 1), name);
}

}  // namespace attend
