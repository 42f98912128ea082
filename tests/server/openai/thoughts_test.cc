// How the text of a model that thinks comes apart, from its chat template and
// its vocabulary to the message.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/openai/thought_splitter.h"
#include "server/service/choice_text.h"
#include "server/service/thought_after.h"
#include "tests/server/openai/chat_fixture.h"
#include "tests/support/fake_tokenizer.h"
#include "tests/support/field_rows.h"

namespace attend {
namespace {

using nlohmann::json;

// The tokens of a text: special ones, from id 400 on, and bytes.
std::vector<int> Ids(absl::string_view text,
                     const std::vector<std::string>& special) {
  std::vector<int> ids;
  while (!text.empty()) {
    size_t taken = 0;
    for (size_t i = 0; i < special.size() && taken == 0; ++i) {
      if (!absl::StartsWith(text, special[i])) continue;
      ids.push_back(400 + static_cast<int>(i));
      taken = special[i].size();
    }
    if (taken == 0) {
      ids.push_back(static_cast<unsigned char>(text[0]) + 1);
      taken = 1;
    }
    text.remove_prefix(taken);
  }
  return ids;
}

TEST(ThoughtsTest, ThoughtsOfPublishedTemplates) {
  for (const json& row : FieldRows("thoughts")) {
    SCOPED_TRACE(row["case"]);
    const auto special = row.value("special", std::vector<std::string>());
    FakeTokenizer tokenizer;
    for (size_t i = 0; i < special.size(); ++i) {
      tokenizer.MakeSpecial(400 + static_cast<int>(i), special[i]);
    }
    std::string source = row["template"];
    // A template that does not show what a user writes is refused.
    if (!absl::StrContains(source, "messages")) {
      absl::StrAppend(&source, "{{ messages[0].content }}");
    }
    const auto chat = ChatTemplate::Create(
        {{"default", "chat_template.jinja", "", source}}, HfConfig());
    ASSERT_TRUE(chat.ok()) << chat.status();
    ASSERT_TRUE((*chat)->refusal().ok()) << (*chat)->refusal();
    const Thought thought =
        ThoughtAfter(row.value("prompt", "<assistant>"), **chat, tokenizer);
    const std::vector<std::string> stops = {"STOP"};
    ChoiceText text(tokenizer, stops, {}, thought);
    ThoughtSplitter splitter(thought);
    ThoughtSplitter::Parts parts;
    const auto add = [&](const std::string& more, bool last) {
      ThoughtSplitter::Parts next = splitter.Append(more, last);
      parts.reasoning += next.reasoning;
      parts.answer += next.answer;
    };
    for (const int id : Ids(row["text"].get<std::string>(), special)) {
      add(text.Append(id), false);
    }
    add(text.Flush(), true);
    EXPECT_EQ(parts.reasoning, row["reasoning"].get<std::string>());
    EXPECT_EQ(parts.answer, row["content"].get<std::string>());
  }
}

}  // namespace
}  // namespace attend
