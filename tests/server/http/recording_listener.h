#ifndef ATTEND_TESTS_SERVER_HTTP_RECORDING_LISTENER_H_
#define ATTEND_TESTS_SERVER_HTTP_RECORDING_LISTENER_H_

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/tensor/mutex.h"
#include "server/http/http_router.h"
#include "server/http/http_server.h"

namespace attend {

// Answers one request as a test says, and remembers what happens to it. The
// test's thread waits for what it expects.
class RecordingListener final : public HttpExchangeListener {
 public:
  // Takes the request, and asks for its body.
  void Take(std::shared_ptr<HttpExchange> exchange) {
    {
      MutexLock lock(mutex_);
      exchange_ = exchange;
      changed_.notify_all();
    }
    exchange->Listen(*this);
    exchange->ReadBody(/*tenant=*/0);
  }

  HttpExchange& exchange() {
    Await([this] { return exchange_ != nullptr; });
    return *exchange_;
  }
  std::string body() {
    Await([this] { return body_.has_value(); });
    return body_->text;
  }
  HttpEnd end() {
    Await([this] { return end_.has_value(); });
    return *end_;
  }
  void AwaitWritten(int count) {
    Await([this, count] { return written_ >= count; });
  }
  bool has_body() {
    MutexLock lock(mutex_);
    return body_.has_value();
  }
  void DropBody() {
    MutexLock lock(mutex_);
    body_.reset();
  }
  int written() {
    MutexLock lock(mutex_);
    return written_;
  }

 private:
  void OnBody(HttpBody body) override {
    MutexLock lock(mutex_);
    body_.emplace(std::move(body));
    changed_.notify_all();
  }
  void OnWritten() override {
    MutexLock lock(mutex_);
    ++written_;
    changed_.notify_all();
  }
  void OnEnd(HttpEnd end) override {
    MutexLock lock(mutex_);
    end_ = end;
    changed_.notify_all();
  }
  void Await(const std::function<bool()>& happened) {
    MutexLock lock(mutex_);
    changed_.wait(lock, happened);
  }

  Mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<HttpExchange> exchange_;
  std::optional<HttpBody> body_;
  int written_ = 0;
  std::optional<HttpEnd> end_;
};

// A server whose POST /call is taken by one listener after the other.
class ListenedServer {
 public:
  explicit ListenedServer(HttpOptions options, int listeners = 1,
                          size_t max_request_bytes = kMaxRequestBytes)
      : requests_(max_request_bytes), listeners_(listeners) {
    options.host = "127.0.0.1";
    options.port = 0;
    HttpRouter router;
    router.Add("POST", "/call",
               [this](const HttpRequest&, std::shared_ptr<HttpExchange> to) {
                 listeners_.at(next_++).Take(std::move(to));
               });
    router.Add("GET", "/livez",
               [](const HttpRequest&, std::shared_ptr<HttpExchange> to) {
                 to->Reply(TextResponse(200, "ok\n"));
               });
    auto started = HttpServer::Start(options, std::move(router),
                                     /*certificates=*/nullptr, &requests_);
    EXPECT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
  }

  int port() const { return server_->port(); }
  RecordingListener& call(int index = 0) { return listeners_.at(index); }
  void Stop() { server_.reset(); }

 private:
  RequestBudget requests_;
  std::vector<RecordingListener> listeners_;
  size_t next_ = 0;  // the loop's
  std::unique_ptr<HttpServer> server_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_HTTP_RECORDING_LISTENER_H_
