#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "engine/tokenizer/load_tokenizer.h"
#include "engine/tokenizer/spm/spm_file.h"
#include "engine/tokenizer/spm/spm_normalizer.h"
#include "tests/support/spm_bytes.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(SpmFileTest, WrongModelsAreErrors) {
  const std::string unknown = SpmPiece("<unk>", 2);
  ASSERT_TRUE(ParseSpmFile("a.spm", unknown).ok());
  struct Case {
    std::string bytes;
    std::string error;
  };
  for (const Case& c : std::vector<Case>{
           {"", "0 pieces"},
           {"not a model", "not a sentencepiece model"},
           {SpmPiece("a", 1), "0 unknown pieces"},
           {unknown + SpmPiece("x", 2), "2 unknown pieces"},
           {unknown + unknown, "\"<unk>\" occurs twice"},
           {unknown + SpmPiece("", 1), "piece 1 is empty"},
           {unknown + SpmPiece("\xff", 1), "piece 1 is empty or not UTF-8"},
           {unknown + SpmPiece("a", 1, std::nanf("")), "piece 1 has score nan"},
           {unknown + SpmPiece("a", 9), "piece 1 has type 9"},
           {unknown + SpmPiece("<0x00>", 6), "1 byte pieces"},
           {unknown + SpmField(2, "\x18\x03"), "model_type is 3"},
           {unknown + SpmField(2, "\x18"), "not a sentencepiece model"},
           {unknown + SpmField(2, "\xe2\x02\x01\xff"), "unk_surface"},
           {std::string((16 << 20) + 1, '\0'), "16777217 bytes, limit is"},
           {unknown + SpmField(5, SpmField(2, "abcd")), "denormalizer_spec"},
       }) {
    const auto file = ParseSpmFile("a.spm", c.bytes);
    EXPECT_TRUE(absl::IsInvalidArgument(file.status())) << c.error;
    EXPECT_THAT(file.status().message(),
                AllOf(HasSubstr("a.spm"), HasSubstr(c.error)));
  }
}

// What a file does not say, or says in a field of another type.
TEST(SpmFileTest, Defaults) {
  const std::string unknown = SpmPiece("<unk>", 2);
  for (const std::string& bytes :
       {unknown, unknown + SpmField(2, "") + SpmField(3, ""),
        unknown + SpmField(2, "\x1a\x01x") + SpmField(3, "\x22\x01x")}) {
    const auto file = ParseSpmFile("a.spm", bytes);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->model, SpmFile::Model::kUnigram);
    EXPECT_EQ(file->unknown_surface, " \xe2\x81\x87 ");
    EXPECT_EQ(file->charsmap, "");
    EXPECT_TRUE(file->add_dummy_prefix);
    EXPECT_TRUE(file->remove_extra_spaces);
    EXPECT_TRUE(file->escape_spaces);
    EXPECT_FALSE(file->space_is_suffix);
    EXPECT_FALSE(file->byte_fallback);
  }
}

// Every field by its number.
TEST(SpmFileTest, Fields) {
  const auto file = ParseSpmFile(
      "a.spm",
      SpmPiece("<unk>", 2) + SpmPiece("a", 4, -1.5f) +
          SpmField(2, std::string("\x18\x02\xc0\x01\x01") + "\xe2\x02\x01?") +
          SpmField(3, std::string("\x12\x01m\x18\0\x20\0\x28\0", 9)));
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->pieces.size(), 2u);
  EXPECT_EQ(file->pieces[1].text, "a");
  EXPECT_EQ(file->pieces[1].score, -1.5f);
  EXPECT_EQ(file->pieces[1].type, SpmFile::Type::kUserDefined);
  EXPECT_EQ(file->unknown_id, 0);
  EXPECT_EQ(file->model, SpmFile::Model::kBpe);
  EXPECT_EQ(file->unknown_surface, "?");
  EXPECT_TRUE(file->space_is_suffix);
  EXPECT_EQ(file->charsmap, "m");
  EXPECT_FALSE(file->add_dummy_prefix);
  EXPECT_FALSE(file->remove_extra_spaces);
  EXPECT_FALSE(file->escape_spaces);
}

TEST(SpmFileTest, WrongTablesOfTheNormaliser) {
  const std::string unknown = SpmPiece("<unk>", 2);
  const auto create = [&](const std::string& charsmap) {
    const auto file =
        ParseSpmFile("a.spm", unknown + SpmField(3, SpmField(2, charsmap)));
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
  const std::string whole =
      ReadAll(ATTEND_SOURCE_DIR "/models/en-de/source.spm");
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

// A copy of a golden directory in which files can be replaced.
class HostileSpmTest : public testing::Test {
 protected:
  ~HostileSpmTest() override { fs::remove_all(directory_); }

  void Copy(const std::string& name) {
    fs::remove_all(directory_);
    std::string made = testing::TempDir() + "attend-XXXXXX";
    directory_ = mkdtemp(made.data());
    const fs::path golden =
        ATTEND_SOURCE_DIR "/tests/engine/tokenizer/golden/" + name;
    for (const fs::directory_entry& file : fs::directory_iterator(golden)) {
      if (file.path().filename() != "expected.json") {
        fs::copy(file.path(), fs::path(directory_) / file.path().filename());
      }
    }
  }
  void Write(const std::string& file, const std::string& contents) {
    std::ofstream(directory_ + "/" + file, std::ios::binary) << contents;
  }
  // What comes of a directory with that file; it must name the file.
  std::string ErrorWith(const std::string& file, const std::string& contents) {
    Write(file, contents);
    const absl::Status status = LoadTokenizer(directory_).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(status.message(), HasSubstr(file));
    return std::string(status.message());
  }
  // Neither loading nor using ends the process.
  void LoadAndUse() {
    const auto tokenizer = LoadTokenizer(directory_);
    if (!tokenizer.ok()) return;
    const auto encoding = (*tokenizer)
                              ->Encode({.text = "The cat \xef\xac\x81 <mask> "
                                                "\xe3\x80\x80 \xf0\x9f\x90\x95",
                                        .pair = "sits"});
    if (!encoding.ok()) return;
    (void)(*tokenizer)->Decode(encoding->ids, Side::kTarget, true);
  }

  std::string directory_;
};

TEST_F(HostileSpmTest, CutFiles) {
  for (const auto& [name, file] :
       {std::pair("spm-t5", "spiece.model"),
        std::pair("spm-xlm-roberta", "sentencepiece.bpe.model"),
        std::pair("m2m-100", "sentencepiece.bpe.model")}) {
    Copy(name);
    const std::string whole = ReadAll(directory_ + "/" + file);
    EXPECT_THAT(ErrorWith(file, ""), HasSubstr("0 pieces"));
    // In the first piece, in the last one, in what follows the pieces.
    for (const size_t size :
         {size_t{5}, whole.size() / 3, whole.size() / 2, whole.size() - 1}) {
      EXPECT_THAT(ErrorWith(file, whole.substr(0, size)),
                  HasSubstr("truncated"));
    }
    for (size_t size = 0; size < whole.size(); size += 401) {
      Write(file, whole.substr(0, size));
      LoadAndUse();
    }
  }
}

TEST_F(HostileSpmTest, FlippedBytesNeverCrash) {
  std::mt19937 random(29);
  for (const auto& [name, file] :
       {std::pair("spm-pegasus", "spiece.model"),
        std::pair("spm-mbart", "sentencepiece.bpe.model"),
        std::pair("m2m-100", "sentencepiece.bpe.model"),
        std::pair("m2m-100", "vocab.json")}) {
    Copy(name);
    const std::string whole = ReadAll(directory_ + "/" + file);
    for (int round = 0; round < 60; ++round) {
      std::string bytes = whole;
      for (int i = 0; i < 4; ++i) {
        bytes[random() % bytes.size()] ^= static_cast<char>(random());
      }
      Write(file, bytes);
      LoadAndUse();
    }
  }
}

// Tables of the normaliser that point anywhere, followed by the library.
TEST_F(HostileSpmTest, WildTables) {
  Copy("spm-t5");
  std::mt19937 random(31);
  for (int round = 0; round < 40; ++round) {
    std::string charsmap("\0\4\0\0", 4);
    for (int i = 0; i < 1024; ++i) {
      charsmap.push_back(static_cast<char>(random()));
    }
    Write("spiece.model", SpmPiece("<pad>", 3) + SpmPiece("</s>", 3) +
                              SpmPiece("<unk>", 2) + SpmPiece("a", 1) +
                              SpmField(3, SpmField(2, charsmap + "ab")));
    LoadAndUse();
  }
}

TEST_F(HostileSpmTest, ModelsThatAreNotTheClasss) {
  const std::string file = "sentencepiece.bpe.model";
  const std::string unknown = SpmPiece("<unk>", 2);
  const std::string begin = SpmPiece("<s>", 3);
  const std::string end = SpmPiece("</s>", 3);
  const std::string a = SpmPiece("a", 1);
  Copy("spm-xlm-roberta");
  EXPECT_THAT(ErrorWith(file, unknown + begin + a),
              AllOf(HasSubstr("piece 2 is \"a\""),
                    HasSubstr("expected 3 control pieces first")));
  EXPECT_THAT(ErrorWith(file, unknown + begin), HasSubstr("2 pieces"));
  EXPECT_THAT(ErrorWith(file, begin + end + SpmPiece("<p>", 3) + unknown),
              HasSubstr("piece 3 is the unknown one"));
  EXPECT_THAT(ErrorWith(file, unknown + begin + end + a + SpmPiece("<pad>", 1)),
              HasSubstr("piece \"<pad>\" occurs twice, with ids 1 and 5"));
  EXPECT_THAT(ErrorWith(file, unknown + begin + end + SpmField(2, "\x18\x02")),
              HasSubstr("model_type is 2 (bpe), expected 1 (unigram)"));
  Copy("spm-t5");
  EXPECT_THAT(ErrorWith("spiece.model", unknown + a),
              HasSubstr("no piece \"</s>\", the eos_token"));
  Copy("spm-pegasus");
  EXPECT_THAT(ErrorWith("spiece.model", unknown + end + a),
              HasSubstr("of which none after the first"));
}

TEST_F(HostileSpmTest, ClassesWithoutRules) {
  for (const char* name : {"NllbTokenizer", "TokenizersBackend"}) {
    Copy("spm-t5");
    // The last one is also that of files that name none.
    const bool named = name != std::string("TokenizersBackend");
    Write(
        "tokenizer_config.json",
        named ? std::string(R"({"tokenizer_class": ")") + name + "\"}" : "{}");
    const absl::Status status = LoadTokenizer(directory_).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("spiece.model"),
                      HasSubstr(" " + std::string(name) + ","),
                      HasSubstr("needs a tokenizer.json")));
  }
}

TEST_F(HostileSpmTest, Configs) {
  const std::string file = "tokenizer_config.json";
  Copy("spm-pegasus");
  EXPECT_THAT(ErrorWith(file, R"({"offset": -1})"),
              AllOf(HasSubstr("offset is -1"), HasSubstr("in [0, 100000]")));
  EXPECT_THAT(ErrorWith(file, R"({"offset": 1e9})"), HasSubstr("offset is"));
  EXPECT_THAT(ErrorWith(file, R"({"extra_ids": -7})"),
              HasSubstr("extra_ids is -7"));
  EXPECT_THAT(ErrorWith(file, R"({"language_codes": 3})"),
              HasSubstr("language_codes is 3"));
  Copy("m2m-100");
  const auto error = [&](const std::string& contents) {
    Write(file, R"({"tokenizer_class": "M2M100Tokenizer", )" + contents);
    return std::string(LoadTokenizer(directory_).status().message());
  };
  EXPECT_THAT(
      error(R"("language_codes": "mars"})"),
      AllOf(HasSubstr("tokenizer_config.json: language_codes is \"mars"),
            HasSubstr("m2m100 or wmt21")));
  EXPECT_THAT(error(R"("sp_model_kwargs": {"alpha": 0.1}})"),
              HasSubstr("sp_model_kwargs"));
  Write("special_tokens_map.json", R"({"eos_token": "<end>"})");
  EXPECT_THAT(error(R"("eos_token": "</s>"})"),
              HasSubstr("special token \"<end>\" is missing"));
}

TEST_F(HostileSpmTest, Vocabularies) {
  Copy("m2m-100");
  const auto error = [&](const std::string& tokens) {
    return ErrorWith(
        "vocab.json",
        R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3)" + tokens + "}");
  };
  EXPECT_THAT(error(R"(, "a": 5)"),
              AllOf(HasSubstr("\"a\" has id 5"), HasSubstr("without a gap")));
  EXPECT_THAT(error(R"(, "a": 3)"), HasSubstr("has id 3, which token"));
  EXPECT_THAT(error(R"(, "a": -1)"), HasSubstr("has id -1"));
  EXPECT_THAT(error(R"(, "__en__": 4)"),
              HasSubstr("token \"__en__\" has id 4, expected none"));
  EXPECT_THAT(ErrorWith("vocab.json", R"({"</s>": 0, "<unk>": 1})"),
              HasSubstr("is missing"));
  fs::remove(directory_ + "/vocab.json");
  const absl::Status status = LoadTokenizer(directory_).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("vocab.json"));
}

}  // namespace
}  // namespace attend
