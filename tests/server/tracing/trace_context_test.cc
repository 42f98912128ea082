#include "server/tracing/trace_context.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

constexpr char kExample[] =
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

// What ParseTraceparent() reads, of version 00.
std::string Written(const TraceContext& context) {
  const std::string span(context.span_id.begin(), context.span_id.end());
  return absl::StrCat("00-", ToHex(context.trace_id), "-",
                      absl::BytesToHexString(span),
                      context.sampled ? "-01" : "-00");
}

TEST(TraceContextTest, ATraceparentIsRead) {
  const auto context = ParseTraceparent(kExample);
  ASSERT_TRUE(context.has_value());
  EXPECT_EQ(context->trace_id[0], 0x0a);
  EXPECT_EQ(context->trace_id[15], 0x9c);
  EXPECT_EQ(context->span_id[0], 0xb7);
  EXPECT_EQ(context->span_id[7], 0x31);
  EXPECT_TRUE(context->sampled);
  EXPECT_EQ(ToHex(context->trace_id), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(Written(*context), kExample);
}

TEST(TraceContextTest, OfTheFlagsTheLastBitIsKnown) {
  for (const auto& [flags, sampled] : std::vector<std::pair<std::string, bool>>{
           {"00", false}, {"01", true}, {"02", false}, {"ff", true}}) {
    std::string text = kExample;
    text.replace(53, 2, flags);
    const auto context = ParseTraceparent(text);
    ASSERT_TRUE(context.has_value()) << flags;
    EXPECT_EQ(context->sampled, sampled) << flags;
  }
}

TEST(TraceContextTest, LaterVersionsMayHaveMore) {
  std::string later = kExample;
  later[1] = '1';
  EXPECT_TRUE(ParseTraceparent(later).has_value());
  EXPECT_TRUE(ParseTraceparent(later + "-more").has_value());
  EXPECT_FALSE(ParseTraceparent(later + "more").has_value());
  EXPECT_FALSE(ParseTraceparent(absl::StrCat(kExample, "-more")).has_value());
  later.replace(0, 2, "ff");
  EXPECT_FALSE(ParseTraceparent(later).has_value());
}

TEST(TraceContextTest, WhatIsMalformedIsNone) {
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";
  const std::string span = "b7ad6b7169203331";
  for (const std::string& text : {
           std::string(),
           std::string("00"),
           absl::StrCat("00-", trace, "-", span),
           absl::StrCat("00-", trace, "-", span, "-0"),
           absl::StrCat("00-", trace, "-", span, "-0x"),
           absl::StrCat("00-", trace, "-", span, "-01-"),
           absl::StrCat("00-", trace, "-", span, "-01 "),
           absl::StrCat(" 00-", trace, "-", span, "-01"),
           absl::StrCat("0g-", trace, "-", span, "-01"),
           absl::StrCat("00-", std::string(32, '0'), "-", span, "-01"),
           absl::StrCat("00-", trace, "-", std::string(16, '0'), "-01"),
           absl::StrCat("00-0AF7651916CD43DD8448EB211C80319C-", span, "-01"),
           absl::StrCat("00_", trace, "-", span, "-01"),
           absl::StrCat("00-", trace, "_", span, "-01"),
           absl::StrCat("00-", trace, "-", span, "_01"),
       }) {
    EXPECT_FALSE(ParseTraceparent(text).has_value()) << text;
  }
}

// What is read of any bytes is what stands there, but for unknown flags.
TEST(TraceContextTest, AnyBytesAreReadOrNone) {
  std::mt19937 random(1);
  int read = 0;
  for (int i = 0; i < 100000; ++i) {
    std::string text = kExample;
    for (int changes = random() % 4; changes > 0; --changes) {
      constexpr absl::string_view kOften = "0123456789abcdef-Gg \t";
      const size_t place = random() % text.size();
      text[place] = random() % 4 > 0 ? kOften[random() % kOften.size()]
                                     : static_cast<char>(random());
    }
    if (random() % 8 == 0) text.resize(random() % 60, '0');
    const auto context = ParseTraceparent(text);
    if (!context) continue;
    ++read;
    EXPECT_EQ(Written(*context).substr(3, 50), text.substr(3, 50));
  }
  EXPECT_GT(read, 1000);
}

TEST(TraceContextTest, ATracestateKeepsItsMembersInOrder) {
  EXPECT_EQ(CleanTracestate("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
            "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
  EXPECT_EQ(CleanTracestate(" a=1 ,\t,b_-*/=x y ,,0t@sys=~!"),
            "a=1,b_-*/=x y,0t@sys=~!");
  EXPECT_EQ(CleanTracestate(""), "");
  EXPECT_EQ(CleanTracestate(absl::StrCat(std::string(256, 'k'), "=v")).size(),
            258);
}

TEST(TraceContextTest, AWrongMemberSpoilsATracestate) {
  for (const std::string& wrong :
       {std::string("A=1"), std::string("1a=1"), std::string("a"),
        std::string("=1"), std::string("a="), std::string("a=b=c"),
        std::string("a@=1"), std::string("@b=1"), std::string("a@1=1"),
        std::string("a@b@c=1"), std::string("a =1"), std::string("a=\x01"),
        std::string("a=\x80"), absl::StrCat(std::string(257, 'k'), "=v"),
        absl::StrCat("k=", std::string(257, 'v')),
        absl::StrCat("a@", std::string(15, 's'), "=v")}) {
    EXPECT_EQ(CleanTracestate(absl::StrCat("good=1,", wrong)), "") << wrong;
  }
  std::string many = "k=1";
  for (int i = 1; i < 32; ++i) many += absl::StrCat(",k", i, "=1");
  EXPECT_EQ(CleanTracestate(many), many);
  EXPECT_EQ(CleanTracestate(many + ",one=more"), "");
}

TEST(TraceContextTest, ALongTracestateLosesItsLastMembers) {
  const std::string first = absl::StrCat("a=", std::string(250, '1'));
  const std::string second = absl::StrCat("b=", std::string(250, '2'));
  EXPECT_EQ(CleanTracestate(absl::StrCat(first, ",", second)),
            absl::StrCat(first, ",", second));
  EXPECT_EQ(CleanTracestate(absl::StrCat(first, ",", second, ",c=12345,d=1")),
            absl::StrCat(first, ",", second));
}

}  // namespace
}  // namespace attend
