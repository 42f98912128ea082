#include "engine/tokenizer/load_tokenizer.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/files/load_files.h"
#include "engine/tokenizer/hf/hf_tokenizer.h"
#include "engine/tokenizer/spm/spm_tokenizer.h"
#include "engine/tokenizer/text/ids_only.h"

namespace attend {
namespace {

bool Has(const std::string& directory, const char* file) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(directory) / file,
                                 ignored);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizer(
    const std::string& directory, const TokenizerSettings& settings) {
  const auto has = [&](const char* file) { return Has(directory, file); };
  if (has("source.spm")) return SpmTokenizer::LoadMarian(directory);
  if (has("tokenizer.json")) {
    constexpr char kPieces[] = "sentencepiece.bpe.model";
    if (has(kPieces) && has("vocab.json")) {
      // M2M100's class of transformers has no use for a tokenizer.json.
      ASSIGN_OR_RETURN(HfConfig config, LoadHfConfig(directory));
      if (config.tokenizer_class == "M2M100Tokenizer") {
        return SpmTokenizer::LoadM2m100(absl::StrCat(directory, "/", kPieces),
                                        directory + "/vocab.json",
                                        std::move(config));
      }
    }
    return HfTokenizer::Load(directory, settings);
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer,
                   LoadTokenizerFiles(directory, settings));
  if (tokenizer == nullptr) return std::make_unique<IdsOnly>();
  return tokenizer;
}

}  // namespace attend
