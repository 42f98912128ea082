// What a client sends to the gRPC port on one connection, after the preface.
// The input is a list of frames, whose lengths the target writes, so that
// changes do not tear all that follows: type, flags, number of the stream, and
// two bytes of length; 0xff as type: the rest is sent as it is. A good call
// comes behind it all.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/grpc/grpc_log.h"
#include "server/grpc/rpc_server.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_service.h"
#include "tests/server/grpc/sockets.h"

namespace attend {
namespace {

constexpr size_t kHeadBytes = 5;
constexpr uint8_t kRaw = 0xff;
constexpr int kHangMillis = 60'000;

// A frame of HTTP/2 with at most 0xffff bytes.
std::string Frame(uint8_t type, uint8_t flags, uint32_t stream,
                  absl::string_view bytes) {
  const size_t numbers[] = {0,     bytes.size() >> 8, bytes.size(), type,
                            flags, stream >> 24,      stream >> 16, stream >> 8,
                            stream};
  std::string frame;
  for (const size_t number : numbers) {
    frame.push_back(static_cast<char>(number));
  }
  return absl::StrCat(frame, bytes);
}

// A header that is in no table.
std::string Header(absl::string_view name, absl::string_view value) {
  return absl::StrCat(absl::string_view("\0", 1),
                      std::string(1, static_cast<char>(name.size())), name,
                      std::string(1, static_cast<char>(value.size())), value);
}

// Of ListModels, on the last stream that there is.
std::string GoodCall() {
  constexpr uint32_t kStream = 0x7fffffff;
  const std::string head = absl::StrCat(
      "\x83\x86", Header(":path", "/attend.v1.Attend/ListModels"),
      Header(":authority", "a"), Header("content-type", "application/grpc"),
      Header("te", "trailers"));
  return Frame(1, 4, kStream, head) +
         Frame(0, 1, kStream, std::string(5, '\0'));
}

std::string ToBytes(absl::string_view input) {
  std::string bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const auto byte = [&](int i) { return static_cast<uint8_t>(input[i]); };
  while (input.size() >= kHeadBytes && byte(0) != kRaw) {
    const size_t length =
        std::min<size_t>(byte(3) << 8 | byte(4), input.size() - kHeadBytes);
    bytes += Frame(byte(0), byte(1), byte(2), input.substr(kHeadBytes, length));
    input.remove_prefix(kHeadBytes + length);
  }
  if (!input.empty() && byte(0) == kRaw) {
    absl::StrAppend(&bytes, input.substr(1));
  }
  return bytes;
}

// False: nothing comes for so long, or never.
bool Receive(const Descriptor& socket, int millis, std::string& answer) {
  pollfd wanted = {.fd = socket.get(), .events = POLLIN, .revents = 0};
  // libFuzzer's timer interrupts it.
  if (TEMP_FAILURE_RETRY(poll(&wanted, 1, millis)) <= 0) {
    ATTEND_CHECK(millis < kHangMillis);
    return false;
  }
  char bytes[16384];
  const ssize_t count = recv(socket.get(), bytes, sizeof(bytes), 0);
  if (count > 0) answer.append(bytes, count);
  return count > 0;
}

// The port, and what it serves.
struct Port {
  Port() {
    RpcOptions options;
    options.host = "127.0.0.1";
    options.port = 0;
    auto started =
        RpcServer::Start(options, service.calls(), service.step_signal(),
                         service.metrics().connections());
    ATTEND_CHECK(started.ok());
    server = *std::move(started);
  }

  FuzzService service;
  const GrpcLog log{service.log()};
  std::unique_ptr<RpcServer> server;
};

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static Port port;
  const Descriptor socket = Connect(port.server->port());
  ATTEND_CHECK(socket.ok());
  // False: the connection has been ended already.
  SendAll(socket, ToBytes(View(data, size)) + GoodCall());
  // An answer need not come: what was sent may go on for ever, or may have
  // closed the window. To the first input, which is good, it comes.
  const int millis = accepted_inputs == 0 ? 10'000 : 5;
  std::string answer;
  while (!absl::StrContains(answer, "grpc-status") &&
         Receive(socket, millis, answer)) {
  }
  if (absl::StrContains(answer, "grpc-status")) ++accepted_inputs;
  // The end of a connection ends all that it had.
  shutdown(socket.get(), SHUT_WR);
  while (Receive(socket, kHangMillis, answer)) {
  }
  port.service.WaitUntilFree();
  return 0;
}
