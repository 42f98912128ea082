#include "engine/checkpoint/ctranslate2/model_bin.h"

#include <cstring>
#include <string>
#include <vector>

#include "engine/checkpoint/ctranslate2/ct2_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/checkpoint/files.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
std::string Bytes(T number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

std::string Text(const std::string& text) {
  return Bytes(static_cast<uint16_t>(text.size() + 1)) + text + '\0';
}

std::string Head(uint32_t version = 6) {
  return Bytes(version) + Text("TransformerSpec") + Bytes(uint32_t{7});
}

std::string Variable(const std::string& name, std::vector<uint32_t> shape,
                     Ct2Type type, const std::string& data) {
  std::string bytes = Text(name) + Bytes(static_cast<uint8_t>(shape.size()));
  for (const uint32_t dim : shape) bytes += Bytes(dim);
  return bytes + Bytes(type) + Bytes(static_cast<uint32_t>(data.size())) + data;
}

std::string Count(uint32_t count) { return Bytes(count); }

const std::string kTwo = Bytes(1.5f) + Bytes(-2.0f);

// A file with a matrix of int8, its scales, floats, an attribute and an alias.
std::string Whole() {
  return Head() + Count(4) +
         Variable("heads", {}, Ct2Type::kInt16, Bytes(int16_t{8})) +
         Variable("v", {2}, Ct2Type::kFloat32, kTwo) +
         Variable("w", {2, 2}, Ct2Type::kInt8, "\x01\xfe\x40\x7f") +
         Variable("w_scale", {2}, Ct2Type::kFloat32, Bytes(2.f) + Bytes(4.f)) +
         Count(1) + Text("u") + Text("w");
}

TEST(ModelBinTest, TensorsAttributesAndAliasesOfAFile) {
  const TestDirectory directory;
  const auto model = Ct2Model::Open(directory.Write("model.bin", Whole()));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->spec(), "TransformerSpec");
  EXPECT_EQ(model->revision(), 7);
  EXPECT_THAT(model->Names(), ElementsAre("u", "v", "w"));
  EXPECT_THAT(model->Attributes(), ElementsAre("heads"));
  EXPECT_EQ(model->Attribute("heads"), 8);
  EXPECT_FALSE(model->Attribute("v").has_value());
  EXPECT_FALSE(model->Has("heads"));
  const TensorView v = *model->Find("v");
  EXPECT_THAT(v.shape, ElementsAre(2));
  EXPECT_EQ(std::string(v.bytes.begin(), v.bytes.end()), kTwo);
  EXPECT_EQ(v.rows, nullptr);
  for (const char* name : {"u", "w"}) {
    const TensorView w = *model->Find(name);
    EXPECT_THAT(w.shape, ElementsAre(2, 2));
    float rows[4];
    w.rows->Read(0, {rows, 2, 2});
    EXPECT_THAT(rows, ElementsAre(0.5f, -1.0f, 16.0f, 31.75f));
    w.rows->Read(1, {rows, 1, 2});
    EXPECT_EQ(rows[0], 16.0f);
  }
  EXPECT_TRUE(absl::IsNotFound(model->Find("x").status()));
}

TEST(ModelBinTest, EveryCutIsAnErrorThatNamesTheFile) {
  const std::string whole = Whole();
  for (size_t length = 0; length < whole.size(); ++length) {
    // A copy, so that AddressSanitizer sees what is read behind its end.
    const std::vector<uint8_t> cut(whole.begin(), whole.begin() + length);
    const auto model = ReadModelBin("m.bin", cut);
    EXPECT_TRUE(absl::IsInvalidArgument(model.status())) << length;
    EXPECT_THAT(std::string(model.status().message()), HasSubstr("m.bin: "));
  }
}

TEST(ModelBinTest, WrongFieldsAreNamed) {
  const std::string one = Head() + Count(1);
  const struct {
    std::string bytes;
    std::string error;
  } kCases[] = {
      {Head(4), "the version is 4, expected 5 or 6"},
      {Head(7), "the version is 7"},
      {Bytes(6u) + Bytes(uint16_t{0}),
       "the name of the specification is a "
       "string of 0 bytes"},
      {Bytes(6u) + Bytes(uint16_t{2}) + "ab", "a zero at the end"},
      {Bytes(6u) + Text("S") + Bytes(70000u), "the revision is 70000"},
      {Head() + Count(1 << 20),
       "the number of variables is 1048576, expected "
       "at most 131072"},
      {one + Text("w") + Bytes(uint8_t{5}),
       "variable w: the rank is 5, expected at most 4"},
      {one + Variable("w", {0}, Ct2Type::kFloat32, ""),
       "variable w: the shape is [0]"},
      {one + Variable("w", {1u << 31, 1u << 31, 4}, Ct2Type::kInt8, ""),
       "below 2^64"},
      {one + Variable("w", {1}, static_cast<Ct2Type>(6), "abcd"),
       "variable w: the type is 6, expected 0 to 5"},
      {one + Variable("w", {2}, Ct2Type::kFloat32, "abcdefg"),
       "variable w: the bytes is 7, expected 4 for each of [2]"},
      {Head() + Count(2) + Variable("w", {1}, Ct2Type::kInt8, "a") +
           Variable("w", {1}, Ct2Type::kInt8, "a"),
       "variable w is there twice"},
      {Head() + Count(0) + Count(1) + Text("a") + Text("w"),
       "alias a is w, expected the name of a variable"},
      {one + Variable("w", {1}, Ct2Type::kInt8, "a") + Count(2) + Text("a") +
           Text("w") + Text("a") + Text("w"),
       "alias a is a name that is there already"},
      {Whole() + "xy", "what follows the last alias is 2 bytes"},
  };
  for (const auto& [bytes, error] : kCases) {
    const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
    EXPECT_THAT(std::string(ReadModelBin("m.bin", copy).status().message()),
                AllOf(HasSubstr("m.bin: "), HasSubstr(error)));
  }
}

TEST(ModelBinTest, QuantisedTensorsNeedScalesThatCanBeOnes) {
  const TestDirectory directory;
  const auto error = [&](const std::string& variables) {
    const auto model = Ct2Model::Open(
        directory.Write("model.bin", Head() + variables + Count(0)));
    EXPECT_TRUE(model.ok()) << model.status();
    return std::string(model->Find("w").status().message());
  };
  const std::string w = Variable("w", {2, 1}, Ct2Type::kInt8, "ab");
  EXPECT_THAT(error(Count(1) + w), HasSubstr("variable w is int8, expected "
                                             "w_scale with a float32 for each "
                                             "of its 2 rows"));
  EXPECT_THAT(error(Count(2) + w +
                    Variable("w_scale", {1}, Ct2Type::kFloat32, Bytes(1.f))),
              HasSubstr("of its 2 rows"));
  EXPECT_THAT(error(Count(2) + w +
                    Variable("w_scale", {2}, Ct2Type::kFloat32,
                             Bytes(1.f) + Bytes(0.f))),
              HasSubstr("w_scale holds 0, expected finite values, and not 0"));
  EXPECT_THAT(error(Count(1) + Variable("w", {2}, Ct2Type::kInt16, "abcd")),
              HasSubstr("has type int16 and shape [2]"));
}

}  // namespace
}  // namespace attend
