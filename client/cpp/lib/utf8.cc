#include "client/cpp/lib/utf8.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

// What follows from the first byte of a sequence: the length of the sequence in
// bytes (0: no sequence begins with that byte), and the range of the second
// byte. See Unicode, table 3-7.
struct Lead {
  int length;
  uint8_t second_min;
  uint8_t second_max;
};

Lead LeadOf(uint8_t lead) {
  if (lead < 0x80) return {1, 0, 0};
  if (lead < 0xc2) return {0, 0, 0};
  if (lead < 0xe0) return {2, 0x80, 0xbf};
  if (lead == 0xe0) return {3, 0xa0, 0xbf};
  if (lead == 0xed) return {3, 0x80, 0x9f};
  if (lead < 0xf0) return {3, 0x80, 0xbf};
  if (lead == 0xf0) return {4, 0x90, 0xbf};
  if (lead < 0xf4) return {4, 0x80, 0xbf};
  if (lead == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

absl::Status CheckMessage(const Message& message, const std::string& path);

// Checks the value of a field, or value `index` of a repeated field. `index` is
// negative for other fields.
absl::Status CheckValue(const Message& message, const FieldDescriptor* field,
                        int index, const std::string& path) {
  const google::protobuf::Reflection& of = *message.GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return CheckMessage(index < 0
                            ? of.GetMessage(message, field)
                            : of.GetRepeatedMessage(message, field, index),
                        path + ".");
  }
  std::string scratch;
  const std::string& text =
      index < 0
          ? of.GetStringReference(message, field, &scratch)
          : of.GetRepeatedStringReference(message, field, index, &scratch);
  if (IsUtf8(text)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": not valid UTF-8"));
}

absl::Status CheckMessage(const Message& message, const std::string& path) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE &&
        field->type() != FieldDescriptor::TYPE_STRING) {
      continue;
    }
    const std::string name = absl::StrCat(path, field->name());
    if (!field->is_repeated()) {
      absl::Status status = CheckValue(message, field, -1, name);
      if (!status.ok()) return status;
      continue;
    }
    const int size = message.GetReflection()->FieldSize(message, field);
    for (int i = 0; i < size; ++i) {
      absl::Status status =
          CheckValue(message, field, i, absl::StrCat(name, "[", i, "]"));
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const Lead lead = LeadOf(static_cast<uint8_t>(text[i]));
    if (lead.length == 0 || i + lead.length > text.size()) return false;
    for (int k = 1; k < lead.length; ++k) {
      const auto byte = static_cast<uint8_t>(text[i + k]);
      const uint8_t min = k == 1 ? lead.second_min : 0x80;
      const uint8_t max = k == 1 ? lead.second_max : 0xbf;
      if (byte < min || byte > max) return false;
    }
    i += lead.length;
  }
  return true;
}

absl::Status CheckText(const Message& request) {
  return CheckMessage(request, "");
}

}  // namespace attend
