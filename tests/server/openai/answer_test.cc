#include "server/openai/answer.h"

#include <gtest/gtest.h>

#include "engine/tensor/out_of_memory.h"
#include "server/http_call/http_status.h"

namespace attend {
namespace {

v1::Status Of(const absl::Status& status) {
  v1::Status of;
  of.set_code(status.raw_code());
  of.set_message(std::string(status.message()));
  return of;
}

// A client that comes again soon finds a place in the queue, but no memory.
TEST(FailureTest, OnlyAFullQueueAsksToComeAgain) {
  const absl::Status full =
      FailureOf(Of(absl::ResourceExhaustedError("the queue is full")));
  EXPECT_EQ(ToHttpStatus(full), 429);
  EXPECT_FALSE(StatusHeaders(full).empty());
  const absl::Status memory = FailureOf(Of(OutOfMemory()));
  EXPECT_EQ(ToHttpStatus(memory), 503);
  EXPECT_TRUE(StatusHeaders(memory).empty());
}

}  // namespace
}  // namespace attend
