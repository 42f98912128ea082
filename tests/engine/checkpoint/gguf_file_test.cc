#include "engine/checkpoint/gguf/gguf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

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
              AllOf(HasSubstr("split.count is 3"), HasSubstr("--merge")));
  EXPECT_THAT(
      Error("GGUF" + Raw<uint32_t>(3) + Raw<uint64_t>(0) + Raw(~uint64_t{0})),
      HasSubstr("keys, limit is 65536"));
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
  EXPECT_THAT(error(TensorInfo("a", {256}, 23, 0)),
              AllOf(HasSubstr("has type IQ4_XS, which is not supported"),
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
