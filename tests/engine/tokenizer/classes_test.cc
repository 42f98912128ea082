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

#include "absl/strings/str_cat.h"
#include "engine/tokenizer/load_tokenizer.h"
#include "tests/engine/tokenizer/lines.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

using nlohmann::json;

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

json ReadJson(const std::string& path) {
  json read;
  std::ifstream(path) >> read;
  return read;
}

void AddEncoding(const Encoding& encoding, Digest& digest) {
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
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

  absl::StatusOr<std::unique_ptr<Tokenizer>> Load(const json& row) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    json& base = bases_[row["base"]];
    if (base.is_null()) {
      base = ReadJson(absl::StrCat(kClassGolden, row["base"].get<std::string>(),
                                   "/tokenizer.json"));
    }
    json top = base;
    for (const auto& [key, value] : row["patch"].items()) top[key] = value;
    Write("tokenizer.json", top);
    for (const auto& [file, contents] : row["files"].items()) {
      Write(file, contents);
    }
    return LoadTokenizer(directory_);
  }

 private:
  void Write(const std::string& file, const json& contents) {
    std::ofstream(directory_ + "/" + file) << contents;
  }

  const std::string directory_;
  std::map<std::string, json> bases_;
};

// Every class of transformers over files of every kind, with settings that
// agree with the files and that do not.
TEST_F(ClassesTest, EncodeAsInTransformers) {
  std::vector<std::string> texts = kClassTexts;
  const Lines lines;
  for (int i = 0; i < kClassLines; ++i) texts.push_back(lines.Get(i));
  int number = 0;
  for (const json& row : ReadJson(absl::StrCat(kClassGolden, "classes.json"))) {
    if (kSanitized && ++number % 20 != 0) continue;
    SCOPED_TRACE(row["name"].get<std::string>());
    const auto tokenizer = Load(row);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    Digest of_lines, of_pairs;
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto alone = (*tokenizer)->Encode({.text = texts[i]});
      ASSERT_TRUE(alone.ok()) << alone.status();
      if (i == 0) {
        EXPECT_EQ(alone->ids, row["ids"].get<std::vector<int>>());
      }
      AddEncoding(*alone, of_lines);
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
      AddEncoding(*pair, of_pairs);
    }
    EXPECT_EQ(of_lines.Take(), row["lines"].get<std::string>());
    EXPECT_EQ(of_pairs.Take(), row["pairs"].get<std::string>());
  }
}

}  // namespace
}  // namespace attend
