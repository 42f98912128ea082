#ifndef ATTEND_TESTS_SERVER_GRPC_RAW_CONNECTION_H_
#define ATTEND_TESTS_SERVER_GRPC_RAW_CONNECTION_H_

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/server/grpc/sockets.h"

namespace attend {

// A connection that speaks HTTP/2, in whatever way the test wants.
class RawConnection {
 public:
  explicit RawConnection(int port) : socket_(Connect(port)) {
    // A server that does not answer fails the test, and does not hold it.
    const timeval longest = {.tv_sec = 60, .tv_usec = 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &longest,
               sizeof(longest));
    EXPECT_TRUE(Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(kSettings, 0)));
  }
  enum Kind : char {
    kData = 0,
    kHeaders = 1,
    kPriority = 2,
    kResetStream = 3,
    kSettings = 4,
    kPing = 6,
    kContinuation = 9
  };
  static constexpr char kAck = 1, kEndStream = 1, kEndHeaders = 4;

  static std::string Frame(Kind kind, char flags, int stream = 0,
                           const std::string& payload = "") {
    const int size = static_cast<int>(payload.size());
    std::string frame = {static_cast<char>(size >> 16),
                         static_cast<char>(size >> 8),
                         static_cast<char>(size),
                         kind,
                         flags,
                         0,
                         0,
                         static_cast<char>(stream >> 8),
                         static_cast<char>(stream)};
    return frame + payload;
  }
  bool Send(const std::string& bytes) { return SendAll(socket_, bytes); }
  // Whether the server answers pings, after all that it was sent.
  bool Answers() {
    const std::string ping = absl::StrCat(10'000'000 + ++pings_);
    if (!Send(Frame(kPing, 0, 0, ping))) return false;
    return ReceiveUntil(Frame(kPing, kAck, 0, ping));
  }
  // Receives until the server has sent `bytes`; false: it closed before. What
  // it sent so far is in received().
  bool ReceiveUntil(const std::string& bytes) {
    char buffer[4096];
    while (received_.find(bytes) == received_.npos) {
      const ssize_t count = recv(socket_.get(), buffer, sizeof(buffer), 0);
      if (count <= 0) return false;
      received_.append(buffer, count);
    }
    return true;
  }
  const std::string& received() const { return received_; }

 private:
  const Descriptor socket_;
  std::string received_;
  int pings_ = 0;
};

inline std::string Header(const std::string& name, const std::string& value) {
  return absl::StrCat(std::string(1, '\0'), std::string(1, name.size()), name,
                      std::string(1, value.size()), value);
}

// Those of a call of the method `path`.
inline std::string Headers(const std::string& path) {
  return Header(":method", "POST") + Header(":scheme", "http") +
         Header(":path", path) + Header(":authority", "a") +
         Header("te", "trailers") + Header("content-type", "application/grpc");
}

// The first bytes of a message that says that it has `length` bytes.
inline std::string MessageHead(uint32_t length) {
  return {0, static_cast<char>(length >> 24), static_cast<char>(length >> 16),
          static_cast<char>(length >> 8), static_cast<char>(length)};
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_GRPC_RAW_CONNECTION_H_
