#include "client/cpp/lib/retry_after.h"

#include <gtest/gtest.h>

#include <limits>

#include "attend/v1/status_details.pb.h"

namespace attend {
namespace {

std::string Details(const std::string& type, int64_t seconds, int nanos) {
  v1::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(seconds);
  info.mutable_retry_delay()->set_nanos(nanos);
  v1::StatusDetails status;
  status.add_details()->set_type_url("type.googleapis.com/google.rpc.Help");
  google::protobuf::Any& detail = *status.add_details();
  detail.set_type_url("type.googleapis.com/" + type);
  detail.set_value(info.SerializeAsString());
  return status.SerializeAsString();
}

TEST(RetryAfterTest, IsFoundInDetails) {
  EXPECT_EQ(RetryAfterInDetails(Details("google.rpc.RetryInfo", 1, 500000000)),
            absl::Milliseconds(1500));
  EXPECT_EQ(RetryAfterInDetails(Details("google.rpc.RetryInfo", -1, 0)),
            absl::ZeroDuration());
  EXPECT_EQ(RetryAfterInDetails(Details("google.rpc.Help", 1, 0)),
            std::nullopt);
}

TEST(RetryAfterTest, DetailsThatAreNone) {
  EXPECT_EQ(RetryAfterInDetails(""), std::nullopt);
  EXPECT_EQ(RetryAfterInDetails("\xff"), std::nullopt);
  v1::StatusDetails status;
  google::protobuf::Any& detail = *status.add_details();
  detail.set_type_url("type.googleapis.com/google.rpc.RetryInfo");
  detail.set_value("\xff");
  EXPECT_EQ(RetryAfterInDetails(status.SerializeAsString()), std::nullopt);
}

TEST(RetryAfterTest, AStatusCarriesIt) {
  absl::Status status = absl::ResourceExhaustedError("full");
  EXPECT_EQ(RetryAfter(status), std::nullopt);
  for (const absl::Duration time :
       {absl::ZeroDuration(), absl::Milliseconds(1500),
        absl::Milliseconds(std::numeric_limits<int64_t>::max())}) {
    SetRetryAfter(time, status);
    EXPECT_EQ(RetryAfter(status), time);
  }
}

}  // namespace
}  // namespace attend
