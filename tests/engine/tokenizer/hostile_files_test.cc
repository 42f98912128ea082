#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "engine/tokenizer/load_tokenizer.h"

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
              AllOf(HasSubstr("\"x\" has id 4"), HasSubstr("without a gap")));
  EXPECT_THAT(error(R"(, "x": 2)"), HasSubstr("has id 2, which token"));
  EXPECT_THAT(error(R"(, "<unk>": 3)"), HasSubstr("key \"<unk>\" twice"));
  EXPECT_THAT(error(R"(, "x": -1)"), HasSubstr("\"x\" has id -1"));
  EXPECT_THAT(error(R"(, "x": 18446744073709551615)"), HasSubstr("\"x\""));
  EXPECT_THAT(error(R"(, "x": 1.5)"), HasSubstr("has id 1.5"));
  EXPECT_THAT(error(R"(, "x": "3")"), HasSubstr("\"x\" has id \"3\""));
  EXPECT_THAT(error(R"(, "x": {"y": 3})"), HasSubstr("\"x\" has id {\"y\":3}"));
  EXPECT_THAT(error(R"(, "x": [3])"), HasSubstr("\"x\" has id [3]"));
  EXPECT_THAT(error(R"(, "x": null)"), HasSubstr("\"x\" has id null"));
  EXPECT_THAT(error(R"(, "x")"), HasSubstr("not valid json"));
  EXPECT_THAT(ErrorWith("vocab.json", std::string(100000, '[')),
              HasSubstr("nested deeper than 64"));
  EXPECT_THAT(ErrorWith("vocab.json", "7"),
              HasSubstr("is 7, expected a json object"));
  EXPECT_THAT(ErrorWith("vocab.json", R"({"</s>": 0, "<unk>": 1})"),
              HasSubstr("special token \"<pad>\" is missing"));
}

TEST_F(HostileFilesTest, TokenizerConfigs) {
  const auto error = [&](const std::string& contents) {
    return ErrorWith("tokenizer_config.json", contents);
  };
  EXPECT_THAT(error("[]"), HasSubstr("expected a json object"));
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
  EXPECT_THAT(error("{\"x\":" + std::string(50000, '[') +
                    std::string(50000, ']') + "}"),
              HasSubstr("nested deeper than 64"));
  EXPECT_THAT(error(R"({"eos_token": "a", "eos_token": "b"})"),
              HasSubstr("key \"eos_token\" twice"));
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
              AllOf(HasSubstr("tokenizer.json: model: type is \"WordPizza\""),
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

}  // namespace
}  // namespace attend
