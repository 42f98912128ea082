#include "server/service/request_id.h"

#include <gtest/gtest.h>

#include <string>

namespace attend {
namespace {

TEST(RequestIdTest, KeepsWhatIsHarmless) {
  EXPECT_EQ(ChooseRequestId("a-B_9./:@+="), "a-B_9./:@+=");
  EXPECT_EQ(ChooseRequestId(std::string(128, 'x')), std::string(128, 'x'));
}

TEST(RequestIdTest, MakesANewOneForTheRest) {
  for (const std::string& wanted :
       {std::string(), std::string(129, 'x'), std::string("a b"),
        std::string("a\nb"), std::string("\xc3\xbc"), std::string("a\"")}) {
    const std::string id = ChooseRequestId(wanted);
    EXPECT_NE(id, wanted);
    EXPECT_FALSE(id.empty());
  }
  EXPECT_NE(ChooseRequestId(""), ChooseRequestId(""));
}

}  // namespace
}  // namespace attend
