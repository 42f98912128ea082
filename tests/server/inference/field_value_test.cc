#include "server/inference/field_value.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "attend/v1/attend.pb.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using Params = v1::GenerationParams;

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

const google::protobuf::FieldDescriptor& Field(const std::string& name) {
  return *Params::descriptor()->FindFieldByName(name);
}

// A string_view, not a bool: what a `const char*` would become.
Value Text(const char* text) { return absl::string_view(text); }

// The message as text, or what is wrong.
std::string Set(const std::string& name, const Value& value) {
  Params params;
  const absl::Status status = SetField(params, Field(name), value, name);
  return status.ok() ? params.ShortDebugString()
                     : std::string(status.message());
}

std::string SetElements(const std::string& name,
                        const std::vector<Value>& elements) {
  Params params;
  const absl::Status status =
      SetField(params, Field(name), absl::MakeConstSpan(elements), name);
  return status.ok() ? params.ShortDebugString()
                     : std::string(status.message());
}

TEST(FieldValueTest, OneValue) {
  EXPECT_EQ(Set("max_new_tokens", int64_t{7}), "max_new_tokens: 7");
  EXPECT_EQ(Set("max_new_tokens", uint64_t{7}), "max_new_tokens: 7");
  EXPECT_EQ(Set("temperature", 0.5), "temperature: 0.5");
  EXPECT_EQ(Set("temperature", int64_t{2}), "temperature: 2");
  EXPECT_EQ(Set("do_sample", true), "do_sample: true");
  EXPECT_EQ(Set("seed", kHuge), "seed: 18446744073709551615");
  EXPECT_EQ(Set("prefix_text", Text("Der")), "prefix_text: \"Der\"");
  EXPECT_EQ(SetElements("max_new_tokens", {int64_t{7}}), "max_new_tokens: 7");
}

TEST(FieldValueTest, EnumerationsByName) {
  EXPECT_EQ(Set("early_stopping", Text("never")),
            "early_stopping: EARLY_STOPPING_NEVER");
  EXPECT_EQ(Set("early_stopping", true), "early_stopping: EARLY_STOPPING_TRUE");
  EXPECT_EQ(Set("early_stopping", false),
            "early_stopping: EARLY_STOPPING_FALSE");
  EXPECT_EQ(Set("early_stopping", Text("soon")),
            "early_stopping is 'soon', must be one of false, true, never");
  EXPECT_EQ(Set("early_stopping", int64_t{1}),
            "early_stopping is an integer, must be a string");
}

// "unspecified" is no value: a request leaves the parameter out instead. Other
// values with the number 0 are values.
TEST(FieldValueTest, EnumerationsHaveNoUnspecifiedValue) {
  for (const char* text : {"unspecified", "UNSPECIFIED", ""}) {
    EXPECT_EQ(Set("early_stopping", Text(text)),
              absl::StrCat("early_stopping is '", text,
                           "', must be one of false, true, never"));
  }
  v1::GenerateRequest request;
  const auto& field =
      *v1::GenerateRequest::descriptor()->FindFieldByName("alignments");
  EXPECT_TRUE(SetField(request, field, Text("none"), "alignments").ok());
  EXPECT_EQ(SetField(request, field, Text("x"), "alignments").message(),
            "alignments is 'x', must be one of none, hard, soft");
}

TEST(FieldValueTest, Lists) {
  EXPECT_EQ(SetElements("stop_strings", {Text("a"), Text("[1]")}),
            "stop_strings: \"a\" stop_strings: \"[1]\"");
  EXPECT_EQ(Set("stop_strings", Text(R"(["a", "[1]"])")),
            "stop_strings: \"a\" stop_strings: \"[1]\"");
  EXPECT_EQ(SetElements("stop_ids", {int64_t{3}, uint64_t{4}}),
            "stop_ids: 3 stop_ids: 4");
  EXPECT_EQ(Set("stop_ids", Text("[3, 4]")), "stop_ids: 3 stop_ids: 4");
  EXPECT_EQ(Set("stop_ids", int64_t{3}), "stop_ids: 3");
  EXPECT_EQ(SetElements("stop_ids", {}), "");
}

TEST(FieldValueTest, MessagesAsJson) {
  EXPECT_EQ(Set("bad_words", Text(R"([{"ids": [1, 2]}, {"ids": [3]}])")),
            "bad_words { ids: 1 ids: 2 } bad_words { ids: 3 }");
  EXPECT_EQ(SetElements("prefix_tokens", {Text(R"({"ids": [1]})")}),
            "prefix_tokens { ids: 1 }");
}

TEST(FieldValueTest, JsonDoesNotReachOtherFields) {
  for (const char* json : {R"([1], "seed": 5)", R"([1]}, {"seed": 5)"}) {
    EXPECT_THAT(Set("stop_ids", Text(json)), HasSubstr("stop_ids: "));
  }
  EXPECT_THAT(Set("stop_ids", Text(R"(["a"])")),
              HasSubstr("stop_ids is not JSON of its type: "));
  EXPECT_THAT(Set("bad_words", Text(R"([{"idz": [1]}])")),
              HasSubstr("bad_words is not JSON of its type: "));
  EXPECT_THAT(Set("stop_strings", Text("['a']")), HasSubstr("stop_strings: "));
  const std::string deep(5000, '[');
  EXPECT_THAT(Set("bad_words", Text(deep.c_str())), HasSubstr("bad_words: "));
  // What was set before stays.
  Params params;
  params.set_seed(5);
  ASSERT_TRUE(SetField(params, Field("stop_ids"), Text("[1]"), "x").ok());
  EXPECT_EQ(params.ShortDebugString(), "seed: 5 stop_ids: 1");
}

TEST(FieldValueTest, WrongKindsAndRanges) {
  EXPECT_EQ(Set("temperature", Text("hot")),
            "temperature is a string, must be a number");
  EXPECT_EQ(Set("max_new_tokens", 1.0),
            "max_new_tokens is a number, must be an integer");
  EXPECT_EQ(Set("max_new_tokens", int64_t{1} << 31),
            "max_new_tokens is 2147483648, must be in [-2147483648, "
            "2147483647]");
  EXPECT_EQ(Set("seed", int64_t{-1}),
            "seed is -1, must be in [0, 18446744073709551615]");
  EXPECT_EQ(Set("do_sample", int64_t{1}),
            "do_sample is an integer, must be a boolean");
  EXPECT_EQ(Set("prefix_text", Text("\xff")),
            "prefix_text is not UTF-8 at byte 0");
  EXPECT_EQ(SetElements("seed", {int64_t{1}, int64_t{2}}),
            "seed has 2 values, must have one");
  EXPECT_EQ(SetElements("prefix_tokens", {}),
            "prefix_tokens has 0 values, must have one");
  EXPECT_EQ(SetElements("stop_ids", {Text("x")}),
            "stop_ids is a string, must be an integer");
}

// A value that a field of this type takes.
Value ValueFor(const google::protobuf::FieldDescriptor& field) {
  using Field = google::protobuf::FieldDescriptor;
  if (field.is_map()) return Text("{}");
  const bool parts = field.cpp_type() == Field::CPPTYPE_MESSAGE;
  if (field.is_repeated()) return parts ? Text("[{}]") : Text("[]");
  if (parts) return Text("{}");
  switch (field.cpp_type()) {
    case Field::CPPTYPE_BOOL:
      return true;
    case Field::CPPTYPE_STRING:
      return Text("x");
    case Field::CPPTYPE_ENUM:
      return Text("false");
    case Field::CPPTYPE_FLOAT:
    case Field::CPPTYPE_DOUBLE:
      return 0.5;
    default:
      return int64_t{1};
  }
}

// A field that is new in attend.v1 is a parameter at once.
TEST(FieldValueTest, EveryParameterOfGenerationCanBeSet) {
  const google::protobuf::Descriptor& type = *Params::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    Params params;
    const absl::Status status =
        SetField(params, *type.field(i), ValueFor(*type.field(i)), "x");
    EXPECT_TRUE(status.ok()) << type.field(i)->name() << ": " << status;
    EXPECT_TRUE(type.field(i)->is_repeated() ||
                params.GetReflection()->HasField(params, type.field(i)));
  }
}

TEST(FieldValueTest, OneOfSeveral) {
  Params params;
  params.set_prefix_text("Der");
  EXPECT_EQ(SetField(params, Field("prefix_tokens"), Text("{}"), "x").message(),
            "x and prefix_text are both set, must be one of them");
}

}  // namespace
}  // namespace attend
