#include "client/cpp/lib/utf8.h"

#include <gtest/gtest.h>

#include <string>

#include "attend/v1/attend.pb.h"

namespace attend {
namespace {

// The standard's definition, slowly: encode each code point and look.
std::string Encode(uint32_t c) {
  std::string s;
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) {
    s += static_cast<char>(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      s += static_cast<char>(0xe0 | c >> 12);
    } else {
      s += static_cast<char>(0xf0 | c >> 18);
      s += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    }
    s += static_cast<char>(0x80 | (c >> 6 & 0x3f));
  }
  s += static_cast<char>(0x80 | (c & 0x3f));
  return s;
}

TEST(Utf8Test, EveryCodePointButSurrogates) {
  for (uint32_t c = 0; c < 0x110100; ++c) {
    const bool valid = c < 0x110000 && !(c >= 0xd800 && c < 0xe000);
    ASSERT_EQ(IsUtf8(Encode(c)), valid) << c;
  }
}

TEST(Utf8Test, CutAndStray) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("a\xc3\xa4z"));
  for (const char* text : {"\xc3", "a\xe2\x82", "\xf0\x9f\x98", "\xa4",
                           "\xc3\xa4\xa4", "\xff", "\xc3(", "\xe2(\x82"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
}

TEST(Utf8Test, Overlong) {
  for (const char* text : {"\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf",
                           "\xf0\x8f\xbf\xbf", "\xf8\x88\x80\x80\x80"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
}

TEST(Utf8Test, CheckTextNamesTheField) {
  v1::GenerateRequest generate;
  generate.add_inputs()->set_text("ok");
  EXPECT_TRUE(CheckText(generate).ok());
  generate.mutable_params()->add_stop_strings("ok");
  generate.mutable_params()->add_stop_strings("\xff");
  EXPECT_EQ(CheckText(generate).message(),
            "params.stop_strings[1]: not valid UTF-8");
  v1::ChatMessage& message =
      *generate.add_inputs()->mutable_chat()->add_messages();
  message.set_content("\xff");
  EXPECT_EQ(CheckText(generate).message(),
            "inputs[1].chat.messages[0].content: not valid UTF-8");
  generate.set_model("\xff");
  EXPECT_EQ(CheckText(generate).message(), "model: not valid UTF-8");

  v1::ScoreRequest score;
  score.add_pairs()->mutable_target()->set_text("\xff");
  EXPECT_EQ(CheckText(score).message(),
            "pairs[0].target.text: not valid UTF-8");
  v1::ClassifyRequest classify;
  classify.add_inputs()->set_text("ok");
  classify.mutable_inputs(0)->set_pair("\xff");
  EXPECT_EQ(CheckText(classify).message(), "inputs[0].pair: not valid UTF-8");
  v1::RerankRequest rerank;
  rerank.add_documents("ok");
  rerank.add_documents("\xff");
  EXPECT_EQ(CheckText(rerank).message(), "documents[1]: not valid UTF-8");
}

}  // namespace
}  // namespace attend
