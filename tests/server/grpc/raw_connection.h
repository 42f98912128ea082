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
    kContinuation = 9,
    kUnknown = 0x20  // to be ignored
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
    while (received_.find(bytes) == received_.npos) {
      if (!ReceiveMore()) return false;
    }
    return true;
  }
  const std::string& received() const { return received_; }
  // The value of the header that comes next, shorter than 127 bytes; empty: the
  // server closed before. Headers of the server are neither indexed nor packed
  // the first time that a connection has them.
  std::string ReceiveStatus() { return ReceiveHeader("grpc-status"); }
  std::string ReceiveHeader(const std::string& name) {
    if (!ReceiveUntil(name)) return "";
    const size_t begin = received_.find(name) + name.size();
    while (received_.size() < begin + 1 ||
           received_.size() < begin + 1 + received_[begin]) {
      if (!ReceiveMore()) return "";
    }
    const std::string value = received_.substr(begin + 1, received_[begin]);
    received_.erase(0, begin);
    return value;
  }

 private:
  bool ReceiveMore() {
    char buffer[4096];
    const ssize_t count = recv(socket_.get(), buffer, sizeof(buffer), 0);
    if (count > 0) received_.append(buffer, count);
    return count > 0;
  }

  const Descriptor socket_;
  std::string received_;
  int pings_ = 0;
};

// An integer with a prefix of 7 bits (RFC 7541, section 5.1).
inline std::string HpackInteger(size_t value) {
  if (value < 127) return std::string(1, static_cast<char>(value));
  std::string bytes = "\x7f";
  for (value -= 127; value >= 128; value /= 128) {
    bytes.push_back(static_cast<char>(128 + value % 128));
  }
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

// A literal header; `first` says whether it goes into the table.
inline std::string Header(const std::string& name, const std::string& value,
                          char first = '\0') {
  return absl::StrCat(std::string(1, first), HpackInteger(name.size()), name,
                      HpackInteger(value.size()), value);
}

// Those of a call of the method `path`.
inline std::string Headers(const std::string& path) {
  return Header(":method", "POST") + Header(":scheme", "http") +
         Header(":path", path) + Header(":authority", "a") +
         Header("te", "trailers") + Header("content-type", "application/grpc");
}

// A header block in frames of `bytes` each, the last of which ends it.
inline std::string BlockInFrames(int stream, const std::string& block,
                                 size_t bytes) {
  std::string frames;
  for (size_t at = 0; at == 0 || at < block.size(); at += bytes) {
    const bool last = at + bytes >= block.size();
    frames += RawConnection::Frame(
        at == 0 ? RawConnection::kHeaders : RawConnection::kContinuation,
        last ? RawConnection::kEndHeaders : 0, stream, block.substr(at, bytes));
  }
  return frames;
}

// The first bytes of a message that says that it has `length` bytes.
inline std::string MessageHead(uint32_t length, char flag = 0) {
  return {flag, static_cast<char>(length >> 24),
          static_cast<char>(length >> 16), static_cast<char>(length >> 8),
          static_cast<char>(length)};
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_GRPC_RAW_CONNECTION_H_
