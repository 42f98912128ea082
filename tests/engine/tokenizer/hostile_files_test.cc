#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "engine/tokenizer/spm_file.h"
#include "engine/tokenizer/spm_normalizer.h"
#include "engine/tokenizer/tokenizer.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kGolden[] = ATTEND_SOURCE_DIR "/tests/engine/tokenizer/golden";
constexpr char kModel[] = ATTEND_SOURCE_DIR "/models/en-de";

std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// A copy of the bundled model's tokenizer in which files can be replaced.
class HostileFilesTest : public testing::Test {
 protected:
  HostileFilesTest() {
    std::string name = testing::TempDir() + "attend-XXXXXX";
    directory_ = mkdtemp(name.data());
    for (const char* file :
         {"source.spm", "target.spm", "vocab.json", "tokenizer_config.json"}) {
      fs::copy(fs::path(kModel) / file, fs::path(directory_) / file);
    }
  }
  ~HostileFilesTest() override { fs::remove_all(directory_); }

  std::string ErrorWith(const std::string& file, const std::string& contents) {
    std::ofstream(directory_ + "/" + file, std::ios::binary) << contents;
    const auto tokenizer = LoadTokenizer(directory_);
    EXPECT_TRUE(absl::IsInvalidArgument(tokenizer.status()))
        << tokenizer.status();
    EXPECT_THAT(tokenizer.status().message(), HasSubstr(file));
    return std::string(tokenizer.status().message());
  }

  std::string directory_;
};

TEST_F(HostileFilesTest, Vocabularies) {
  const auto error = [&](const std::string& tokens) {
    return ErrorWith("vocab.json",
                     R"({"</s>": 0, "<unk>": 1, "<pad>": 2)" + tokens + "}");
  };
  EXPECT_THAT(error(R"(, "x": 4)"),
              AllOf(HasSubstr("\"x\" has id 4"), HasSubstr("without a hole")));
  EXPECT_THAT(error(R"(, "x": 2)"), HasSubstr("has id 2, as has"));
  EXPECT_THAT(error(R"(, "<unk>": 3)"), HasSubstr("\"<unk>\" occurs twice"));
  EXPECT_THAT(error(R"(, "x": -1)"), HasSubstr("\"x\" has id -1"));
  EXPECT_THAT(error(R"(, "x": 18446744073709551615)"), HasSubstr("\"x\""));
  EXPECT_THAT(error(R"(, "x": 1.5)"), HasSubstr("has id 1.5"));
  EXPECT_THAT(error(R"(, "x": "3")"), HasSubstr("is a string"));
  EXPECT_THAT(error(R"(, "x": {"y": 3})"), HasSubstr("is an object"));
  EXPECT_THAT(error(R"(, "x": [3])"), HasSubstr("is a list"));
  EXPECT_THAT(error(R"(, "x": null)"), HasSubstr("has no id"));
  EXPECT_THAT(error(R"(, "x")"), HasSubstr("not valid json"));
  EXPECT_THAT(ErrorWith("vocab.json", std::string(100000, '[')),
              HasSubstr("the top is a list"));
  EXPECT_THAT(ErrorWith("vocab.json", "7"), HasSubstr("the top is a number"));
  EXPECT_THAT(ErrorWith("vocab.json", R"({"</s>": 0, "<unk>": 1})"),
              HasSubstr("special token \"<pad>\" is missing"));
}

TEST_F(HostileFilesTest, TokenizerConfigs) {
  const auto error = [&](const std::string& contents) {
    return ErrorWith("tokenizer_config.json", contents);
  };
  EXPECT_THAT(error("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(error("{"), HasSubstr("parse error"));
  EXPECT_THAT(error(R"({"eos_token": 3})"), HasSubstr("eos_token is 3"));
  EXPECT_THAT(error(R"({"separate_vocabs": 1})"),
              HasSubstr("separate_vocabs is 1"));
  EXPECT_THAT(error(R"({"model_max_length": 0})"),
              HasSubstr("model_max_length is 0"));
  EXPECT_THAT(error(R"({"sp_model_kwargs": {"alpha": 0.1}})"),
              HasSubstr("sp_model_kwargs"));
  EXPECT_THAT(error(R"({"pad_token": {"content": "<pad>", "lstrip": true}})"),
              AllOf(HasSubstr("\"<pad>\""), HasSubstr("lstrip")));
  // Nesting beyond all reason is passed over, not followed.
  std::ofstream(directory_ + "/tokenizer_config.json")
      << "{\"x\":" + std::string(50000, '[') + std::string(50000, ']') + "}";
  EXPECT_TRUE(LoadTokenizer(directory_).ok());
}

TEST_F(HostileFilesTest, MissingFilesAreNamed) {
  fs::remove(directory_ + "/target.spm");
  const auto tokenizer = LoadTokenizer(directory_);
  EXPECT_TRUE(absl::IsNotFound(tokenizer.status()));
  EXPECT_THAT(tokenizer.status().message(), HasSubstr("target.spm"));
}

class HostileJsonTest : public testing::Test {
 protected:
  HostileJsonTest() {
    std::string name = testing::TempDir() + "attend-XXXXXX";
    directory_ = mkdtemp(name.data());
    fs::copy(fs::path(kGolden) / "bert/tokenizer.json", directory_);
    whole_ = ReadAll(directory_ + "/tokenizer.json");
  }
  ~HostileJsonTest() override { fs::remove_all(directory_); }

  absl::Status Load(const std::string& json,
                    const std::string& file = "tokenizer.json") {
    std::ofstream(directory_ + "/" + file, std::ios::binary) << json;
    return LoadTokenizer(directory_).status();
  }
  // An error that names the file.
  void ExpectError(const std::string& json,
                   const std::string& file = "tokenizer.json") {
    const absl::Status status = Load(json, file);
    EXPECT_TRUE(absl::IsInvalidArgument(status))
        << status << json.substr(0, 100);
    EXPECT_THAT(status.message(), HasSubstr(file));
  }
  std::string Replaced(const std::string& from, const std::string& to) {
    std::string json = whole_;
    const size_t at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return json.replace(at, from.size(), to);
  }

  std::string directory_;
  std::string whole_;
};

TEST_F(HostileJsonTest, WrongTokenizers) {
  EXPECT_TRUE(Load(whole_).ok());
  for (const std::string& json :
       {std::string(), std::string("null"), std::string("{}"),
        std::string("[]"), std::string("\xff\xfe{}"), std::string(100000, '['),
        "{\"model\":" + std::string(100000, '{'),
        Replaced("\"vocab\":{", "\"vocab\":[{"),
        Replaced("\"[UNK]\":1", "\"[UNK]\":-1"),
        Replaced("\"[UNK]\":1", "\"[UNK]\":\"x\""),
        Replaced("\"[UNK]\":1", "\"[UNK]\":99999999999"),
        Replaced("\"added_tokens\":[", "\"added_tokens\":[7,")}) {
    ExpectError(json);
  }
  for (size_t size = 0; size < whole_.size(); size += 211) {
    ExpectError(whole_.substr(0, size));
  }
}

TEST_F(HostileJsonTest, AnUnknownModelIsNamed) {
  const absl::Status status =
      Load(Replaced("\"model\":{\"type\":\"WordPiece\"",
                    "\"model\":{\"type\":\"WordPizza\""));
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("tokenizer.json: model.type is \"WordPizza\""),
                    HasSubstr("Unigram")));
}

TEST_F(HostileJsonTest, IdsBeyondReason) {
  const absl::Status status =
      Load(Replaced("\"[UNK]\":1", "\"[UNK]\":4000000000"));
  EXPECT_THAT(status.message(), HasSubstr("limit is"));
}

// What the library would do with a byte changed is its own affair, but it must
// not end the process.
TEST_F(HostileJsonTest, FlippedBytesNeverCrash) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::string json = whole_;
    for (int i = 0; i < 2; ++i) {
      json[random() % json.size()] = "0\"{}[]:,9-a\\"[random() % 12];
    }
    std::ofstream(directory_ + "/tokenizer.json", std::ios::binary) << json;
    const auto tokenizer = LoadTokenizer(directory_);
    if (tokenizer.ok()) {
      (void)(*tokenizer)->Encode({.text = "the cat sits", .pair = "x"});
    }
  }
}

TEST_F(HostileJsonTest, TokenizerConfigs) {
  const std::string file = "tokenizer_config.json";
  for (const char* json :
       {"[]", "{", R"({"eos_token": 3})", R"({"mask_token": {"x": "y"}})",
        R"({"added_tokens_decoder": []})",
        R"({"added_tokens_decoder": {"x": {"content": "y"}}})",
        R"({"truncation_side": "middle"})", R"({"model_max_length": "x"})",
        R"({"tokenizer_class": 7})", R"({"src_lang": []})"}) {
    ExpectError(json, file);
  }
  EXPECT_TRUE(Load("{}", file).ok());
}

std::string Message(int field, const std::string& bytes) {
  std::string message(1, static_cast<char>(field << 3 | 2));
  for (size_t n = bytes.size(); true; n >>= 7) {
    message.push_back(static_cast<char>((n & 0x7f) | (n > 0x7f ? 0x80 : 0)));
    if (n <= 0x7f) break;
  }
  return message + bytes;
}
std::string Piece(const std::string& text, const std::string& score,
                  char type) {
  return Message(1, Message(1, text) + "\x15" + score + "\x18" + type);
}
const std::string kZero(4, '\0');

TEST(SpmFileTest, WrongModelsAreErrors) {
  const std::string unknown = Piece("<unk>", kZero, 2);
  ASSERT_TRUE(ParseSpmFile("a.spm", unknown).ok());
  struct Case {
    std::string bytes;
    std::string error;
  };
  for (const Case& c : std::vector<Case>{
           {"", "0 pieces"},
           {"not a model", "not a sentencepiece model"},
           {Piece("a", kZero, 1), "0 unknown pieces"},
           {unknown + Piece("x", kZero, 2), "2 unknown pieces"},
           {unknown + unknown, "\"<unk>\" twice"},
           {unknown + Piece("", kZero, 1), "piece 1 is empty"},
           {unknown + Piece("\xff", kZero, 1), "piece 1 is empty or not UTF-8"},
           {unknown + Piece("a", std::string("\0\0\xc0\x7f", 4), 1),
            "piece 1 has score nan"},
           {unknown + Piece("a", kZero, 9), "piece 1 has type 9"},
           {unknown + Piece("<0x00>", kZero, 6), "1 byte pieces"},
           {unknown + Message(2, "\x18\x03"), "model_type is 3"},
           {unknown + Message(2, "\x1a\x01x"), "wire type"},
           {unknown + Message(5, Message(2, "abcd")), "denormalizer_spec"},
       }) {
    const auto file = ParseSpmFile("a.spm", c.bytes);
    EXPECT_TRUE(absl::IsInvalidArgument(file.status())) << c.error;
    EXPECT_THAT(file.status().message(),
                AllOf(HasSubstr("a.spm"), HasSubstr(c.error)));
  }
}

TEST(SpmFileTest, WrongTablesOfTheNormaliser) {
  const std::string unknown = Piece("<unk>", kZero, 2);
  const auto create = [&](const std::string& charsmap) {
    const auto file =
        ParseSpmFile("a.spm", unknown + Message(3, Message(2, charsmap)));
    EXPECT_TRUE(file.ok()) << file.status();
    return SpmNormalizer::Create("a.spm", *file);
  };
  for (const std::string& bad :
       {std::string("x"), std::string("\xff\xff\xff\xff", 4),
        std::string("\4\0\0\0abcd", 8), std::string("\3\0\0\0abcde", 9)}) {
    EXPECT_THAT(create(bad).status().message(),
                HasSubstr("precompiled_charsmap"));
  }
  // A table whose units point anywhere: followed only inside of it.
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::string charsmap("\0\4\0\0", 4);
    for (int i = 0; i < 1024; ++i) charsmap.push_back(char(random()));
    const auto normalizer = create(charsmap + std::string("ab\0c", 4));
    ASSERT_TRUE(normalizer.ok()) << normalizer.status();
    std::string text;
    for (int i = 0; i < 300; ++i) text.push_back(char(random() % 128));
    (void)normalizer->Normalize(text);
  }
}

TEST(SpmFileTest, FlippedBytesNeverCrash) {
  const std::string whole = ReadAll(std::string(kModel) + "/source.spm");
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 3; ++i)
      bytes[random() % bytes.size()] ^= char(random());
    if (round % 3 == 0) bytes.resize(random() % bytes.size());
    const auto file = ParseSpmFile("a.spm", bytes);
    if (!file.ok()) continue;
    const auto normalizer = SpmNormalizer::Create("a.spm", *file);
    if (normalizer.ok())
      (void)normalizer->Normalize("A young man \xef\xac\x81");
  }
}

}  // namespace
}  // namespace attend
