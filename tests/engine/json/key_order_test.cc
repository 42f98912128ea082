#include "engine/json/key_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(KeyOrderTest, IsThatOfTheText) {
  EXPECT_THAT(KeysInOrder(R"({"a": {"z": 1, "b": {"c": 2}, "a": []}})", "a"),
              ElementsAre("z", "b", "a"));
}

TEST(KeyOrderTest, WhatIsNoObjectHasNoKeys) {
  for (const char* text : {"{}", R"({"a": 1})", R"(["a"])", "{", ""}) {
    EXPECT_THAT(KeysInOrder(text, "a"), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace attend
