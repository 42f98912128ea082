#ifndef ATTEND_TESTS_SUPPORT_RAW_HTTP_H_
#define ATTEND_TESTS_SUPPORT_RAW_HTTP_H_

#include <deque>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace attend {

// A connection to an HTTP port of this machine that sends what a test wants,
// however wrong or slow. Reading gives up after a minute, which only a hang
// takes.
class RawHttp {
 public:
  // Takes a descriptor only; Connect() makes the connection.
  explicit RawHttp(bool ipv6 = false);
  ~RawHttp();
  RawHttp(RawHttp&& other) noexcept;
  RawHttp& operator=(RawHttp&&) = delete;

  // Keeps what arrives unread small, so that an answer soon does not fit.
  void ReceiveLittle();
  // False: nobody listens on `port`.
  bool Connect(int port);
  // False: the other side has closed.
  bool Send(absl::string_view bytes);
  // No more will be sent.
  void EndSending();

  // The next answer, head and body; empty: the other side has closed.
  // `has_body`: false for the answer to a HEAD.
  std::string ReadAnswer(bool has_body = true);
  // All up to and with `end`; empty: the other side has closed before.
  std::string ReadUntil(absl::string_view end);
  // The next chunk of a body in chunks; empty: it was the last one, or the
  // other side has closed.
  std::string ReadChunk();
  // All until the other side closes.
  std::string ReadToEnd();
  // Waits for bytes, or for the other side to close.
  bool WaitReadable(absl::Duration limit) const;
  // False: it has closed. Takes nothing of what has arrived.
  bool IsOpen() const;

 private:
  bool ReadMore();

  int socket_;
  const bool ipv6_;
  std::string received_;
};

// A request without a body. `headers`: lines, each with its end.
std::string HttpRequestText(absl::string_view method, absl::string_view path,
                            absl::string_view headers = "");

// Connections that clients hold, of four kinds in turn: one says nothing, one
// has sent the "G" of a GET, one is between two requests, one does not read the
// metrics that it asked for. Fewer than `count`: the next one failed.
std::deque<RawHttp> HoldConnections(int port, int count);

// The answer to a GET on a connection of its own; empty: none.
std::string HttpGet(int port, absl::string_view path);

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_RAW_HTTP_H_
