#include "server/app/byte_count.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tests/support/field_rows.h"

namespace attend {
namespace {

TEST(ByteCountTest, ReadsEachFormAndRefusesAllElse) {
  for (const nlohmann::json& row : FieldRows("sizes")) {
    const auto text = row.at("text").get<std::string>();
    std::optional<uint64_t> expected;
    if (row.contains("bytes")) expected = row["bytes"].get<uint64_t>();
    EXPECT_EQ(ParseByteCount(text), expected) << row.at("case");
  }
}

TEST(ByteCountTest, WhatIsShownIsReadAsTheSameSize) {
  for (const uint64_t bytes :
       {uint64_t{0}, uint64_t{1}, uint64_t{1000}, uint64_t{1} << 10,
        uint64_t{16} << 20, uint64_t{900} << 30, (uint64_t{1} << 20) + 1}) {
    EXPECT_EQ(ParseByteCount(ByteCountText(bytes)), bytes);
  }
  EXPECT_EQ(ByteCountText(16 << 20), "16MiB");
  EXPECT_EQ(ByteCountText(3 << 10), "3KiB");
  EXPECT_EQ(ByteCountText(1000), "1000");
}

}  // namespace
}  // namespace attend
