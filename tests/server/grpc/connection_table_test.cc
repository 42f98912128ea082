#include "server/grpc/connection_table.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

constexpr ConnectionLimits kLimits = {
    .connections = 3, .per_address = 2, .descriptors = 100};

TEST(ConnectionTableTest, CountsAllAndThoseOfAnAddress) {
  ConnectionTable table(kLimits);
  EXPECT_EQ(table.Check(10, "a"), std::nullopt);
  table.Add(10, 1, "a");
  EXPECT_EQ(table.Check(11, "a"), std::nullopt);
  table.Add(11, 2, "a");
  EXPECT_EQ(table.Check(12, "a"), ConnectionRefusal::kAddress);
  EXPECT_EQ(table.Check(12, "b"), std::nullopt);
  table.Add(12, 3, "b");
  EXPECT_EQ(table.Check(13, "b"), ConnectionRefusal::kTotal);
  EXPECT_EQ(table.size(), 3);
}

TEST(ConnectionTableTest, NoLimitOfAnAddressUnlessThereIsOne) {
  ConnectionTable table({.connections = 3, .descriptors = 100});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(table.Check(i, "a"), std::nullopt);
    table.Add(i, i, "a");
  }
  EXPECT_EQ(table.Check(3, "a"), ConnectionRefusal::kTotal);
}

TEST(ConnectionTableTest, ADescriptorTellsHowManyAreInUse) {
  const ConnectionTable table(kLimits);
  EXPECT_EQ(table.Check(99, "a"), std::nullopt);
  EXPECT_EQ(table.Check(100, "a"), ConnectionRefusal::kDescriptors);
}

TEST(ConnectionTableTest, ThoseThatAreClosedMakeRoom) {
  ConnectionTable table(kLimits);
  table.Add(10, 1, "a");
  table.Add(11, 2, "a");
  table.Add(12, 3, "b");
  table.Sweep([](int descriptor, uint64_t inode) {
    EXPECT_EQ(descriptor, static_cast<int>(inode) + 9);
    return inode != 2;
  });
  EXPECT_EQ(table.size(), 2);
  EXPECT_EQ(table.Check(11, "a"), std::nullopt);
  table.Sweep([](int, uint64_t) { return false; });
  EXPECT_EQ(table.size(), 0);
}

TEST(ConnectionTableTest, ADescriptorThatComesAgainIsOneConnection) {
  ConnectionTable table(kLimits);
  table.Add(10, 1, "a");
  table.Add(10, 2, "a");
  EXPECT_EQ(table.size(), 1);
  EXPECT_EQ(table.Check(11, "a"), std::nullopt);
  table.Sweep([](int, uint64_t inode) { return inode == 2; });
  EXPECT_EQ(table.size(), 1);
}

}  // namespace
}  // namespace attend
