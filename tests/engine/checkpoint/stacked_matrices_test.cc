// Tensors that hold several matrices of the same shape.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/weights.h"
#include "tests/engine/checkpoint/files.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

// A tensor of the numbers 0, 1, 2, ... and `last`.
std::string Bytes(float last) {
  std::string bytes;
  for (int i = 0; i < 12; ++i) {
    const float value = i < 11 ? static_cast<float>(i) : last;
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return bytes;
}

// The numbers of two matrices [2, 3], the second transposed; or the error.
std::string Read(const std::string& shape, float last = 11) {
  const TestDirectory directory;
  directory.Write(
      "model.safetensors",
      Safetensors(absl::StrCat(R"({"w":{"dtype":"F32","shape":)", shape,
                               R"(,"data_offsets":[0,48]}})"),
                  Bytes(last)));
  const auto checkpoint = Checkpoint::Open(directory.path());
  NameTable names;
  names.rows = {{"first", {"w"}, false, {.matrices = 2, .matrix = 0}},
                {"second",
                 {"w"},
                 false,
                 {.matrices = 2, .matrix = 1, .transposed = true}},
                {"missing", {"v"}, false, {.matrices = 2}}};
  Weights weights(*checkpoint, names);
  EXPECT_FALSE(weights.AreSame("first", "second"));
  EXPECT_THAT(std::string(weights.Read("missing", {2, 3}).status().message()),
              HasSubstr("no tensor v (missing), expected one of shape [4, 3]"));
  const auto first = weights.Read("first", {2, 3});
  if (!first.ok()) return std::string(first.status().message());
  const auto second = weights.Read("second", {3, 2});
  if (!second.ok()) return std::string(second.status().message());
  EXPECT_TRUE(weights.CheckAllRead().ok());
  return absl::StrCat(absl::StrJoin(first->data(), first->data() + 6, " "),
                      ", ",
                      absl::StrJoin(second->data(), second->data() + 6, " "));
}

TEST(StackedMatricesTest, ASlotMayHaveOneOfThem) {
  EXPECT_EQ(Read("[4,3]"), "0 1 2 3 4 5, 6 9 7 10 8 11");
  EXPECT_EQ(Read("[2,2,3]"), "0 1 2 3 4 5, 6 9 7 10 8 11");
}

TEST(StackedMatricesTest, ErrorsAreOfTheWholeTensor) {
  EXPECT_THAT(Read("[6,2]"),
              HasSubstr("tensor w has shape [6, 2], expected [4, 3] (first)"));
  EXPECT_THAT(Read("[4,3]", INFINITY),
              HasSubstr("tensor w holds inf at element 11"));
}

}  // namespace
}  // namespace attend
