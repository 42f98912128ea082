// The files that CTranslate2's converters write, and those of a tokenizer that
// people put beside them.

#include <filesystem>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/checkpoint/ctranslate2/ct2_model.h"
#include "engine/families/ctranslate2/load_ctranslate2.h"
#include "engine/families/shared/generation_config.h"
#include "engine/json/json_file.h"
#include "engine/runtime/model_files.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/load_tokenizer.h"
#include "engine/tokenizer/spm/spm_tokenizer.h"
#include "engine/tokenizer/spm/vocabulary.h"
#include "engine/tokenizer/vocabulary_only.h"

namespace attend {
namespace {

// The special tokens of a model; "" if it has none.
struct SpecialTokens {
  std::string bos, eos, unk, decoder_start;
};

absl::StatusOr<SpecialTokens> ReadSpecialTokens(const JsonFile& config) {
  SpecialTokens tokens;
  ASSIGN_OR_RETURN(tokens.bos, config.StringOr("bos_token", "<s>"));
  ASSIGN_OR_RETURN(tokens.eos, config.StringOr("eos_token", "</s>"));
  ASSIGN_OR_RETURN(tokens.unk, config.StringOr("unk_token", "<unk>"));
  if (config.IsNull("decoder_start_token")) return tokens;
  ASSIGN_OR_RETURN(tokens.decoder_start,
                   config.StringOr("decoder_start_token", tokens.bos));
  return tokens;
}

using Vocabularies = SpmTokenizer::Vocabularies;

// The file of a vocabulary; "" if there is none of that name.
std::string VocabularyFile(const std::string& directory,
                           absl::string_view name) {
  for (const char* ending : {".json", ".txt"}) {
    const std::string path =
        absl::StrCat(directory, "/", name, "vocabulary", ending);
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return "";
}

// A vocabulary of `rows` tokens. One that has no unknown token gets it.
absl::StatusOr<Vocabulary> ReadVocabulary(const std::string& path,
                                          const std::string& unk, int rows) {
  ASSIGN_OR_RETURN(Vocabulary tokens, Vocabulary::LoadList(path));
  if (!unk.empty() && tokens.Find(unk) < 0 && tokens.size() < rows) {
    RETURN_IF_ERROR(tokens.Add(unk));
  }
  if (tokens.size() == rows) return tokens;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", tokens.size(), " tokens, expected ", rows,
                   ", the rows of the token table in model.bin"));
}

absl::StatusOr<Vocabularies> ReadVocabularies(const std::string& directory,
                                              const std::string& unk,
                                              const TransformerSpec& spec) {
  const int source_rows = spec.SourceEmbedding().vocab;
  const int target_rows = spec.decoder->embedding.vocab;
  Vocabularies read;
  read.path = VocabularyFile(directory, "shared_");
  if (read.path.empty()) read.path = VocabularyFile(directory, "");
  if (!read.path.empty()) {
    ASSIGN_OR_RETURN(read.source, ReadVocabulary(read.path, unk, source_rows));
    ASSIGN_OR_RETURN(read.target, ReadVocabulary(read.path, unk, target_rows));
    return read;
  }
  read.separate = true;
  read.path = VocabularyFile(directory, "source_");
  const std::string target = VocabularyFile(directory, "target_");
  if (read.path.empty() || target.empty()) {
    return absl::NotFoundError(
        absl::StrCat(directory,
                     ": no vocabulary, expected shared_vocabulary.json, or "
                     "source_vocabulary.json and target_vocabulary.json, or "
                     "vocabulary.json, or one of them as .txt"));
  }
  ASSIGN_OR_RETURN(read.source, ReadVocabulary(read.path, unk, source_rows));
  ASSIGN_OR_RETURN(read.target, ReadVocabulary(target, unk, target_rows));
  return read;
}

// A decoder that starts with zeros may have any token there.
void FindStart(const TransformerSpec& spec, const Vocabulary& vocabulary,
               SpecialTokens& tokens) {
  if (!spec.decoder->embedding.zero_start) return;
  if (vocabulary.Find(tokens.decoder_start) < 0) {
    tokens.decoder_start = tokens.eos;
  }
}

// The defaults of CTranslate2's translators and generators, in the fields of
// config.json that transformers would read.
absl::StatusOr<JsonFile> GenerationFields(const JsonFile& config,
                                          const SpecialTokens& tokens,
                                          const Vocabulary& vocabulary,
                                          bool translates) {
  std::string text = translates ? R"({"num_beams": 2, "early_stopping": true,
                       "max_new_tokens": 256, "min_new_tokens": 1)"
                                : R"({"max_new_tokens": 512)";
  const auto add = [&](const char* field, const char* key,
                       const std::string& token) -> absl::Status {
    const int id = vocabulary.Find(token);
    if (id < 0) {
      return config.Unexpected(key, "a token of the target vocabulary");
    }
    absl::StrAppend(&text, ", \"", field, "\": ", id);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(add("eos_token_id", "eos_token", tokens.eos));
  if (translates) {
    RETURN_IF_ERROR(add("decoder_start_token_id", "decoder_start_token",
                        tokens.decoder_start));
  }
  text += "}";
  return JsonFile::Parse(config.path(), text);
}

// Texts are cut by the files of a tokenizer, if there are any. Source texts end
// with the tokens that this tokenizer adds; CTranslate2 leaves that to its
// callers, too, but for models of Marian, whose tokenizer here adds the same.
absl::StatusOr<std::unique_ptr<Tokenizer>> OpenTokenizer(
    const std::string& directory, Vocabularies vocabularies) {
  std::error_code ignored;
  if (std::filesystem::exists(directory + "/source.spm", ignored)) {
    return SpmTokenizer::LoadMarian(directory, std::move(vocabularies));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer,
                   LoadTokenizer(directory));
  if (tokenizer->vocab_size(Side::kTarget) > 0) return tokenizer;
  return std::make_unique<VocabularyOnly>(std::move(vocabularies.source),
                                          std::move(vocabularies.target));
}

}  // namespace

absl::StatusOr<ModelFiles> OpenCtranslate2(const std::string& directory) {
  ASSIGN_OR_RETURN(Ct2Model model, Ct2Model::Open(directory + "/model.bin"));
  ASSIGN_OR_RETURN(const JsonFile config,
                   JsonFile::LoadOrEmpty(directory + "/config.json"));
  ModelFiles files;
  ASSIGN_OR_RETURN(files.family, LoadCtranslate2(model, config));
  const TransformerSpec& spec = files.family.spec;
  RETURN_IF_ERROR(config.ExpectNeutral("add_source_bos", 0));
  ASSIGN_OR_RETURN(SpecialTokens tokens, ReadSpecialTokens(config));
  ASSIGN_OR_RETURN(Vocabularies vocabularies,
                   ReadVocabularies(directory, tokens.unk, spec));
  FindStart(spec, vocabularies.target, tokens);
  ASSIGN_OR_RETURN(const JsonFile generation,
                   GenerationFields(config, tokens, vocabularies.target,
                                    spec.encoder.has_value()));
  ASSIGN_OR_RETURN(files.generation,
                   LoadGenerationDefaults(directory, generation, spec));
  ASSIGN_OR_RETURN(files.tokenizer,
                   OpenTokenizer(directory, std::move(vocabularies)));
  RETURN_IF_ERROR(CheckVocabularies(*files.tokenizer, spec));
  if (!spec.encoder) {
    ASSIGN_OR_RETURN(files.chat, ChatTemplate::Load(directory));
  }
  files.tensors = std::make_unique<const Ct2Model>(std::move(model));
  return files;
}

}  // namespace attend
