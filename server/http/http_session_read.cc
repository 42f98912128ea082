// What a connection reads: heads and bodies of requests.
#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/http/check_sender.h"
#include "server/http/cors.h"
#include "server/http/http_session.h"
#include "server/http/peer.h"
#include "server/http/request_head.h"
#include "server/http/request_line.h"
#include "server/http/request_target.h"

namespace attend {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

// Memory of a connection that says nothing, and of one that sends a body.
constexpr size_t kReadBytes = 512;
constexpr size_t kReadBodyBytes = 8 << 10;

constexpr char kNoRoom[] = "the server has no room for more bodies of requests";

constexpr char kContinue[] = "HTTP/1.1 100 Continue\r\n\r\n";

// A quoted text of an extension may hold everything for the parser. With a line
// feed in it, a server that takes one for the end of a line would see another
// chunk.
void CheckChunkHead(uint64_t, boost::beast::string_view extensions,
                    boost::system::error_code& error) {
  error = {};
  for (const char c : extensions) {
    if (absl::ascii_iscntrl(c) && c != '\t') {
      error = http::error::bad_chunk_extension;
    }
  }
}

absl::string_view View(boost::beast::string_view text) {
  return absl::string_view(text.data(), text.size());
}

absl::string_view ViewOf(const boost::beast::flat_buffer& buffer) {
  return {static_cast<const char*>(buffer.data().data()), buffer.size()};
}

// Some clients send an empty line after a body (RFC 9112, 2.2). They do not
// begin a request, so the time limit of an idle connection stays. Returns false
// if no byte of a request is there.
bool SkipEmptyLines(boost::beast::flat_buffer& buffer) {
  while (absl::StartsWith(ViewOf(buffer), "\r\n")) buffer.consume(2);
  return buffer.size() > 0 && ViewOf(buffer) != "\r";
}

}  // namespace

void HttpSession::WaitForRequest(absl::Duration limit) {
  ResetParser();
  answer_.more_headers.clear();
  if (SkipEmptyLines(buffer_)) return StartHead();
  buffer_.shrink_to_fit();
  stage_ = Stage::kIdle;
  SetDeadline(limit);
  Read();
}

void HttpSession::ResetParser() {
  parser_.emplace();
  parser_->header_limit(kMaxHttpHeadBytes);
  // CheckHead() and ParseBody() have another. None at all is one of 0 in Boost
  // 1.74.
  parser_->body_limit(std::numeric_limits<uint64_t>::max());
  parser_->on_chunk_header(CheckChunkHead);
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
  if (cut_) return Refuse(503, kNoRoom);
  if (error && stage_ == Stage::kAnswer && answer_.listener == nullptr) return;
  if (error == asio::error::eof && stage_ == Stage::kAnswer) {
    return AskWhetherClientReads();
  }
  if (error) return End({HttpEnd::kGone});
  buffer_.commit(asio::buffer_copy(buffer_.prepare(bytes),
                                   asio::buffer(received_, bytes)));
  switch (stage_) {
    case Stage::kIdle:
      return SkipEmptyLines(buffer_) ? StartHead() : Read();
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
  const asio::mutable_buffer bytes = buffer_.data();
  if (error == http::error::bad_version &&
      LowerMinorVersion({static_cast<char*>(bytes.data()), bytes.size()})) {
    ResetParser();
    return Parse();
  }
  if (error) return OnBadRequest(error);
  OnHead();
}

void HttpSession::OnBadRequest(ErrorCode error) {
  if (error == http::error::bad_version && NamesOtherVersion(ViewOf(buffer_))) {
    return Refuse(505, "this port serves HTTP/1.1; gRPC has a port of its own");
  }
  if (error != http::error::header_limit &&
      error != http::error::buffer_overflow) {
    return Refuse(400, "the request is not HTTP/1.1");
  }
  if (parser_->is_header_done() || !parser_->get().target().empty()) {
    return Refuse(431, "the head of the request is too large");
  }
  // RFC 9112, 3: the request line is not whole yet.
  if (absl::StrContains(ViewOf(buffer_), ' ')) {
    return Refuse(414, "the target of the request is too long");
  }
  Refuse(501, "the method is not implemented");
}

HeadRefusal HttpSession::CheckHead(const HttpRequest& request) const {
  HeadRefusal refusal = CheckRequestHead(request);
  if (refusal.status == 0) {
    refusal = CheckSender(request, environment_, ChecksHost());
  }
  if (refusal.status != 0) return refusal;
  const auto length = parser_->content_length();
  const int64_t limit = environment_.options.max_body_bytes;
  if (length && *length > static_cast<uint64_t>(limit)) {
    return {413, absl::StrCat("the body has ", *length, " bytes, limit is ",
                              limit, " (max_message_bytes)")};
  }
  return {};
}

// Without allowed hosts, names of this server that proxies and services of
// Kubernetes use are not known. But a browser on this machine does not come
// through these. It has no key to send, and TLS takes a certificate for the
// name.
bool HttpSession::ChecksHost() const {
  if (environment_.hosts.restricts()) return true;
  return !environment_.options.needs_keys && !stream_.has_tls() &&
         IsLocalPeer(socket_);
}

HttpRequest HttpSession::Request() const {
  const auto& head = parser_->get();
  HttpRequest request = {.method = View(head.method_string()),
                         .path = View(head.target()),
                         .target = View(head.target()),
                         .version = static_cast<int>(head.version())};
  for (const auto& field : head) {
    request.headers.emplace_back(View(field.name_string()),
                                 View(field.value()));
  }
  if (const auto target = ParseTarget(request.method, request.target)) {
    request.path = target->path;
    request.query = target->query;
    // Of an absolute-form, Host does not count (RFC 9112, 3.2.2).
    request.authority = target->authority.empty()
                            ? request.Header("Host").value_or("")
                            : target->authority;
  }
  if (certificate_names_.has_value()) {
    request.certificate_names = &*certificate_names_;
  }
  return request;
}

void HttpSession::OnHead() {
  const HttpRequest request = Request();
  answer_.more_headers =
      CorsHeaders(environment_.options.cors_origins, request);
  if (const auto [status, reason] = CheckHead(request); status != 0) {
    return Refuse(status, reason);
  }
  stage_ = Stage::kAnswer;
  SetNoDeadline();
  environment_.connections.Progress(*this);
  answer_.keep_alive = KeepsConnection(request);
  answer_.client_waits = ExpectsContinue(request);
  answer_.begun = false;
  Handle();
}

void HttpSession::ReadBody(uint64_t tenant) {
  body_.emplace(environment_.requests, tenant, CutOfBody());
  if (parser_->is_done()) return OnBody();
  stage_ = Stage::kBody;
  parser_->eager(true);
  SetDeadline(environment_.options.head_timeout);
  if (!answer_.client_waits || buffer_.size() > 0) return ParseBody();
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
  if (!body_->GrowTo(size)) {
    return Refuse(503, kNoRoom);
  }
  if (error && error != http::error::need_more) return OnBadRequest(error);
  if (parser_->is_done()) return OnBody();
  if (body_->KeepsPace()) SetDeadline(environment_.options.head_timeout);
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
  HttpBody body = {std::move(parser_->get().body()), body_->Take()};
  body_.reset();
  answer_.listener->OnBody(std::move(body));
  Read();
}

}  // namespace attend
