#ifndef ATTEND_TESTS_INTEGRATION_RAW_CALL_H_
#define ATTEND_TESTS_INTEGRATION_RAW_CALL_H_

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/sync_stream.h>

#include <map>
#include <memory>
#include <string>

namespace attend {

// Calls of any method with any bytes: what no stub would send, and services
// whose stubs are not built here.

std::shared_ptr<grpc::Channel> RawChannel(const std::string& address);
// One that takes next to nothing before it is read, as a slow reader does.
std::shared_ptr<grpc::Channel> NarrowChannel(const std::string& address);

struct RawReply {
  grpc::Status status;
  std::string bytes;
  std::multimap<std::string, std::string> initial_metadata;
  std::multimap<std::string, std::string> trailers;
};

// `method` is "/package.Service/Method".
RawReply CallUnary(grpc::Channel& channel, const std::string& method,
                   const std::string& request,
                   grpc::ClientContext&& context = grpc::ClientContext());

// A call whose answers are read one by one. Cancelled when it goes away.
class RawStream {
 public:
  RawStream(grpc::Channel& channel, const std::string& method,
            const std::string& request);
  ~RawStream();

  // False: the stream has ended.
  bool Read(std::string& answer);
  void Cancel() { context_.TryCancel(); }
  // After Read() gave false.
  grpc::Status Finish() { return reader_->Finish(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<grpc::ByteBuffer>> reader_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_INTEGRATION_RAW_CALL_H_
