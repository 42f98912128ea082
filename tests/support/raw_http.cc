#include "tests/support/raw_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

constexpr absl::Duration kHang = absl::Minutes(1);

// Bytes of the body that a head announces.
size_t BodyBytes(absl::string_view head) {
  const std::string name = "\r\ncontent-length:";
  const std::string lower = absl::AsciiStrToLower(head);
  size_t bytes = 0;
  if (const size_t at = lower.find(name); at != std::string::npos) {
    const size_t begin = at + name.size();
    ATTEND_CHECK(absl::SimpleAtoi(
        lower.substr(begin, lower.find("\r\n", begin) - begin), &bytes));
  }
  return bytes;
}

}  // namespace

RawHttp::RawHttp(bool ipv6)
    : socket_(socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      ipv6_(ipv6) {
  ATTEND_CHECK(socket_ >= 0);
}

RawHttp::~RawHttp() {
  if (socket_ >= 0) close(socket_);
}

RawHttp::RawHttp(RawHttp&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      ipv6_(other.ipv6_),
      received_(std::move(other.received_)) {}

void RawHttp::ReceiveLittle() {
  const int bytes = 2048;
  ATTEND_CHECK(
      setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) == 0);
}

// libFuzzer's timer interrupts what waits.
bool RawHttp::Connect(int port) {
  sockaddr_in v4 = {};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6 = {};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = in6addr_loopback;
  const auto connect_to = [this](const auto& address) {
    return TEMP_FAILURE_RETRY(
               connect(socket_, reinterpret_cast<const sockaddr*>(&address),
                       sizeof(address))) == 0;
  };
  return ipv6_ ? connect_to(v6) : connect_to(v4);
}

bool RawHttp::Send(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = TEMP_FAILURE_RETRY(
        send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    if (sent <= 0) return false;
    bytes.remove_prefix(sent);
  }
  return true;
}

void RawHttp::EndSending() { shutdown(socket_, SHUT_WR); }

bool RawHttp::WaitReadable(absl::Duration limit) const {
  pollfd wanted = {.fd = socket_, .events = POLLIN, .revents = 0};
  const int millis = static_cast<int>(absl::ToInt64Milliseconds(limit));
  return TEMP_FAILURE_RETRY(poll(&wanted, 1, millis)) > 0;
}

bool RawHttp::IsOpen() const {
  pollfd closed = {.fd = socket_, .events = POLLRDHUP, .revents = 0};
  return poll(&closed, 1, 0) == 0;
}

bool RawHttp::ReadMore() {
  if (!WaitReadable(kHang)) return false;
  char bytes[16384];
  const ssize_t count = recv(socket_, bytes, sizeof(bytes), 0);
  if (count <= 0) return false;
  received_.append(bytes, count);
  return true;
}

std::string RawHttp::ReadAnswer(bool has_body) {
  size_t end;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!ReadMore()) return "";
  }
  end += 4;
  if (has_body) end += BodyBytes(received_.substr(0, end));
  while (received_.size() < end) {
    if (!ReadMore()) return "";
  }
  const std::string answer = received_.substr(0, end);
  received_.erase(0, end);
  return answer;
}

std::string RawHttp::ReadUntil(absl::string_view end) {
  size_t at;
  while ((at = received_.find(std::string(end))) == std::string::npos) {
    if (!ReadMore()) return "";
  }
  const std::string text = received_.substr(0, at + end.size());
  received_.erase(0, at + end.size());
  return text;
}

std::string RawHttp::ReadChunk() {
  const size_t size = std::strtoul(ReadUntil("\r\n").c_str(), nullptr, 16);
  while (received_.size() < size + 2) {
    if (!ReadMore()) return "";
  }
  const std::string chunk = received_.substr(0, size);
  received_.erase(0, size + 2);
  return chunk;
}

std::string RawHttp::ReadToEnd() {
  while (ReadMore()) {
  }
  return std::exchange(received_, "");
}

std::string HttpRequestText(absl::string_view method, absl::string_view path,
                            absl::string_view headers) {
  return absl::StrCat(method, " ", path, " HTTP/1.1\r\nHost: a\r\n", headers,
                      "\r\n");
}

std::deque<RawHttp> HoldConnections(int port, int count) {
  std::deque<RawHttp> clients;
  for (int i = 0; i < count; ++i) {
    RawHttp& client = clients.emplace_back();
    client.ReceiveLittle();
    bool held = client.Connect(port);
    if (i % 4 == 1) held = held && client.Send("G");
    if (i % 4 == 2) {
      held = held && client.Send(HttpRequestText("GET", "/livez")) &&
             absl::StartsWith(client.ReadAnswer(), "HTTP/1.1 200 ");
    }
    if (i % 4 == 3) {
      held = held && client.Send(HttpRequestText("GET", "/metrics"));
    }
    if (held) continue;
    clients.pop_back();
    break;
  }
  return clients;
}

std::string HttpGet(int port, absl::string_view path) {
  RawHttp connection;
  if (!connection.Connect(port) ||
      !connection.Send(HttpRequestText("GET", path))) {
    return "";
  }
  return connection.ReadAnswer();
}

}  // namespace attend
