#include "engine/tokenizer/files/load_files.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/json/json_file.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/files/byte_ranks.h"
#include "engine/tokenizer/files/load_pieces.h"
#include "engine/tokenizer/files/make_tokenizer.h"
#include "engine/tokenizer/files/merge_list.h"
#include "engine/tokenizer/files/python_classes.h"
#include "engine/tokenizer/files/word_list.h"
#include "engine/tokenizer/spm/piece_classes.h"
#include "engine/tokenizer/spm/spm_tokenizer.h"
#include "engine/tokenizer/text/class_table.h"
#include "engine/tokenizer/text/ids_only.h"
#include "engine/tokenizer/text/refused_classes.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Loaded = absl::StatusOr<std::unique_ptr<Tokenizer>>;

constexpr char kWords[] = "vocab.txt";
constexpr char kMerges[] = "vocab.json";
constexpr char kPieces[] = "sentencepiece.bpe.model";
constexpr char kLlama[] = "tokenizer.model";

// Classes of vocab.txt and of vocab.json; without "Tokenizer".
constexpr absl::string_view kWordClasses =
    "Bert ConvBert DPRContextEncoder DPRQuestionEncoder DPRReader DistilBert "
    "Electra Funnel LayoutLM Lxmert MPNet MobileBert Splinter SqueezeBert";
constexpr absl::string_view kMergeClasses =
    "Bart Blenderbot CLIP CodeGen Cohere Deberta GPT2 GPTNeoX Herbert LED "
    "Longformer Mvp Nougat OpenAIGPT Qwen2 Roberta";

// Vocabularies of any class: a directory with one of them has text.
constexpr const char* kVocabularies[] = {
    kMerges,          "merges.txt",          "target.spm", "spiece.model",
    kPieces,          "sentencepiece.model", "spm.model",  kLlama,
    "tiktoken.model", "tekken.json"};

bool IsOf(absl::string_view classes, absl::string_view name) {
  if (!absl::ConsumeSuffix(&name, "Tokenizer")) return false;
  const std::vector<absl::string_view> list = absl::StrSplit(classes, ' ');
  return absl::c_linear_search(list, name);
}

// The tokenizer of a model alone, whose class builds the rest.
Loaded MakeOfModel(const std::string& path, Json model, HfConfig config) {
  return MakeTokenizer(path,
                       {{"version", "1.0"},
                        {"added_tokens", Json::array()},
                        {"normalizer", nullptr},
                        {"pre_tokenizer", nullptr},
                        {"post_processor", nullptr},
                        {"decoder", nullptr},
                        {"model", std::move(model)}},
                       std::move(config));
}

// Ranks, which are the whole tokenizer.
Loaded MakeOfRanks(const std::string& path, const ByteRanks& ranks,
                   HfConfig config) {
  config.tokenizer_class.clear();
  ASSIGN_OR_RETURN(Json json, ByteRanksJson(path, ranks));
  return MakeTokenizer(path, json, std::move(config));
}

// A class of Python that is simple enough; null if its file is not there.
Loaded LoadPythonClass(const std::string& directory, const std::string& name,
                       const TokenizerSettings& settings) {
  ASSIGN_OR_RETURN(HfConfig config,
                   LoadHfConfig(directory, PythonClassSettings(name)));
  // Flags of tokenizers that are not of Python.
  config.adds_bos = config.adds_eos = std::nullopt;
  config.extra = settings;
  if (name == "ByT5Tokenizer") {
    config.eos_once = true;
    ASSIGN_OR_RETURN(Json json, ByteTokensJson(config));
    return MakeTokenizer(directory, json, std::move(config));
  }
  const std::string path = absl::StrCat(directory, "/", kWords);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return nullptr;
  ASSIGN_OR_RETURN(Json json, PlainTokensJson(path, config));
  return MakeTokenizer(path, json, std::move(config));
}

// Null if the file of that name is none of tiktoken.
Loaded LoadTiktoken(const std::string& path, HfConfig config) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  if (!IsTiktoken(text)) return nullptr;
  ASSIGN_OR_RETURN(const ByteRanks ranks, ReadTiktoken(path, text, config));
  return MakeOfRanks(path, ranks, std::move(config));
}

Loaded LoadTekken(const std::string& path, HfConfig config) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(const ByteRanks ranks, ReadTekken(path, text));
  return MakeOfRanks(path, ranks, std::move(config));
}

absl::StatusOr<bool> SaysClass(const std::string& directory) {
  std::error_code ignored;
  if (fs::exists(directory + "/tokenizer_config.json", ignored)) return true;
  ASSIGN_OR_RETURN(const JsonFile config,
                   JsonFile::LoadOrEmpty(directory + "/config.json"));
  return config.Has("model_type") || config.Has("tokenizer_class");
}

// A directory with vocabularies, none of which the class reads.
absl::Status NoFileOfClass(const std::string& path, absl::string_view name) {
  const absl::string_view reason = RefusalOf(name);
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": the tokenizer's class is ", name, ", which ",
      reason.empty() ? "does not make a tokenizer of this file" : reason,
      reason.empty() ? "" : " in transformers 5.23",
      ": it needs a tokenizer.json, or another class in tokenizer_config.json; "
      "without this file the model takes token ids"));
}

// A directory whose files have been looked at.
class FilesLoader {
 public:
  FilesLoader(const std::string& directory, HfConfig config, bool says_class)
      : directory_(directory),
        config_(std::move(config)),
        name_(config_.tokenizer_class),
        says_class_(says_class) {}

  // Null if there is no file.
  Loaded Load();

 private:
  bool Has(absl::string_view file) const {
    std::error_code ignored;
    return fs::exists(fs::path(directory_) / std::string(file), ignored);
  }
  std::string Path(absl::string_view file) const {
    return absl::StrCat(directory_, "/", file);
  }
  // The row of the class; null if it is built of no pieces.
  const PieceClass* Pieces() const;
  // Parts of Load(); null if the class is not built so, or has no file.
  Loaded LoadPrograms() const;
  Loaded LoadRanks(bool plain) const;
  Loaded LoadLists() const;

  const std::string& directory_;
  const HfConfig config_;
  const std::string name_;  // of the class
  // False if no file says what the tokenizer is, as beside model.bin.
  const bool says_class_;
};

Loaded FilesLoader::LoadPrograms() const {
  if (name_ == "MarianTokenizer" || !says_class_) {
    if (!Has("target.spm") && !Has(kMerges)) return nullptr;
    return SpmTokenizer::LoadMarian(directory_);
  }
  if (name_ == "M2M100Tokenizer" && Has(kPieces)) {
    return SpmTokenizer::LoadM2m100(Path(kPieces), Path(kMerges), config_);
  }
  if (name_ != "ByT5Tokenizer" && name_ != "EsmTokenizer") return nullptr;
  return LoadPythonClass(directory_, name_, config_.extra);
}

const PieceClass* FilesLoader::Pieces() const {
  const PieceClass* pieces = FindPieceClass(name_);
  if (pieces != nullptr) return pieces;
  // A name that transformers does not know is that of its plain class.
  const bool known = FindClassRow(name_) != nullptr ||
                     !RefusalOf(name_).empty() ||
                     config_.settings->Has("auto_map");
  return known || !says_class_ ? nullptr : &PlainPieceClass();
}

Loaded FilesLoader::LoadRanks(bool plain) const {
  if (plain && Has("tekken.json")) {
    return LoadTekken(Path("tekken.json"), config_);
  }
  if (!plain && name_ != "LlamaTokenizer") return nullptr;
  for (const char* file : {kLlama, "tiktoken.model"}) {
    if (!Has(file)) continue;
    ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer,
                     LoadTiktoken(Path(file), config_));
    if (tokenizer != nullptr) return tokenizer;
  }
  return nullptr;
}

Loaded FilesLoader::LoadLists() const {
  if (IsOf(kWordClasses, name_) && Has(kWords)) {
    ASSIGN_OR_RETURN(Json model, LoadWordList(Path(kWords)));
    if (model["vocab"].contains(config_.unk)) {
      return MakeOfModel(Path(kWords), std::move(model), config_);
    }
    return absl::InvalidArgumentError(absl::StrCat(
        Path(kWords), ": has no token \"", config_.unk, "\", the unk_token"));
  }
  if (!IsOf(kMergeClasses, name_) || !Has(kMerges)) return nullptr;
  ASSIGN_OR_RETURN(Json model,
                   LoadMergeList(Path(kMerges), Path("merges.txt")));
  return MakeOfModel(Path(kMerges), std::move(model), config_);
}

Loaded FilesLoader::Load() {
  ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, LoadPrograms());
  if (tokenizer != nullptr) return tokenizer;
  const PieceClass* pieces = Pieces();
  ASSIGN_OR_RETURN(tokenizer, LoadRanks(pieces == &PlainPieceClass()));
  if (tokenizer != nullptr) return tokenizer;
  if (pieces != nullptr) {
    // Any class reads the file of that name.
    const absl::string_view file = Has(kLlama) ? kLlama : pieces->file;
    if (Has(file)) return LoadPieces(directory_, file, *pieces, config_.extra);
  }
  ASSIGN_OR_RETURN(tokenizer, LoadLists());
  if (tokenizer != nullptr || !says_class_) return tokenizer;
  for (const char* file : kVocabularies) {
    if (Has(file)) return NoFileOfClass(Path(file), name_);
  }
  const absl::string_view reason = RefusalOf(name_);
  if (reason.empty() || !Has(kWords)) return nullptr;
  return std::make_unique<IdsOnly>(
      absl::StrCat("its class is ", name_, ", which ", reason));
}

}  // namespace

Loaded LoadTokenizerFiles(const std::string& directory,
                          const TokenizerSettings& settings) {
  ASSIGN_OR_RETURN(HfConfig config, LoadHfConfig(directory, HfPartSettings()));
  config.extra = settings;
  ASSIGN_OR_RETURN(const bool says_class, SaysClass(directory));
  return FilesLoader(directory, std::move(config), says_class).Load();
}

}  // namespace attend
