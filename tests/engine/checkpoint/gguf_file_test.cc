#include "engine/checkpoint/gguf/gguf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "absl/strings/str_format.h"
#include "engine/checkpoint/weights.h"
#include "tests/engine/checkpoint/files.h"
#include "tests/engine/checkpoint/gguf_bytes.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GgufFileTest : public testing::Test {
 protected:
  absl::StatusOr<GgufFile> Open(const std::string& bytes) {
    return GgufFile::Open(directory_.Write("m.gguf", bytes));
  }
  std::string Error(const std::string& bytes) {
    const absl::Status status = Open(bytes).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(status.message(), HasSubstr(directory_.path() + "/m.gguf"));
    return std::string(status.message());
  }
  std::string ErrorOfKey(const std::string& key) {
    return Error(Gguf({key}, {}, ""));
  }

  const TestDirectory directory_;
};

std::string Floats(std::initializer_list<float> values) {
  std::string bytes;
  for (const float value : values) bytes += Raw(value);
  return bytes;
}

TEST_F(GgufFileTest, ReadsEveryTypeOfValue) {
  const auto file = Open(Gguf(
      {Key("u8", 0, Raw<uint8_t>(200)), Key("i8", 1, Raw<int8_t>(-3)),
       Key("u16", 2, Raw<uint16_t>(60000)), Key("i16", 3, Raw<int16_t>(-4)),
       Key("u32", 4, Raw<uint32_t>(7)), Key("i32", 5, Raw<int32_t>(-5)),
       Key("f32", 6, Raw(0.5f)), Key("yes", 7, Raw<uint8_t>(1)),
       StringKey("text", "\xc4\xa0"), Key("u64", 10, Raw<uint64_t>(1)),
       Key("i64", 11, Raw<int64_t>(-6)), Key("f64", 12, Raw(0.25)),
       Key("nan", 6, Raw(std::numeric_limits<float>::quiet_NaN())),
       Key("list", 9,
           Raw<uint32_t>(8) + Raw<uint64_t>(2) + Text("a") + Text(""))},
      {}, ""));
  ASSERT_TRUE(file.ok()) << file.status();
  const JsonFile& metadata = file->metadata();
  for (const auto& [key, value] : {std::pair("u8", 200),
                                   {"i8", -3},
                                   {"u16", 60000},
                                   {"i16", -4},
                                   {"u32", 7},
                                   {"i32", -5},
                                   {"u64", 1},
                                   {"i64", -6}}) {
    EXPECT_EQ(metadata.Int(key).value_or(0), value) << key;
  }
  EXPECT_EQ(metadata.Float("f32").value_or(0), 0.5);
  EXPECT_EQ(metadata.Float("f64").value_or(0), 0.25);
  EXPECT_TRUE(metadata.Bool("yes").value_or(false));
  EXPECT_EQ(metadata.String("text").value_or(""), "\xc4\xa0");
  EXPECT_FALSE(metadata.Has("nan"));
  EXPECT_THAT(*metadata.Strings("list"), ElementsAre("a", ""));
}

TEST_F(GgufFileTest, MapsTensors) {
  const auto file = Open(
      Gguf({}, {TensorInfo("b", {3, 2}, 0, 0), TensorInfo("a", {32}, 2, 32)},
           Floats({1, 2, 3, 4, 5, 6}) + std::string(8, 0) +
               std::string("\x00\x3c", 2) + std::string(16, '\x98')));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(file->Names(), ElementsAre("a", "b"));
  const auto b = file->Find("b");
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_THAT(b->shape, ElementsAre(2, 3));  // rows first
  std::vector<float> values(6);
  ToFloats(b->type, b->bytes.data(), absl::MakeSpan(values));
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6));
  const auto a = file->Find("a");
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ(a->type, StorageType::kQ4_0);
  values.resize(32);
  ToFloats(a->type, a->bytes.data(), absl::MakeSpan(values));
  EXPECT_EQ(values[0], 0);   // the low bits, 8 - 8
  EXPECT_EQ(values[16], 1);  // the high bits, 9 - 8
  EXPECT_TRUE(absl::IsNotFound(file->Find("c").status()));
  EXPECT_TRUE(file->CheckUnchanged().ok());
  std::filesystem::resize_file(file->path(), 100);
  EXPECT_TRUE(absl::IsDataLoss(file->CheckUnchanged()));
}

// Llama's queries and keys: rows i and i + half of a head stand together.
TEST_F(GgufFileTest, PutsInterleavedRowsBack) {
  const auto file = Open(Gguf(
      {}, {TensorInfo("q", {1, 8}, 0, 0), TensorInfo("b", {8}, 0, 32)},
      Floats({0, 2, 1, 3, 4, 6, 5, 7}) + Floats({0, 2, 1, 3, 4, 6, 5, 7})));
  ASSERT_TRUE(file.ok()) << file.status();
  NameTable names;
  names.rows.push_back({"q", {"q"}, false, {.interleaved = 4}});
  names.rows.push_back({"b", {"b"}, false, {.interleaved = 4}});
  Weights weights(*file, names);
  const auto rows = weights.Rows("q", {8, 1});
  ASSERT_TRUE(rows.ok()) << rows.status();
  std::vector<float> values(5);
  (*rows)->Read(2, {values.data(), 5, 1});
  EXPECT_THAT(values, ElementsAre(2, 3, 4, 5, 6));
  StoredRows copy = (*rows)->Copy();
  copy.Read(0, {values.data(), 5, 1});
  EXPECT_THAT(values, ElementsAre(0, 1, 2, 3, 4));
  const auto bias = weights.Read("b", {8});
  ASSERT_TRUE(bias.ok()) << bias.status();
  EXPECT_THAT(absl::MakeConstSpan(bias->data(), 8),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

// A row of a slot is whole blocks, and their scales are finite.
TEST_F(GgufFileTest, RefusesBlocksThatCannotBeRead) {
  const std::string inf("\x00\x7c", 2);
  const auto file = Open(Gguf(
      {}, {TensorInfo("norm", {32}, 8, 0), TensorInfo("w", {32, 2}, 8, 64)},
      std::string(64, 0) + std::string(34, 0) + inf + std::string(32, 0)));
  ASSERT_TRUE(file.ok()) << file.status();
  NameTable names;
  names.rows.push_back({"norm", {"norm"}});
  names.rows.push_back({"w", {"w"}});
  Weights weights(*file, names);
  EXPECT_THAT(weights.Read("norm", {32}).status().message(),
              AllOf(HasSubstr("m.gguf: tensor norm has type Q8_0"),
                    HasSubstr("blocks of 32")));
  EXPECT_THAT(weights.Rows("w", {2, 32}).status().message(),
              HasSubstr("tensor w holds nan at element 32"));
}

TEST_F(GgufFileTest, RefusesWhatIsNoGguf) {
  EXPECT_TRUE(
      absl::IsNotFound(GgufFile::Open(directory_.path() + "/none").status()));
  EXPECT_THAT(Error(""), HasSubstr("the magic at byte 0 has 4 bytes, but only "
                                   "0 follow"));
  EXPECT_THAT(Error("GGML1234"), HasSubstr("not a GGUF file: begins with "
                                           "0x4c4d4747"));
  EXPECT_THAT(Error("GGUF" + Raw<uint32_t>(1) + std::string(16, 0)),
              HasSubstr("of version 1, expected version 2 or 3"));
  EXPECT_THAT(Error("GGUF" + Raw<uint32_t>(0x03000000) + std::string(16, 0)),
              HasSubstr("in big-endian"));
}

// Each length of a good file is refused, and no byte beyond is read.
TEST_F(GgufFileTest, RefusesEveryCut) {
  const std::string good = Gguf({StringKey("general.name", "m"),
                                 Key("list", 9,
                                     Raw<uint32_t>(5) + Raw<uint64_t>(2) +
                                         Raw<int32_t>(1) + Raw<int32_t>(2))},
                                {TensorInfo("a", {2}, 0, 0)}, Floats({1, 2}));
  ASSERT_TRUE(Open(good).ok());
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_THAT(Error(good.substr(0, length)), HasSubstr("cut?")) << length;
  }
}

TEST_F(GgufFileTest, RefusesBadMetadata) {
  EXPECT_THAT(ErrorOfKey(Key("k", 13, "")), HasSubstr("k has a value of type "
                                                      "13"));
  EXPECT_THAT(ErrorOfKey(Key("k", 7, "\x02")), HasSubstr("bool of value 2"));
  EXPECT_THAT(ErrorOfKey(StringKey("k", "\xff")),
              HasSubstr("k is not UTF-8 at its byte 0"));
  EXPECT_THAT(ErrorOfKey(StringKey("\xff", "v")),
              HasSubstr("key 0 is not UTF-8"));
  EXPECT_THAT(ErrorOfKey(Key("k", 8, Raw(~uint64_t{0}))),
              HasSubstr("has 18446744073709551615 bytes, limit is"));
  EXPECT_THAT(ErrorOfKey(Key("k", 9, Raw<uint32_t>(9) + Raw<uint64_t>(1))),
              HasSubstr("array of arrays"));
  EXPECT_THAT(ErrorOfKey(Key("k", 9, Raw<uint32_t>(0) + Raw(~uint64_t{0}))),
              HasSubstr("elements, limit is 4194304"));
  EXPECT_THAT(ErrorOfKey(Key("k", 9, Raw<uint32_t>(0) + Raw<uint64_t>(999))),
              HasSubstr("999 elements, but only"));
  EXPECT_THAT(Error(Gguf({NumberKey("k", 1), NumberKey("k", 1)}, {}, "")),
              HasSubstr("k occurs twice"));
  EXPECT_THAT(ErrorOfKey(NumberKey("general.alignment", 48)),
              HasSubstr("general.alignment is 48, expected a power of 2"));
  EXPECT_THAT(ErrorOfKey(NumberKey("general.alignment", 0)),
              HasSubstr("general.alignment is 0"));
  EXPECT_THAT(ErrorOfKey(NumberKey("split.count", 3)),
              HasSubstr("split.no is missing"));
  EXPECT_THAT(ErrorOfKey(NumberKey("split.count", 65535)),
              HasSubstr("split.count is 65535, expected an integer in "
                        "[0, 1000]"));
  EXPECT_THAT(
      Error("GGUF" + Raw<uint32_t>(3) + Raw<uint64_t>(0) + Raw(~uint64_t{0})),
      HasSubstr("keys, limit is 65536"));
}

// Models in several files.
class GgufPartsTest : public testing::Test {
 protected:
  struct Part {
    int number = 0;
    int count = 3;
    int tensors = 3;
    std::string tensor = "a";
    float value = 1;
  };

  std::string Path(int number) const {
    return absl::StrFormat("%s/m-%05d-of-00003.gguf", directory_.path(),
                           number);
  }
  std::string Write(int number, const Part& part) const {
    return directory_.Write(
        absl::StrFormat("m-%05d-of-00003.gguf", number),
        Gguf({NumberKey("split.no", part.number),
              NumberKey("split.count", part.count),
              NumberKey("split.tensors.count", part.tensors),
              NumberKey("of.part", part.number)},
             {TensorInfo(part.tensor, {1}, 0, 0)}, Floats({part.value})));
  }
  void SetUp() override {
    Write(1, {});
    Write(2, {.number = 1, .tensor = "b", .value = 2});
    Write(3, {.number = 2, .tensor = "c", .value = 3});
  }
  // Of opening the first file after part `number` has become `part`.
  std::string ErrorOf(int number, const Part& part) {
    Write(number, part);
    const absl::Status status = GgufFile::Open(Path(1)).status();
    SetUp();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(status.message(), HasSubstr(Path(number) + ": "));
    return std::string(status.message());
  }

  const TestDirectory directory_;
};

TEST_F(GgufPartsTest, AreOneModel) {
  const auto file = GgufFile::Open(Path(1));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->path(), Path(1));
  EXPECT_EQ(file->metadata().Int("of.part").value_or(-1), 0);
  EXPECT_THAT(file->Names(), ElementsAre("a", "b", "c"));
  float expected = 1;
  for (const char* name : {"a", "b", "c"}) {
    const auto view = file->Find(name);
    ASSERT_TRUE(view.ok()) << view.status();
    float value = 0;
    ToFloats(view->type, view->bytes.data(), absl::MakeSpan(&value, 1));
    EXPECT_EQ(value, expected++);
  }
  EXPECT_TRUE(file->CheckUnchanged().ok());
  std::filesystem::resize_file(Path(2), 100);
  EXPECT_THAT(file->CheckUnchanged().message(), HasSubstr(Path(2)));
}

TEST_F(GgufPartsTest, TheFirstIsNamed) {
  EXPECT_THAT(
      GgufFile::Open(Path(2)).status().message(),
      HasSubstr("split.no is 1, expected 0: name the first file, " + Path(1)));
  std::filesystem::rename(Path(1), directory_.path() + "/m.gguf");
  EXPECT_THAT(GgufFile::Open(directory_.path() + "/m.gguf").status().message(),
              HasSubstr("m.gguf: split.count is 3, expected a file named "
                        "NAME-00001-of-00003.gguf"));
  std::filesystem::rename(directory_.path() + "/m.gguf", Path(2));
  EXPECT_THAT(GgufFile::Open(Path(2)).status().message(),
              HasSubstr("split.no is 0, expected 1, as its name says"));
}

TEST_F(GgufPartsTest, EachIsThereAndItself) {
  std::filesystem::remove(Path(3));
  const absl::Status missing = GgufFile::Open(Path(1)).status();
  EXPECT_TRUE(absl::IsNotFound(missing)) << missing;
  EXPECT_THAT(missing.message(), HasSubstr(Path(3)));
  // Another part, one of another model, and one whose tensor is there.
  EXPECT_THAT(ErrorOf(3, {.number = 1, .tensor = "b"}),
              HasSubstr("split.no is 1, expected 2: it is part 3 of 3 by its "
                        "name"));
  EXPECT_THAT(ErrorOf(3, {.number = 2, .count = 4, .tensor = "c"}),
              HasSubstr("split.count is 4, expected 3"));
  EXPECT_THAT(ErrorOf(3, {.number = 2, .tensors = 5, .tensor = "c"}),
              HasSubstr("split.tensors.count is 5, expected 3"));
  EXPECT_THAT(ErrorOf(3, {.number = 2, .tensor = "b"}),
              HasSubstr("tensor b is in " + Path(2) + ", too"));
  for (int number = 1; number <= 3; ++number) {
    Write(number, {.number = number - 1,
                   .tensors = 7,
                   .tensor = std::string(1, 'a' + number)});
  }
  EXPECT_THAT(GgufFile::Open(Path(1)).status().message(),
              HasSubstr("split.tensors.count is 7, expected 3, as the parts "
                        "have"));
  directory_.Write("m-00002-of-00003.gguf", "GGUF");
  EXPECT_THAT(GgufFile::Open(Path(1)).status().message(),
              HasSubstr(Path(2) + ": the version at byte 4 has 4 bytes"));
}

TEST_F(GgufFileTest, RefusesBadTensors) {
  const auto error = [&](const std::string& info) {
    return Error(Gguf({}, {info}, std::string(64, 0)));
  };
  EXPECT_THAT(error(TensorInfo("a", {1, 1, 1, 1, 1}, 0, 0)),
              HasSubstr("tensor a has 5 dimensions, limit is 4"));
  EXPECT_THAT(error(TensorInfo("a", {0}, 0, 0)), HasSubstr("dimension of 0"));
  EXPECT_THAT(error(TensorInfo("a", {uint64_t{1} << 41}, 0, 0)),
              HasSubstr("dimension of 2199023255552"));
  const uint64_t large = uint64_t{1} << 40;
  EXPECT_THAT(error(TensorInfo("a", {large, large}, 0, 0)),
              HasSubstr("more than 2^64 bytes"));
  EXPECT_THAT(error(TensorInfo("a", {large, uint64_t{1} << 22}, 0, 0)),
              HasSubstr("more than 2^64 bytes"));
  EXPECT_THAT(error(TensorInfo("a", {33}, 8, 0)),
              HasSubstr("rows of 33 numbers, expected blocks of 32"));
  EXPECT_THAT(error(TensorInfo("a", {256}, 17, 0)),
              AllOf(HasSubstr("has type IQ2_XS, which is not supported"),
                    HasSubstr("Q6_K")));
  EXPECT_THAT(error(TensorInfo("a", {256}, 77, 0)), HasSubstr("has type 77"));
  EXPECT_THAT(error(TensorInfo("a", {2}, 0, 32)),
              HasSubstr("at offset 32, expected offset 0"));
  EXPECT_THAT(error(TensorInfo("a", {2}, 0, ~uint64_t{0})),
              HasSubstr("expected offset 0"));
  EXPECT_THAT(error(TensorInfo("a", {17}, 0, 0)), HasSubstr("cut?"));
  EXPECT_THAT(error(TensorInfo("a", {large}, 0, 0)), HasSubstr("cut?"));
  EXPECT_THAT(
      Error(Gguf({}, {TensorInfo("a", {2}, 0, 0), TensorInfo("a", {2}, 0, 32)},
                 std::string(64, 0))),
      HasSubstr("tensor a occurs twice"));
  EXPECT_THAT(
      Error(Gguf({}, {TensorInfo("a", {2}, 0, 0), TensorInfo("b", {2}, 0, 0)},
                 std::string(64, 0))),
      HasSubstr("tensor b has 8 bytes at offset 0, expected offset 32"));
}

}  // namespace
}  // namespace attend
