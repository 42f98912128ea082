#ifndef ATTEND_SERVER_HTTP_OUTGOING_H_
#define ATTEND_SERVER_HTTP_OUTGOING_H_

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace attend {

// What a connection sends: a part of the answer, or bytes aside that the
// handler knows nothing of.
struct Outgoing {
  enum class Kind { kNothing, kAnswer, kAside };

  std::array<boost::asio::const_buffer, 2> Rest() const {
    namespace asio = boost::asio;
    const size_t of_back = sent - std::min(sent, front.size());
    return {asio::buffer(front) + sent,
            (back == nullptr ? asio::const_buffer() : asio::buffer(*back)) +
                of_back};
  }
  bool done() const {
    return sent == front.size() + (back == nullptr ? 0 : back->size());
  }

  std::string front = {};
  std::shared_ptr<const std::string> back = nullptr;  // null: none
  Kind kind = Kind::kNothing;
  size_t sent = 0;  // bytes of both
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_OUTGOING_H_
