#include "server/inference/field_names.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/cord.h"

namespace attend {
namespace {

std::string Renamed(const std::string& message) {
  return std::string(
      WithTensorNames(absl::InvalidArgumentError(message)).message());
}

TEST(FieldNamesTest, FieldsAreTensorsAndParameters) {
  const std::pair<const char*, const char*> cases[] = {
      {"params.top_k is -1", "top_k is -1"},
      {"params.do_sample is true and params.num_beams is 4",
       "do_sample is true and num_beams is 4"},
      {"params.bad_words[2].ids is long", "bad_words[2].ids is long"},
      {"inputs[12].text has 9 bytes", "text_input[12] has 9 bytes"},
      {"inputs[0] has 9 tokens", "input[0] has 9 tokens"},
      {"inputs[0].tokens.ids[3] is 7", "input_ids[0][3] is 7"},
      {"inputs[0].tokens has 7", "input_ids[0] has 7"},
      {"inputs[1].tokens.attention_mask[3] is 7", "attention_mask[1][3] is 7"},
      {"inputs[1].tokens.types has 2", "token_type_ids[1] has 2"},
      {"inputs[1].pair is set", "text_pair[1] is set"},
      {"inputs[1].chat: no", "chat_input[1]: no"},
      {"pairs[1].source.text: no", "text_input[1]: no"},
      {"pairs[1].target.text: no", "target_text[1]: no"},
      {"pairs[1].target has 0 tokens", "target[1] has 0 tokens"},
      {"pairs[1].target.tokens.ids[0] is 1", "target_ids[1][0] is 1"},
      {"questions[1].question has 9 bytes", "question[1] has 9 bytes"},
      {"questions[1].context has 9 bytes", "context[1] has 9 bytes"},
      {"dimensions is 9", "dimensions is 9"},
      {"inputs[x] and inputs[", "inputs[x] and inputs["},
      {"the word superparams.x", "the word superparams.x"},
      {"", ""},
  };
  for (const auto& [message, renamed] : cases) {
    EXPECT_EQ(Renamed(message), renamed);
  }
}

TEST(FieldNamesTest, OnlyWhatIsWrongIsRenamed) {
  absl::Status full = absl::ResourceExhaustedError("params.x");
  full.SetPayload("a", absl::Cord("b"));
  EXPECT_EQ(WithTensorNames(full), full);
  absl::Status wrong = absl::InvalidArgumentError("params.x");
  wrong.SetPayload("a", absl::Cord("b"));
  EXPECT_EQ(WithTensorNames(wrong).GetPayload("a"), absl::Cord("b"));
  EXPECT_TRUE(WithTensorNames(absl::OkStatus()).ok());
}

}  // namespace
}  // namespace attend
