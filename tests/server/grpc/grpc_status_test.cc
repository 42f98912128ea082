#include "server/grpc/grpc_status.h"

#include <gtest/gtest.h>

#include "absl/strings/cord.h"
#include "attend/v1/status_details.pb.h"
#include "server/scheduler/request.h"

namespace attend {
namespace {

// Clients refuse details with a string that is not UTF-8.
TEST(GrpcStatusTest, DetailsAreUtf8) {
  absl::Status full = absl::ResourceExhaustedError("model '\xff' is full");
  full.SetPayload(kRetryAfterUrl, absl::Cord("1s"));
  const grpc::Status status = ToGrpcStatus(full);
  v1::StatusDetails details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.message(), "model '\uFFFD' is full");
  EXPECT_EQ(status.error_message(), details.message());
  ASSERT_EQ(details.details_size(), 1);
  v1::RetryInfo retry;
  ASSERT_TRUE(retry.ParseFromString(details.details(0).value()));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
}

}  // namespace
}  // namespace attend
