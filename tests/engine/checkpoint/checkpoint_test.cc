#include "engine/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "absl/strings/str_cat.h"
#include "engine/checkpoint/safetensors.h"
#include "tests/engine/checkpoint/files.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Bytes(std::initializer_list<uint16_t> values) {
  std::string bytes;
  for (const uint16_t v : values) {
    bytes.push_back(static_cast<char>(v & 0xff));
    bytes.push_back(static_cast<char>(v >> 8));
  }
  return bytes;
}

// "a" F16 [2, 2], then "b" F16 [2].
constexpr char kHeader[] =
    R"({"a":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]},)"
    R"("b":{"dtype":"F16","shape":[2],"data_offsets":[8,12]}})";
const std::string& Data() {
  static const std::string data =
      Bytes({0x3c00, 0xbc00, 0x0001, 0x7bff, 0x8000, 0x3555});
  return data;
}

std::vector<float> Floats(const TensorView& view) {
  std::vector<float> values(NumbersIn(view.type, view.bytes.size()));
  ToFloats(view.type, view.bytes.data(), absl::MakeSpan(values));
  return values;
}

absl::StatusOr<std::vector<float>> Read(const std::string& directory,
                                        const std::string& name) {
  const auto checkpoint = Checkpoint::Open(directory);
  if (!checkpoint.ok()) return checkpoint.status();
  const auto view = checkpoint->Find(name);
  if (!view.ok()) return view.status();
  return Floats(*view);
}

TEST(CheckpointTest, ReadsHalfPrecisionExactly) {
  const TestDirectory directory;
  directory.Write("model.safetensors", Safetensors(kHeader, Data()));
  const auto checkpoint = Checkpoint::Open(directory.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_THAT(checkpoint->Names(), ElementsAre("a", "b"));
  EXPECT_TRUE(checkpoint->Has("a"));
  EXPECT_FALSE(checkpoint->Has("c"));
  EXPECT_THAT(checkpoint->Find("a")->shape, ElementsAre(2, 2));
  EXPECT_THAT(*Read(directory.path(), "a"),
              ElementsAre(1.0f, -1.0f, 0x1p-24f, 65504.0f));
  const auto b = *Read(directory.path(), "b");
  EXPECT_TRUE(b[0] == 0 && std::signbit(b[0]));
  EXPECT_EQ(b[1], 0x555p-12f);
}

TEST(CheckpointTest, ReadsEveryHalfAsTheFormatDefinesIt) {
  std::string data;
  for (int bits = 0; bits < 0x7c00; ++bits) data += Bytes({uint16_t(bits)});
  const TestDirectory directory;
  directory.Write("model.safetensors",
                  Safetensors(R"({"h":{"dtype":"F16","shape":[31744],)"
                              R"("data_offsets":[0,63488]}})",
                              data));
  const auto values = Read(directory.path(), "h");
  ASSERT_TRUE(values.ok()) << values.status();
  for (int bits = 0; bits < 0x7c00; ++bits) {
    const int exponent = bits >> 10;
    const double fraction = bits & 0x3ff;
    ASSERT_EQ((*values)[bits], exponent == 0
                                   ? std::ldexp(fraction, -24)
                                   : std::ldexp(fraction + 1024, exponent - 25))
        << bits;
  }
}

TEST(CheckpointTest, ReadsOtherTypesAtAnyAlignment) {
  const float f = 0.1f;
  std::string data(4, '\0');
  std::memcpy(data.data(), &f, 4);
  // One byte of another type in front; a scalar; nothing at all.
  const std::string header =
      R"({"u":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
      R"("f":{"dtype":"F32","shape":[],"data_offsets":[1,5]},)"
      R"("h":{"dtype":"BF16","shape":[1,2],"data_offsets":[5,9]},)"
      R"("e":{"dtype":"F32","shape":[0,3],"data_offsets":[9,9]},)"
      R"("__metadata__":{"format":"pt"}})";
  const TestDirectory directory;
  directory.Write("model.safetensors",
                  Safetensors(header, "x" + data + Bytes({0x3f80, 0xc049})));
  EXPECT_THAT(*Read(directory.path(), "f"), ElementsAre(f));
  EXPECT_THAT(*Read(directory.path(), "h"), ElementsAre(1.0f, -3.140625f));
  EXPECT_THAT(*Read(directory.path(), "e"), ElementsAre());
  EXPECT_THAT(Read(directory.path(), "u").status().message(),
              AllOf(HasSubstr("tensor u"), HasSubstr("U8")));
}

// Rounded to the nearest f32, and not lost when the file's pages are dropped.
TEST(CheckpointTest, DoublesAreReadAsFloats) {
  const double values[] = {0.1, -1e300, 16777217};
  std::string data(sizeof(values), '\0');
  std::memcpy(data.data(), values, sizeof(values));
  const TestDirectory directory;
  directory.Write(
      "model.safetensors",
      Safetensors(R"({"u":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                  R"("d":{"dtype":"F64","shape":[3,1],"data_offsets":[1,25]}})",
                  "x" + data));
  const auto checkpoint = Checkpoint::Open(directory.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  const auto view = checkpoint->Find("d");
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->type, StorageType::kF32);
  EXPECT_THAT(view->shape, ElementsAre(3, 1));
  checkpoint->Drop(view->bytes);
  EXPECT_THAT(
      Floats(*view),
      ElementsAre(0.1f, -std::numeric_limits<float>::infinity(), 16777216.0f));
  EXPECT_EQ(checkpoint->Find("d")->bytes.data(), view->bytes.data());
}

TEST(CheckpointTest, AMissingTensorIsNamed) {
  const TestDirectory directory;
  const std::string file =
      directory.Write("model.safetensors", Safetensors(kHeader, Data()));
  EXPECT_THAT(Read(directory.path(), "c").status().message(),
              AllOf(HasSubstr(file), HasSubstr("no tensor c")));
}

TEST(CheckpointTest, WhatIsDroppedCanBeReadAgain) {
  const TestDirectory directory;
  directory.Write("model.safetensors", Safetensors(kHeader, Data()));
  const auto checkpoint = Checkpoint::Open(directory.path());
  const auto a = checkpoint->Find("a");
  const std::vector<float> values = Floats(*a);
  checkpoint->Drop(a->bytes);
  EXPECT_EQ(Floats(*a), values);
}

absl::StatusOr<std::map<std::string, SafetensorsEntry>> Header(
    const std::string& bytes) {
  return ReadSafetensorsHeader(
      "a.safetensors",
      absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(bytes.data()),
                          bytes.size()));
}

TEST(CheckpointTest, EveryCutIsAnError) {
  const std::string whole = Safetensors(kHeader, Data());
  ASSERT_TRUE(Header(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto header = Header(whole.substr(0, size));
    ASSERT_TRUE(absl::IsInvalidArgument(header.status())) << size;
    EXPECT_THAT(header.status().message(), HasSubstr("a.safetensors"));
  }
}

TEST(CheckpointTest, FlippedBitsGiveAnErrorOrAFileThatFits) {
  const std::string whole = Safetensors(kHeader, Data());
  for (size_t bit = 0; bit < (8 + sizeof(kHeader)) * 8; ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    const auto header = Header(bytes);
    if (!header.ok()) continue;
    for (const auto& [name, entry] : *header) {
      EXPECT_LE(entry.begin, entry.end);
      EXPECT_LE(entry.end, whole.size());
    }
  }
}

TEST(CheckpointTest, HostileHeaders) {
  const auto tensor = [](const std::string& entry) {
    return R"({"a":)" + entry + "}";
  };
  struct Case {
    std::string header;
    std::string error;
  };
  const std::string huge = "4611686018427387904";
  const TestDirectory directory;
  for (const Case& c : std::vector<Case>{
           {tensor("3"), "expected an object"},
           {tensor("{}"), "dtype is null"},
           {tensor(R"({"dtype":"F13","shape":[1],"data_offsets":[0,4]})"),
            "dtype is \"F13\""},
           {tensor(R"({"dtype":5,"shape":[1],"data_offsets":[0,4]})"),
            "dtype is 5"},
           {tensor(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"),
            "shape is [-1]"},
           {tensor(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})"),
            "shape is [1.5]"},
           {tensor(R"({"dtype":"F32","shape":"x","data_offsets":[0,4]})"),
            "shape is \"x\""},
           {tensor(R"({"dtype":"F32","shape":[)" + huge + "," + huge +
                   R"(],"data_offsets":[0,4]})"),
            "product below 2^64"},
           {tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[0,)" + huge +
                   "]}"),
            "data_offsets"},
           {tensor(R"({"dtype":"F32","shape":[3],"data_offsets":[0,16]})"),
            "is the file cut?"},
           {tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})"),
            "expected 8 bytes for F32 of shape [2]"},
           {tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})"),
            "data_offsets"},
           {tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[0]})"),
            "data_offsets"},
           {tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"),
            "12 bytes after the header, but its tensors end at byte 4"},
           {tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[4,12]})"),
            "begins at 4, expected 0"},
           {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
            R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
            "tensor b begins at 4, expected 8, since it overlaps a"},
           {R"({"a":1,"a":2})", "key \"a\" twice"},
           {"[]", "expected a json object"},
           {"{\"a\":" + std::string(1000, '['), "nested deeper"},
       }) {
    directory.Write("model.safetensors",
                    Safetensors(c.header, std::string(12, '\0')));
    const auto checkpoint = Checkpoint::Open(directory.path());
    EXPECT_TRUE(absl::IsInvalidArgument(checkpoint.status())) << c.header;
    EXPECT_THAT(checkpoint.status().message(),
                AllOf(HasSubstr("model.safetensors"), HasSubstr(c.error)));
  }
}

TEST(CheckpointTest, HeaderLengthBeyondTheFile) {
  const TestDirectory directory;
  std::string bytes = Safetensors(kHeader, Data());
  for (const int at : {3, 7}) {
    std::string wrong = bytes;
    wrong[at] = '\x7f';
    directory.Write("model.safetensors", wrong);
    EXPECT_THAT(Checkpoint::Open(directory.path()).status().message(),
                HasSubstr("header length is"));
  }
}

TEST(CheckpointTest, DirectoriesWithoutWeights) {
  EXPECT_TRUE(absl::IsNotFound(Checkpoint::Open("/no/such").status()));
  const TestDirectory directory;
  EXPECT_THAT(Checkpoint::Open(directory.path()).status().message(),
              HasSubstr("neither model.safetensors"));
  const struct {
    const char* file;
    const char* error;
  } cases[] = {
      {"flax_model.msgpack", "(Flax) but neither model.safetensors nor "},
      {"tf_model.h5", "transformers 4 reads it"},
      {"consolidated.00.pth", "convert_*_weights_to_hf.py"},
      {"openvino_model.xml", "fetch the model that it was made of"},
      {"model_quantized.onnx", "has model_quantized.onnx (ONNX)"},
      {"weights.npz", "MLX"},
      {"model-Q4.gguf", "load the file itself by its path"},
      {"epoch=1.ckpt", "name it pytorch_model.bin"},
      {"checkpoint-500", "load one of them: "},
      {"model-00001-of-00002.safetensors",
       "has model-00001-of-00002.safetensors but no model-00002-of-00002"},
  };
  for (const auto& [file, error] : cases) {
    const std::string path = directory.Write(file, "x");
    const absl::Status status = Checkpoint::Open(directory.path()).status();
    EXPECT_TRUE(absl::IsNotFound(status)) << status;
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr(directory.path() + ": "), HasSubstr(error)));
    std::filesystem::remove(path);
  }
  directory.Write("checkpoint-500", "");
  directory.Write("checkpoint-1000", "");
  EXPECT_THAT(
      Checkpoint::Open(directory.path()).status().message(),
      HasSubstr("load one of them: " + directory.path() + "/checkpoint-1000"));
}

TEST(CheckpointTest, ShardsWithoutAnIndex) {
  const TestDirectory directory;
  for (const char* name : {"a", "b"}) {
    directory.Write(
        absl::StrCat("model-0000", *name == 'a' ? 1 : 2, "-of-00002",
                     ".safetensors"),
        Safetensors(absl::StrCat("{\"", name, "\":{\"dtype\":\"BF16\",",
                                 "\"shape\":[1],\"data_offsets\":[0,2]}}"),
                    Bytes({0x3f80})));
  }
  const auto checkpoint = Checkpoint::Open(directory.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_THAT(checkpoint->Names(), ElementsAre("a", "b"));
}

TEST(CheckpointTest, FoldersInIt) {
  const TestDirectory directory;
  const auto one = [](const char* name, uint16_t value) {
    return Safetensors(std::string("{\"") + name +
                           R"(":{"dtype":"BF16","shape":[1],)" +
                           R"("data_offsets":[0,2]}})",
                       Bytes({value}));
  };
  directory.Write("model.safetensors", one("w", 0x3f80));
  std::filesystem::create_directory(directory.path() + "/2_Dense");
  directory.Write("2_Dense/model.safetensors", one("w", 0x4000));
  const auto checkpoint = Checkpoint::Open(directory.path(), {"2_Dense"});
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_THAT(checkpoint->Names(), testing::ElementsAre("2_Dense/w", "w"));
  EXPECT_THAT(Floats(*checkpoint->Find("2_Dense/w")), ElementsAre(2.0f));
  EXPECT_TRUE(absl::IsNotFound(
      Checkpoint::Open(directory.path(), {"3_Dense"}).status()));
  for (const char* folder : {"..", "", "/etc", "2_Dense/.."}) {
    EXPECT_THAT(Checkpoint::Open(directory.path(), {folder}).status().message(),
                HasSubstr("expected the name of a folder"));
  }
}

class ShardsTest : public testing::Test {
 protected:
  ShardsTest() {
    Shard("1.safetensors", "a");
    Shard("2.safetensors", "b");
  }
  void Shard(const std::string& file, const std::string& tensor) {
    directory_.Write(
        file, Safetensors("{\"" + tensor + R"(":{"dtype":"BF16","shape":[1],)" +
                              R"("data_offsets":[0,2]}})",
                          Bytes({0x3f80})));
  }
  absl::StatusOr<Checkpoint> Open(const std::string& map) {
    directory_.Write("model.safetensors.index.json",
                     "{\"weight_map\": " + map + "}");
    return Checkpoint::Open(directory_.path());
  }
  TestDirectory directory_;
};

TEST_F(ShardsTest, AreOneCheckpoint) {
  const auto checkpoint =
      Open(R"({"a": "1.safetensors", "b": "2.safetensors"})");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_THAT(Floats(*checkpoint->Find("b")), ElementsAre(1.0f));
}

TEST_F(ShardsTest, WrongIndexes) {
  struct Case {
    std::string map;
    std::string error;
  };
  Shard("3.safetensors", "a");
  for (const Case& c : std::vector<Case>{
           {R"({"a": "1.safetensors", "b": "9.safetensors"})", "9.safetensors"},
           {R"({"a": "../1.safetensors"})", "expected the name of a file"},
           {R"({"a": "/etc/passwd"})", "expected the name of a file"},
           {R"({"a": ".."})", "expected the name of a file"},
           {R"({"a": ""})", "expected the name of a file"},
           {R"({"a": "1\u0000.safetensors"})", "expected the name of a file"},
           {R"({"a": "2.safetensors", "b": "2.safetensors"})",
            "tensor a is not in 2.safetensors"},
           {R"({"a": "1.safetensors", "b": "3.safetensors"})",
            "tensor a is in"},
           {R"({"a": 1})", "an object of strings"},
           {"{}", "weight_map is empty"},
           {"3", "an object of strings"},
       }) {
    const auto checkpoint = Open(c.map);
    EXPECT_FALSE(checkpoint.ok()) << c.map;
    EXPECT_THAT(checkpoint.status().message(), HasSubstr(c.error));
  }
}

}  // namespace
}  // namespace attend
