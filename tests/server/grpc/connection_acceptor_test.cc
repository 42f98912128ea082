#include "server/grpc/connection_acceptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/grpc/listener.h"
#include "tests/server/grpc/sockets.h"
#include "tests/support/descriptor_limit.h"

namespace attend {
namespace {

// An acceptor whose connections the test holds.
class ConnectionAcceptorTest : public ::testing::Test {
 protected:
  void Start(ConnectionLimits limits) {
    auto listener = Listen("127.0.0.1", 0, absl::Seconds(20));
    ASSERT_TRUE(listener.ok()) << listener.status();
    port_ = listener->port;
    acceptor_.emplace(
        std::move(listener->sockets), limits, metrics_,
        [this](int socket) {
          std::lock_guard lock(mutex_);
          accepted_.emplace_back(socket);
          changed_.notify_all();
        },
        [this](int connections) { ended_ += connections; });
  }
  void WaitForAccepted(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return accepted_.size() >= count; });
  }
  std::string Text() {
    return prometheus::TextSerializer().Serialize(registry_.Collect());
  }
  bool Counts(const std::string& series, int value) {
    return absl::StrContains(Text(), absl::StrCat(series, " ", value, "\n"));
  }
  bool Refused(const std::string& reason, int count) {
    return Counts(
        "attend_grpc_connections_refused_total{reason=\"" + reason + "\"}",
        count);
  }

  prometheus::Registry registry_;
  ConnectionMetrics metrics_{registry_};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Descriptor> accepted_;  // guarded by mutex_
  std::atomic<int> ended_{0};
  int port_ = 0;
  std::optional<ConnectionAcceptor> acceptor_;
};

TEST_F(ConnectionAcceptorTest, ClosesWhatIsTooManyUntilOthersHaveGone) {
  Start({.connections = 2, .descriptors = 1000});
  const Descriptor first = Connect(port_);
  const Descriptor second = Connect(port_);
  EXPECT_TRUE(IsClosed(Connect(port_)));
  EXPECT_TRUE(Refused("total", 1));
  {
    std::lock_guard lock(mutex_);
    accepted_.pop_back();  // its owner closes one
  }
  while (true) {  // found soon, not at once
    Connect(port_);
    std::lock_guard lock(mutex_);
    if (accepted_.size() == 2) break;
  }
  EXPECT_EQ(ended_, 1);
  EXPECT_TRUE(IsClosed(Connect(port_)));
}

TEST_F(ConnectionAcceptorTest, CountsTheConnectionsOfAnAddress) {
  Start({.connections = 100, .per_address = 1, .descriptors = 1000});
  const Descriptor first = Connect(port_);
  EXPECT_TRUE(IsClosed(Connect(port_)));
  EXPECT_TRUE(Refused("address", 1));
}

TEST_F(ConnectionAcceptorTest, LeavesTheLastDescriptorsToOthers) {
  const Descriptor highest(open("/dev/null", O_RDONLY));
  // Descriptors of the test's connections come before those accepted.
  Start({.connections = 100, .descriptors = highest.get() + 8});
  std::vector<Descriptor> connections;
  for (int i = 0; i < 8; ++i) connections.push_back(Connect(port_));
  EXPECT_TRUE(IsClosed(connections.back()));
  EXPECT_TRUE(absl::StrContains(Text(), "{reason=\"descriptors\"} "));
}

TEST_F(ConnectionAcceptorTest, GoesOnAfterDescriptorsRanOut) {
  Start({.connections = 1000, .descriptors = 1000});
  std::vector<Descriptor> taken;
  {
    // One for the connection, none for its other end.
    const Descriptor waiting(socket(AF_INET, SOCK_STREAM, 0));
    const ScopedDescriptorLimit limit(64);
    ASSERT_TRUE(limit.ok());
    while (true) {
      Descriptor next(open("/dev/null", O_RDONLY));
      if (!next.ok()) break;
      taken.push_back(std::move(next));
    }
    ASSERT_TRUE(ConnectTo(waiting, port_));
    EXPECT_TRUE(IsClosed(waiting));
    EXPECT_TRUE(Refused("descriptors", 1));
    taken.clear();
  }
  const Descriptor later = Connect(port_);
  WaitForAccepted(1);
}

}  // namespace
}  // namespace attend
