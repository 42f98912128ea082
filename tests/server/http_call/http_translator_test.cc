#include "server/http_call/http_translator.h"

#include <gtest/gtest.h>

#include "server/http_call/http_status.h"
#include "server/service/retry_after.h"

namespace attend {
namespace {

constexpr std::pair<absl::string_view, absl::string_view> kNames[] = {
    {"params.max_new_tokens", "max_tokens"},
    {"inputs", "prompt"},
};

TEST(HttpTranslatorTest, FieldsGetTheNamesOfTheClient) {
  const struct {
    const char *message, *renamed, *field;
  } cases[] = {
      {"params.max_new_tokens is 0", "max_tokens is 0", "max_tokens"},
      {"inputs[3]: text has 0x01", "prompt[3]: text has 0x01", "prompt"},
      {"inputs", "prompt", "prompt"},
      // No names of fields.
      {"no inputs_size, params.max_new_tokens_2 nor myinputs",
       "no inputs_size, params.max_new_tokens_2 nor myinputs", ""},
      {"the inputs and params.max_new_tokens", "the prompt and max_tokens",
       "prompt"},
      {"", "", ""},
  };
  for (const auto& c : cases) {
    const absl::Status renamed =
        RenameFields(absl::InvalidArgumentError(c.message), kNames);
    EXPECT_EQ(renamed.message(), c.renamed);
    EXPECT_EQ(FieldOf(renamed), c.field);
    EXPECT_EQ(renamed.code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(RenameFields(absl::OkStatus(), kNames).ok());
}

TEST(HttpTranslatorTest, PayloadsStay) {
  absl::Status full = absl::ResourceExhaustedError("inputs are full");
  full.SetPayload(kRetryAfterUrl, absl::Cord("250ms"));
  EXPECT_EQ(RetryAfter(RenameFields(full, kNames)), absl::Milliseconds(250));
  EXPECT_EQ(FieldOf(RenameFields(FieldError("inputs", "is x"), kNames)),
            "inputs");
}

}  // namespace
}  // namespace attend
