#include "server/inference/input_tensor.h"

#include <gmock/gmock.h>

#include <limits>

#include "tests/server/inference/tensors.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Contents = inference::InferTensorContents;

// One tensor, whose contents are raw or typed.
InferRequest Raw(const std::string& datatype, std::vector<int64_t> shape,
                 const std::string& raw) {
  InferRequest request;
  AddRaw(request, "x", datatype, shape, raw);
  return request;
}

InferRequest Typed(const std::string& datatype, std::vector<int64_t> shape,
                   const Contents& contents) {
  InferRequest request = Raw(datatype, shape, "");
  request.clear_raw_input_contents();
  *request.mutable_inputs(0)->mutable_contents() = contents;
  return request;
}

std::vector<Value> Elements(const InferRequest& request) {
  const auto tensors = ReadTensors(request);
  EXPECT_TRUE(tensors.ok()) << tensors.status();
  std::vector<Value> elements;
  if (!tensors.ok()) return elements;
  for (int64_t i = 0; i < tensors->front().size(); ++i) {
    elements.push_back(tensors->front().at(i));
  }
  return elements;
}

// The same two numbers, raw and typed, of one datatype.
template <class T>
void CheckBothForms(const std::string& datatype, T low, T high) {
  const std::vector<Value> elements =
      Elements(Raw(datatype, {2, 1}, RawNumbers<T>({low, high})));
  using Wide = std::conditional_t<
      std::is_floating_point_v<T>, double,
      std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
  EXPECT_THAT(elements, ElementsAre(Value(Wide{low}), Value(Wide{high})))
      << datatype;
  Contents contents;
  for (T value : {low, high}) {
    if constexpr (std::is_same_v<T, double>) {
      contents.add_fp64_contents(value);
    } else if constexpr (std::is_same_v<T, float>) {
      contents.add_fp32_contents(value);
    } else if constexpr (std::is_same_v<T, int64_t>) {
      contents.add_int64_contents(value);
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      contents.add_uint64_contents(value);
    } else if constexpr (std::is_signed_v<T>) {
      contents.add_int_contents(value);
    } else {
      contents.add_uint_contents(value);
    }
  }
  EXPECT_EQ(Elements(Typed(datatype, {2, 1}, contents)), elements) << datatype;
}

TEST(InputTensorTest, NumbersAreTheSameInBothForms) {
  const auto limits = [](const std::string& datatype, auto zero) {
    using Limits = std::numeric_limits<decltype(zero)>;
    CheckBothForms(datatype, Limits::lowest(), Limits::max());
  };
  limits("INT8", int8_t{});
  limits("INT16", int16_t{});
  limits("INT32", int32_t{});
  limits("INT64", int64_t{});
  limits("UINT8", uint8_t{});
  limits("UINT16", uint16_t{});
  limits("UINT32", uint32_t{});
  limits("UINT64", uint64_t{});
  limits("FP32", float{});
  limits("FP64", double{});
}

TEST(InputTensorTest, BooleansAndTextsAreTheSameInBothForms) {
  Contents flags;
  flags.add_bool_contents(true);
  flags.add_bool_contents(false);
  EXPECT_THAT(Elements(Typed("BOOL", {2}, flags)),
              ElementsAre(Value(true), Value(false)));
  EXPECT_EQ(Elements(Raw("BOOL", {2}, RawNumbers<uint8_t>({1, 0}))),
            Elements(Typed("BOOL", {2}, flags)));
  Contents texts;
  texts.add_bytes_contents("a\0b", 3);
  texts.add_bytes_contents("");
  const InferRequest typed = Typed("BYTES", {1, 2}, texts);
  const InferRequest raw =
      Raw("BYTES", {1, 2}, RawTexts({std::string("a\0b", 3), ""}));
  EXPECT_THAT(Elements(raw), ElementsAre(Value(absl::string_view("a\0b", 3)),
                                         Value(absl::string_view(""))));
  EXPECT_EQ(Elements(typed), Elements(raw));
}

std::string ErrorOf(const InferRequest& request) {
  const absl::Status status = ReadTensors(request).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(InputTensorTest, ATensorMayBeEmpty) {
  EXPECT_THAT(Elements(Raw("INT32", {0, 5}, "")), ElementsAre());
  EXPECT_THAT(Elements(Raw("BYTES", {5, 0}, "")), ElementsAre());
  EXPECT_THAT(Elements(Typed("INT32", {0}, {})), ElementsAre());
}

TEST(InputTensorTest, WhatIsWrongIsNamed) {
  EXPECT_EQ(ErrorOf(Raw("INT33", {1}, "abcd")),
            "input 'x': datatype is 'INT33', which is none of the protocol's");
  EXPECT_EQ(ErrorOf(Raw("INT32", {-1}, "")),
            "input 'x': shape is [-1], must have sizes of 0 or more whose "
            "product is below 2^63");
  EXPECT_THAT(ErrorOf(Raw("INT32", {int64_t{1} << 40, int64_t{1} << 40}, "")),
              HasSubstr("shape is [1099511627776, 1099511627776]"));
  EXPECT_EQ(ErrorOf(Raw("INT32", {2}, "abcd")),
            "input 'x': raw contents have 4 bytes, must have 2 elements of 4 "
            "bytes");
  EXPECT_THAT(ErrorOf(Raw("INT32", {1}, "abcde")), HasSubstr("have 5 bytes"));
  EXPECT_EQ(ErrorOf(Raw("BYTES", {1}, std::string("\5\0\0\0abc", 7))),
            "input 'x': raw contents end inside element 0");
  EXPECT_EQ(ErrorOf(Raw("BYTES", {1}, RawTexts({""}) + "abc")),
            "input 'x': raw contents end inside element 1");
  EXPECT_EQ(ErrorOf(Raw("BYTES", {1}, RawTexts({"a", "b"}))),
            "input 'x': raw contents have more than the 1 elements of the "
            "shape");
  EXPECT_EQ(ErrorOf(Raw("BYTES", {3}, RawTexts({"a"}))),
            "input 'x': raw contents have 1 elements, must have 3 as the shape "
            "says");
  EXPECT_EQ(ErrorOf(Typed("FP16", {1}, {})),
            "input 'x': datatype is FP16, whose contents must be raw");
}

TEST(InputTensorTest, TypedContentsAreOfTheDatatype) {
  Contents contents;
  contents.add_int_contents(1);
  EXPECT_EQ(ErrorOf(Typed("INT64", {1}, contents)),
            "input 'x': contents have 0 elements of INT64, must have 1 as the "
            "shape says");
  EXPECT_EQ(ErrorOf(Typed("INT32", {2}, contents)),
            "input 'x': contents have 1 elements of INT32, must have 2 as the "
            "shape says");
  contents.add_bool_contents(true);
  EXPECT_EQ(ErrorOf(Typed("INT32", {1}, contents)),
            "input 'x': contents have elements of other datatypes than INT32");
}

TEST(InputTensorTest, TheSizeOfRawContentsMayBeTold) {
  InferRequest request = Raw("INT32", {1}, RawNumbers<int32_t>({7}));
  auto& size =
      (*request.mutable_inputs(0)->mutable_parameters())["binary_data_size"];
  size.set_int64_param(4);
  EXPECT_THAT(Elements(request), ElementsAre(Value(int64_t{7})));
  size.set_int64_param(5);
  EXPECT_EQ(ErrorOf(request),
            "input 'x': parameter 'binary_data_size' is 5, but its raw "
            "contents have 4 bytes");
}

TEST(InputTensorTest, ContentsHaveOneForm) {
  InferRequest both = Raw("INT32", {1}, RawNumbers<int32_t>({1}));
  both.mutable_inputs(0)->mutable_contents()->add_int_contents(1);
  EXPECT_THAT(ErrorOf(both), HasSubstr("input 'x': contents are set, must be"));
  InferRequest few = Raw("INT32", {1}, RawNumbers<int32_t>({1}));
  few.add_inputs()->set_name("y");
  EXPECT_EQ(ErrorOf(few),
            "raw_input_contents has 1 entries, must have one for each of 2 "
            "inputs, or none");
  InferRequest twice = Raw("INT32", {1}, RawNumbers<int32_t>({1}));
  AddRaw(twice, "x", "INT32", {0}, "");
  EXPECT_EQ(ErrorOf(twice), "input 'x' is there twice");
  InferRequest shared = Raw("INT32", {1}, RawNumbers<int32_t>({1}));
  (*shared.mutable_inputs(0)->mutable_parameters())["shared_memory_region"]
      .set_string_param("r");
  EXPECT_THAT(ErrorOf(shared),
              HasSubstr("parameter 'shared_memory_region' is set"));
}

}  // namespace
}  // namespace attend
