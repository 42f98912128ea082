#include "server/grpc/raw_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attend/v1/attend.pb.h"

namespace attend {
namespace {

v1::EmbedResponse Answer(size_t bytes) {
  v1::EmbedResponse answer;
  answer.add_results()->set_data(std::string(bytes, 'v'));
  return answer;
}

// What a client would be sent.
std::string Wire(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(bytes.Dump(&slices).ok());
  std::string wire;
  for (const grpc::Slice& slice : slices) {
    wire.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return wire;
}

TEST(ToBytesTest, SmallAndLargeAnswersAreTheirWireFormat) {
  for (const size_t bytes : {0, 10, 60'000, 65'600, 3'000'000}) {
    const v1::EmbedResponse answer = Answer(bytes);
    const auto wire = ToBytes(answer);
    ASSERT_TRUE(wire.ok()) << wire.status();
    EXPECT_EQ(Wire(*wire), answer.SerializeAsString()) << bytes;
  }
}

TEST(ToBytesTest, AnAnswerThatIsTooLargeIsAnError) {
  const v1::EmbedResponse answer = Answer(1000);
  EXPECT_TRUE(ToBytes(answer, answer.ByteSizeLong()).ok());
  const absl::Status status =
      ToBytes(answer, answer.ByteSizeLong() - 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("the answer has 1006 bytes, limit is 1005"));
}

}  // namespace
}  // namespace attend
