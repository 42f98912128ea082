#include "client/cpp/lib/utf8.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

// Length of the sequence that `lead` opens and the range of its second byte
// (Unicode, table 3-7). Length 0: not a lead byte.
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

absl::Status Check(const std::string& text, const std::string& field) {
  if (IsUtf8(text)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": not valid UTF-8"));
}

absl::Status CheckChat(const v1::Chat& chat, const std::string& field) {
  absl::Status status = Check(chat.variables_json(), field + ".variables_json");
  for (int i = 0; status.ok() && i < chat.messages_size(); ++i) {
    const v1::ChatMessage& message = chat.messages(i);
    const std::string name = absl::StrCat(field, ".messages[", i, "].");
    status = Check(message.role(), name + "role");
    if (status.ok()) status = Check(message.content(), name + "content");
    if (status.ok())
      status = Check(message.fields_json(), name + "fields_json");
  }
  return status;
}

absl::Status CheckInput(const v1::Input& input, const std::string& field) {
  if (input.has_chat()) return CheckChat(input.chat(), field + ".chat");
  if (!input.has_text()) return absl::OkStatus();
  const absl::Status text = Check(input.text(), field);
  return text.ok() ? Check(input.pair(), field + ".pair") : text;
}

// The model's name and the inputs.
template <class Request>
absl::Status CheckInputs(const Request& request) {
  absl::Status status = Check(request.model(), "model");
  for (int i = 0; status.ok() && i < request.inputs_size(); ++i) {
    status = CheckInput(request.inputs(i), absl::StrCat("inputs[", i, "]"));
  }
  return status;
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

absl::Status CheckText(const v1::GenerateRequest& request) {
  absl::Status status = CheckInputs(request);
  if (status.ok()) status = Check(request.source_language(), "source_language");
  if (status.ok()) status = Check(request.target_language(), "target_language");
  if (status.ok()) {
    status = Check(request.params().prefix_text(), "params.prefix_text");
  }
  for (const std::string& stop : request.params().stop_strings()) {
    if (status.ok()) status = Check(stop, "params.stop_strings");
  }
  return status;
}

absl::Status CheckText(const v1::ScoreRequest& request) {
  absl::Status status = Check(request.model(), "model");
  for (int i = 0; status.ok() && i < request.pairs_size(); ++i) {
    const v1::ScorePair& pair = request.pairs(i);
    status = CheckInput(pair.source(), absl::StrCat("pairs[", i, "].source"));
    if (!status.ok()) break;
    status = CheckInput(pair.target(), absl::StrCat("pairs[", i, "].target"));
  }
  return status;
}

absl::Status CheckText(const v1::EmbedRequest& request) {
  absl::Status status = CheckInputs(request);
  if (status.ok()) status = Check(request.prompt_name(), "prompt_name");
  if (status.ok()) status = Check(request.prompt_text(), "prompt_text");
  return status;
}

absl::Status CheckText(const v1::ClassifyRequest& request) {
  return CheckInputs(request);
}

absl::Status CheckText(const v1::FillMaskRequest& request) {
  return CheckInputs(request);
}

absl::Status CheckText(const v1::RerankRequest& request) {
  absl::Status status = Check(request.model(), "model");
  if (status.ok()) status = Check(request.query(), "query");
  for (int i = 0; status.ok() && i < request.documents_size(); ++i) {
    status = Check(request.documents(i), absl::StrCat("documents[", i, "]"));
  }
  return status;
}

absl::Status CheckText(const v1::TokenizeRequest& request) {
  absl::Status status = Check(request.model(), "model");
  for (int i = 0; status.ok() && i < request.texts_size(); ++i) {
    status = Check(request.texts(i), absl::StrCat("texts[", i, "]"));
  }
  for (int i = 0; status.ok() && i < request.chats_size(); ++i) {
    status = CheckChat(request.chats(i), absl::StrCat("chats[", i, "]"));
  }
  return status;
}

}  // namespace attend
