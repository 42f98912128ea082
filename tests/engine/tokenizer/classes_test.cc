#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/tokenizer/load_tokenizer.h"
#include "tests/engine/tokenizer/lines.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

// The order of members counts.
using Json = nlohmann::ordered_json;

constexpr char kClassGolden[] =
    ATTEND_SOURCE_DIR "/tests/engine/tokenizer/golden/";
constexpr int kClassLines = 12;

// TEXTS of golden/make_classes.py.
const std::vector<std::string> kClassTexts = {
    "Hello the  cat, <mask> \u00c9\u4f60 don't 1234</s> x",
    "",
    " ",
    "  a ",
    "<s>a</s> [MASK] b<pad>",
    "``q'' \ufb01 e\u0301\n\nx\t",
    "a<x>b <x> cat cats",
    "\u2581a\u2581 <unk>\u00a0[SEP] a",
    "THE Cat"};

Json ReadJson(const std::string& path) {
  Json read;
  std::ifstream(path) >> read;
  return read;
}

void AddEncoding(const Encoding& encoding, bool ids_only, Digest& digest) {
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    if (ids_only) {
      digest.Add(encoding.ids[i]);
      continue;
    }
    const TokenOrigin& origin = encoding.origins[i];
    const bool own = origin.text < 0;
    for (const int64_t number :
         {encoding.ids[i], encoding.types[i], origin.text,
          own ? 0 : origin.begin, own ? 0 : origin.end}) {
      digest.Add(number);
    }
  }
  digest.Add(-1);
}

// A directory for a case of golden/classes.json.
class ClassesTest : public testing::Test {
 protected:
  ClassesTest()
      : directory_(absl::StrCat(testing::TempDir(), "/classes-", getpid())) {}
  ~ClassesTest() override { std::filesystem::remove_all(directory_); }

  absl::StatusOr<std::unique_ptr<Tokenizer>> Load(const Json& row) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    const std::string name = row.value("base", "");
    if (name.empty()) {
      MakeFiles(row);
    } else if (absl::StartsWith(name, "spm-")) {
      CopyModel(kClassGolden + name);
    } else {
      Json top = Base(name);
      for (const auto& [key, value] : row["patch"].items()) top[key] = value;
      Write("tokenizer.json", top);
    }
    for (const auto& [file, contents] : row["files"].items()) {
      Write(file, contents);
    }
    return LoadTokenizer(directory_);
  }

  // Compares the tokenizers of all cases of a file with transformers.
  void Compare(const std::string& golden);

 private:
  // The contents of a tokenizer.json.
  const Json& Base(const std::string& name) {
    Json& base = bases_[name];
    if (base.is_null()) {
      base = ReadJson(absl::StrCat(kClassGolden, name, "/tokenizer.json"));
    }
    return base;
  }
  // The vocabulary of a case of golden/files.json.
  void MakeFiles(const Json& row) {
    const Json copies = row.value("copy", Json::object());
    for (const auto& [file, from] : copies.items()) {
      std::filesystem::copy(kClassGolden + from.get<std::string>(),
                            directory_ + "/" + file);
    }
    const Json made = row.value("make", Json::object());
    for (const auto& [kind, name] : made.items()) {
      const Json& model = Base(name)["model"];
      if (kind == "words") {
        std::map<int, std::string> words;
        for (const auto& [word, id] : model["vocab"].items()) words[id] = word;
        std::ofstream text(directory_ + "/vocab.txt");
        for (const auto& [id, word] : words) text << word << "\n";
        continue;
      }
      Write("vocab.json", model["vocab"]);
      std::ofstream text(directory_ + "/merges.txt");
      text << "#version: 0.2\n";
      for (const Json& merge : model["merges"]) {
        text << merge[0].get<std::string>() << " "
             << merge[1].get<std::string>() << "\n";
      }
    }
  }
  void CopyModel(const std::string& from) {
    for (const auto& file : std::filesystem::directory_iterator(from)) {
      if (file.path().extension() != ".model") continue;
      std::filesystem::copy(file.path(), directory_);
    }
  }
  void Write(const std::string& file, const Json& contents) {
    std::ofstream(directory_ + "/" + file) << contents;
  }

  const std::string directory_;
  std::map<std::string, Json> bases_;
};

void ClassesTest::Compare(const std::string& golden) {
  std::vector<std::string> texts = kClassTexts;
  const Lines lines;
  for (int i = 0; i < kClassLines; ++i) texts.push_back(lines.Get(i));
  int number = 0;
  for (const Json& row : ReadJson(kClassGolden + golden)) {
    if (kSanitized && ++number % 20 != 0) continue;
    SCOPED_TRACE(row["name"].get<std::string>());
    const auto tokenizer = Load(row);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    const bool ids_only = !row.contains("pairs");
    Digest of_lines, of_pairs;
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto alone = (*tokenizer)->Encode({.text = texts[i]});
      ASSERT_TRUE(alone.ok()) << alone.status();
      if (i == 0) {
        EXPECT_EQ(alone->ids, row["ids"].get<std::vector<int>>());
      }
      AddEncoding(*alone, ids_only, of_lines);
      const auto text = (*tokenizer)->Decode(alone->ids, Side::kTarget, false);
      ASSERT_TRUE(text.ok()) << text.status();
      for (const char c : *text) of_lines.Add(static_cast<unsigned char>(c));
      of_lines.Add(-1);
      const auto pair =
          (*tokenizer)
              ->Encode({.text = texts[i],
                        .pair = texts[i == 0 ? texts.size() - 1 : i - 1],
                        .max_tokens = 12});
      ASSERT_TRUE(pair.ok()) << pair.status();
      AddEncoding(*pair, ids_only, of_pairs);
    }
    EXPECT_EQ(of_lines.Take(), row["lines"].get<std::string>());
    if (ids_only) continue;
    EXPECT_EQ(of_pairs.Take(), row["pairs"].get<std::string>());
  }
}

// Classes that transformers runs without the file, or with more than text: the
// ids of the file would be others.
TEST_F(ClassesTest, ClassesWithoutUseForTheFileAreRefused) {
  const auto load = [&](const std::string& name, const char* base) {
    return Load({{"base", base},
                 {"patch", Json::object()},
                 {"files",
                  {{"tokenizer_config.json", {{"tokenizer_class", name}}},
                   {"config.json", {{"model_type", "roberta"}}}}}})
        .status();
  };
  for (const std::string name :
       {"BertJapanese", "Bertweet", "ByT5", "Cpm", "Esm", "Esmc", "LayoutLMv2",
        "LayoutLMv3", "LayoutXLM", "MarkupLM", "Phobert", "RoFormer",
        "Whisper"}) {
    for (const char* ending : {"Tokenizer", "TokenizerFast"}) {
      EXPECT_THAT(
          std::string(load(name + ending, "roberta").message()),
          testing::ContainsRegex("/tokenizer.json: the tokenizer's class is " +
                                 name + "Tokenizer, which "));
    }
  }
  EXPECT_TRUE(load("PreTrainedTokenizerFast", "roberta").ok());
  EXPECT_TRUE(load("LayoutLMTokenizer", "bert").ok());
  EXPECT_THAT(std::string(load("MBart50Tokenizer", "roberta").message()),
              testing::HasSubstr("MBart50Tokenizer expects pieces"));
}

// Every class of transformers over files of every kind, with settings that
// agree with the files and that do not.
TEST_F(ClassesTest, EncodeAsInTransformers) { Compare("classes.json"); }

// The same classes in directories without a tokenizer.json.
TEST_F(ClassesTest, BuildOfOtherFilesAsInTransformers) {
  Compare("files.json");
}

}  // namespace
}  // namespace attend
