#include "engine/tokenizer/files/make_tokenizer.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tokenizer/hf/hf_tokenizer.h"

namespace attend {
namespace {

// Limit of ParseJson(), which reads the text again for the class.
constexpr size_t kMaxJson = size_t{64} << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> MakeTokenizer(
    const std::string& path, const nlohmann::json& json, HfConfig config) {
  std::string text = json.dump();
  if (text.size() > kMaxJson) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the vocabulary is too large: ", text.size(),
                     " bytes as a tokenizer.json, limit is ", kMaxJson));
  }
  return HfTokenizer::CreateOfClass(path, std::move(text), std::move(config));
}

}  // namespace attend
