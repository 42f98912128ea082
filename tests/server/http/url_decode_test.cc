#include "server/http/url_decode.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(UrlDecodeTest, Decodes) {
  EXPECT_EQ(*DecodeUrl("a%20b+c%2B%c3%A9", UrlPart::kPath), "a b+c+\xc3\xa9");
  EXPECT_EQ(*DecodeUrl("a%20b+c%2B", UrlPart::kForm), "a b c+");
  EXPECT_EQ(*DecodeUrl("", UrlPart::kPath), "");
  for (const char* wrong : {"%", "%4", "%4g", "a%%41"}) {
    EXPECT_FALSE(DecodeUrl(wrong, UrlPart::kPath).ok()) << wrong;
  }
}

}  // namespace
}  // namespace attend
