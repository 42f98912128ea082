#include "server/grpc/incoming_call.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "server/grpc/incoming_calls.h"
#include "tests/server/grpc/raw_connection.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

std::string Message(size_t bytes, char flag = 0) {
  return MessageHead(bytes, flag) + std::string(bytes, 'm');
}

// The error of the bytes, in slices of `slice`; OK: there is none.
absl::Status Feed(IncomingCall& call, absl::string_view bytes,
                  size_t slice = 1000) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(slice, bytes.size()))) {
    const absl::Status status = call.OnData(bytes.substr(0, slice));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

TEST(IncomingCallTest, FollowsMessagesInAnySlices) {
  for (const size_t slice : {1, 2, 5, 7, 100000}) {
    IncomingCall call(1, /*max_message_bytes=*/300);
    call.AllowCompression();
    EXPECT_TRUE(Feed(call,
                     Message(0) + Message(300) + Message(1, 1) + Message(0, 1) +
                         Message(299),
                     slice)
                    .ok());
    const absl::Status status = Feed(call, Message(301), slice);
    EXPECT_TRUE(absl::IsResourceExhausted(status));
    EXPECT_THAT(status.message(), HasSubstr("has 301 bytes, limit is 300"));
    EXPECT_EQ(call.refusal(), status);
  }
}

TEST(IncomingCallTest, AHeadThatIsWrongIsAnError) {
  for (const char flag : {'\1', '\2', '\x80', '\xff'}) {
    IncomingCall call(1, 300);
    EXPECT_TRUE(absl::IsInternal(Feed(call, Message(3, flag), 1)));
  }
}

TEST(IncomingCallTest, ASmallerLimitHoldsForWhatHasBegun) {
  RequestBudget budget(1000);
  for (const bool begun : {false, true}) {
    IncomingCall call(1, 300);
    if (begun) {
      EXPECT_TRUE(Feed(call, MessageHead(200) + "m").ok());
    }
    EXPECT_EQ(call.Accept({.budget = budget, .max_message_bytes = 100}).ok(),
              !begun);
    EXPECT_FALSE(Feed(call, begun ? "m" : Message(200)).ok());
    call.Leave();
  }
}

// Bytes count from their arrival until the message has gone, not only while
// they arrive.
TEST(IncomingCallTest, MessagesCountInTheBudget) {
  RequestBudget budget(100000);
  IncomingCall call(1, 50000);
  EXPECT_TRUE(Feed(call, Message(10000)).ok());
  EXPECT_EQ(budget.bytes(), 0u);
  EXPECT_TRUE(call.Accept({.budget = budget, .tenant = 1}).ok());
  EXPECT_GE(budget.bytes(), 10000u);
  EXPECT_LE(budget.bytes(), 11500u);
  EXPECT_TRUE(Feed(call, Message(20000)).ok());
  EXPECT_GE(budget.bytes(), 30000u);
  EXPECT_LE(budget.bytes(), 34000u);
  {
    const auto first = call.TakeMessage(10000);
    EXPECT_TRUE(first.ok());
    // One that has more when it is unpacked.
    const auto second = call.TakeMessage(40000);
    EXPECT_TRUE(second.ok());
    EXPECT_GE(budget.bytes(), 50000u);
    call.Leave();
    EXPECT_GE(budget.bytes(), 50000u);
  }
  EXPECT_EQ(budget.bytes(), 0u);
}

TEST(IncomingCallTest, ACallWithoutRoomIsRefused) {
  RequestBudget budget(1000);
  IncomingCall early(1, 5000), late(2, 5000), unpacked(3, 5000);
  EXPECT_TRUE(Feed(early, Message(800)).ok());
  EXPECT_TRUE(
      absl::IsResourceExhausted(early.Accept({.budget = budget, .tenant = 1})));
  EXPECT_TRUE(late.Accept({.budget = budget, .tenant = 2}).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Feed(late, Message(800))));
  EXPECT_TRUE(unpacked.Accept({.budget = budget, .tenant = 3}).ok());
  EXPECT_TRUE(Feed(unpacked, Message(100)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(unpacked.TakeMessage(4000).status()));
  for (IncomingCall* call : {&early, &late, &unpacked}) call->Leave();
  EXPECT_EQ(budget.bytes(), 0u);
}

TEST(IncomingCallTest, ACallThatComesSlowlyIsCut) {
  RequestBudget budget(1000);
  IncomingCall slow(1, 5000), other(2, 5000);
  bool cut = false;
  EXPECT_TRUE(
      slow.Accept(
              {.budget = budget, .tenant = 1, .cut = [&cut] { cut = true; }})
          .ok());
  EXPECT_TRUE(other.Accept({.budget = budget, .tenant = 1}).ok());
  EXPECT_TRUE(Feed(slow, Message(600).substr(0, 500)).ok());
  EXPECT_FALSE(cut);
  EXPECT_TRUE(Feed(other, Message(400)).ok());
  EXPECT_TRUE(cut);
  EXPECT_TRUE(absl::IsResourceExhausted(slow.RefuseCut()));
  EXPECT_FALSE(Feed(slow, "m").ok());
  slow.Leave();
  other.Leave();
}

TEST(IncomingCallsTest, AreFoundByStreamAndByNumber) {
  IncomingCalls calls;
  calls.set_max_message_bytes(10);
  const int one = 0, other = 0;
  const auto first = calls.Add(&one);
  const auto second = calls.Add(&other);
  EXPECT_EQ(calls.OfStream(&one), first);
  EXPECT_EQ(calls.OfNumber(absl::StrCat(second->number())), second);
  EXPECT_FALSE(Feed(*first, MessageHead(11)).ok());
  calls.Remove(&one);
  EXPECT_EQ(calls.OfStream(&one), nullptr);
  EXPECT_EQ(calls.OfNumber(absl::StrCat(first->number())), nullptr);
  for (const char* number : {"", "x", "0", "-1", "99999999999999999999"}) {
    EXPECT_EQ(calls.OfNumber(number), nullptr);
  }
}

}  // namespace
}  // namespace attend
