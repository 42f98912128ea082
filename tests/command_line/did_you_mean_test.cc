#include "command_line/did_you_mean.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(DidYouMeanTest, NamesTheNearestWord) {
  const std::vector<std::string> known = {"--model", "--models-dir", "--port",
                                          "--http-port", "-m"};
  const struct {
    const char* word;
    const char* answer;
  } cases[] = {
      {"--modle", "; did you mean --model?"},   // swapped
      {"--modl", "; did you mean --model?"},    // left out
      {"--modell", "; did you mean --model?"},  // added
      {"--nodel", "; did you mean --model?"},   // changed
      {"--model-dir", "; did you mean --models-dir?"},
      {"--htp-prt", "; did you mean --http-port?"},  // two of nine
      {"--threads", ""},
      {"-x", ""},  // any other is as near
      {"", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(DidYouMean(c.word, known), c.answer);
  EXPECT_EQ(DidYouMean(std::string(100000, 'x'), known), "");
  EXPECT_EQ(DidYouMean("--port", {}), "");
}

}  // namespace
}  // namespace attend
