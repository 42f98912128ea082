#include "server/tenants/key_hash.h"

#include <gmock/gmock.h>

#include <string>

namespace attend {
namespace {

// printf %s abc | sha256sum
constexpr char kDigits[] =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(KeyHashTest, IsWhatSha256sumWrites) {
  const auto parsed = ParseKeyHash(kDigits);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(*parsed, HashKey("abc"));
  EXPECT_TRUE(SameHash(*parsed, HashKey("abc")));
  EXPECT_FALSE(SameHash(*parsed, HashKey("abd")));
  std::string upper(kDigits);
  for (char& c : upper) c = static_cast<char>(toupper(c));
  EXPECT_EQ(ParseKeyHash(upper), parsed);
}

TEST(KeyHashTest, EachByteCounts) {
  for (size_t i = 0; i < KeyHash().size(); ++i) {
    KeyHash other = HashKey("abc");
    other[i] ^= 0x80;
    EXPECT_FALSE(SameHash(other, HashKey("abc"))) << i;
  }
}

TEST(KeyHashTest, OtherTextIsNoHash) {
  const std::string digits(kDigits);
  for (const std::string& text :
       {std::string(), digits.substr(1), digits + "0", digits + "\n",
        "g" + digits.substr(1), " " + digits.substr(1),
        "\xff" + digits.substr(1), std::string(64, '\0')}) {
    EXPECT_EQ(ParseKeyHash(text), std::nullopt) << text;
  }
}

TEST(KeyHashTest, KeysOfBearers) {
  EXPECT_EQ(BearerKey("Bearer abc"), "abc");
  EXPECT_EQ(BearerKey("bearer  abc "), "abc");
  EXPECT_EQ(BearerKey("BEARER a b"), "a b");
  for (const char* text : {"", "Bearer", "Bearer ", "Bearer  ", "Basic abc",
                           "abc", "Bearerabc", " Bearer abc"}) {
    EXPECT_EQ(BearerKey(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace attend
