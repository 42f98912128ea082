// What a connection reads: heads and bodies of requests.
#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/http/cors.h"
#include "server/http/http_session.h"

namespace attend {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

// Memory of a connection that says nothing, and of one that sends a body.
constexpr size_t kReadBytes = 512;
constexpr size_t kReadBodyBytes = 8 << 10;

constexpr char kContinue[] = "HTTP/1.1 100 Continue\r\n\r\n";

absl::string_view View(boost::beast::string_view text) {
  return absl::string_view(text.data(), text.size());
}

}  // namespace

void HttpSession::WaitForRequest(absl::Duration limit) {
  parser_.emplace();
  parser_->header_limit(kMaxHttpHeadBytes);
  // CheckHead() and ParseBody() have another. None at all is one of 0 in Boost
  // 1.74.
  parser_->body_limit(std::numeric_limits<uint64_t>::max());
  more_headers_.clear();
  if (buffer_.size() > 0) return StartHead();
  buffer_.shrink_to_fit();
  stage_ = Stage::kIdle;
  SetDeadline(limit);
  Read();
}

void HttpSession::StartHead() {
  stage_ = Stage::kHead;
  SetDeadline(environment_.options.head_timeout);
  Parse();
}

// Reads on. While an answer is made, that tells whether the client has gone;
// what comes of further requests then waits in buffer_ while there is room.
void HttpSession::Read() {
  if (reading_) return;
  const size_t room = buffer_.max_size() - buffer_.size();
  if (room == 0 && stage_ == Stage::kAnswer) return;
  if (room == 0) return OnBadRequest(http::error::buffer_overflow);
  const size_t wanted = stage_ == Stage::kBody ? kReadBodyBytes : kReadBytes;
  received_.resize(std::min(room, wanted));
  received_.shrink_to_fit();
  reading_ = true;
  stream_.async_read_some(
      asio::buffer(received_),
      IfOpen([](HttpSession& self, ErrorCode error, size_t bytes) {
        self.reading_ = false;
        self.OnRead(error, bytes);
      }));
}

void HttpSession::OnRead(ErrorCode error, size_t bytes) {
  if (stage_ == Stage::kFarewell) return;  // ReadToTheEnd() goes on
  if (late_) return Refuse(408, "the request took too long to arrive");
  if (error && stage_ == Stage::kAnswer && listener_ == nullptr) return;
  if (error) return End({HttpEnd::kGone});
  buffer_.commit(asio::buffer_copy(buffer_.prepare(bytes),
                                   asio::buffer(received_, bytes)));
  switch (stage_) {
    case Stage::kIdle:
      return StartHead();
    case Stage::kHead:
      return Parse();
    case Stage::kBody:
      return ParseBody();
    default:
      return Read();
  }
}

void HttpSession::Parse() {
  ErrorCode error;
  buffer_.consume(parser_->put(buffer_.data(), error));
  if (error == http::error::need_more) return Read();
  if (error) return OnBadRequest(error);
  OnHead();
}

void HttpSession::OnBadRequest(ErrorCode error) {
  if (error == http::error::header_limit ||
      error == http::error::buffer_overflow) {
    return Refuse(431, "the head of the request is too large");
  }
  Refuse(400, "the request is not HTTP/1.1");
}

std::pair<int, std::string> HttpSession::CheckHead() const {
  const auto& head = parser_->get();
  if (head.version() >= 11 && head.count(http::field::host) != 1) {
    return {400, "the request must have exactly one header Host"};
  }
  const auto coding = head.find(http::field::transfer_encoding);
  if (coding != head.end() &&
      !absl::EqualsIgnoreCase(View(coding->value()), "chunked")) {
    return {501, "Transfer-Encoding must be chunked"};
  }
  const auto expect = head.find(http::field::expect);
  if (expect != head.end() &&
      !absl::EqualsIgnoreCase(View(expect->value()), "100-continue")) {
    return {417, "Expect must be 100-continue"};
  }
  const auto length = parser_->content_length();
  const int64_t limit = environment_.options.max_body_bytes;
  if (length && *length > static_cast<uint64_t>(limit)) {
    return {413, absl::StrCat("the body has ", *length, " bytes, limit is ",
                              limit, " (max_message_bytes)")};
  }
  return {0, ""};
}

HttpRequest HttpSession::Request() const {
  const auto& head = parser_->get();
  const absl::string_view target = View(head.target());
  const size_t query = target.find('?');
  HttpRequest request = {
      .method = View(head.method_string()),
      .path = target.substr(0, query),
      .query = query == target.npos ? "" : target.substr(query + 1)};
  for (const auto& field : head) {
    request.headers.emplace_back(View(field.name_string()),
                                 View(field.value()));
  }
  if (certificate_names_.has_value()) {
    request.certificate_names = &*certificate_names_;
  }
  return request;
}

void HttpSession::OnHead() {
  more_headers_ = CorsHeaders(environment_.options.cors_origins, Request());
  if (const auto [status, reason] = CheckHead(); status != 0) {
    return Refuse(status, reason);
  }
  stage_ = Stage::kAnswer;
  SetNoDeadline();
  environment_.connections.Progress(*this);
  keep_alive_ = parser_->get().keep_alive();
  answered_ = false;
  Handle();
}

void HttpSession::ReadBody() {
  if (parser_->is_done()) return OnBody();
  stage_ = Stage::kBody;
  paced_ = 0;
  budgeted_ = BudgetedBytes(environment_.bodies);
  parser_->eager(true);
  SetDeadline(environment_.options.head_timeout);
  const bool waits = parser_->get().count(http::field::expect) > 0;
  if (!waits || buffer_.size() > 0) return ParseBody();
  asio::async_write(stream_, asio::buffer(kContinue, sizeof(kContinue) - 1),
                    IfOpen([](HttpSession& self, ErrorCode error, size_t) {
                      if (error) return self.End({HttpEnd::kGone});
                      self.ParseBody();
                    }));
}

void HttpSession::ParseBody() {
  ErrorCode error;
  while (buffer_.size() > 0 && !error && !parser_->is_done()) {
    buffer_.consume(parser_->put(buffer_.data(), error));
  }
  const size_t size = parser_->get().body().size();
  const int64_t limit = environment_.options.max_body_bytes;
  if (static_cast<int64_t>(size) > limit) {
    return Refuse(413, absl::StrCat("the body has more than ", limit,
                                    " bytes, the limit (max_message_bytes)"));
  }
  if (!budgeted_.GrowTo(static_cast<int64_t>(size))) {
    return Refuse(503, "the server has no room for more bodies of requests");
  }
  if (error && error != http::error::need_more) return OnBadRequest(error);
  if (parser_->is_done()) return OnBody();
  if (size - paced_ >= kPaceBytes) {
    paced_ = size;
    SetDeadline(environment_.options.head_timeout);
  }
  Read();
}

void HttpSession::OnBody() {
  if (!environment_.connections.MakeBusy(*this)) {
    return Refuse(503, absl::StrCat("too many calls run, limit is ",
                                    environment_.connections.max_busy(),
                                    " (http_max_connections)"));
  }
  stage_ = Stage::kAnswer;
  SetNoDeadline();
  listener_->OnBody(
      {std::move(parser_->get().body()), std::exchange(budgeted_, {})});
  Read();
}

}  // namespace attend
