#include "client/cpp/lib/affinity.h"

#include <openssl/sha.h>

#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "attend/v1/attend.pb.h"

namespace attend {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr size_t kKeyBytes = 8;
constexpr char kNul[] = {'\0'};

std::string TextOf(const v1::Input& input) {
  const absl::string_view nul(kNul, sizeof(kNul));
  if (input.has_chat()) {
    return absl::StrJoin(input.chat().messages(), nul,
                         [&](std::string* out, const v1::ChatMessage& message) {
                           absl::StrAppend(out, message.role(), nul,
                                           message.content());
                         });
  }
  if (input.has_tokens()) return absl::StrJoin(input.tokens().ids(), " ");
  return input.text();
}

// nullopt: there is none.
std::optional<std::string> FirstOf(const Message& request,
                                   const FieldDescriptor& field) {
  const auto& reflection = *request.GetReflection();
  if (!field.is_repeated()) {
    std::string text = reflection.GetString(request, &field);
    if (text.empty()) return std::nullopt;
    return text;
  }
  if (reflection.FieldSize(request, &field) == 0) return std::nullopt;
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    return reflection.GetRepeatedString(request, &field, 0);
  }
  const Message& first = reflection.GetRepeatedMessage(request, &field, 0);
  if (const auto* pair = dynamic_cast<const v1::ScorePair*>(&first)) {
    return TextOf(pair->source());
  }
  return TextOf(dynamic_cast<const v1::Input&>(first));
}

}  // namespace

std::string AffinityKey(const Message& request, size_t bytes) {
  for (const char* name : {"inputs", "documents", "pairs", "texts", "query"}) {
    const auto* field = request.GetDescriptor()->FindFieldByName(name);
    if (field == nullptr) continue;
    const std::optional<std::string> text = FirstOf(request, *field);
    if (!text.has_value()) continue;
    const std::string begin = text->substr(0, bytes);
    unsigned char hash[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char*>(begin.data()), begin.size(),
           hash);
    return absl::BytesToHexString(
        absl::string_view(reinterpret_cast<const char*>(hash), kKeyBytes));
  }
  return "";
}

std::string Elsewhere(const std::string& key) {
  return key.empty() ? key : key + "-2";
}

}  // namespace attend
