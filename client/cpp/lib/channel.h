#ifndef ATTEND_CLIENT_CPP_LIB_CHANNEL_H_
#define ATTEND_CLIENT_CPP_LIB_CHANNEL_H_

#include <google/protobuf/message.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "attend/v1/attend.grpc.pb.h"  // how gRPC writes messages, too
#include "client/cpp/lib/client_options.h"

namespace attend {

// What the blocking client and the load generator share. Not part of the public
// interface.

// The addresses of the options; if they are not what SplitAddresses() takes,
// one.
std::vector<std::string> AddressesOf(const ClientOptions& options);

// A channel to the servers, which get calls in turn, with the TLS of the
// options, without a limit on a message's size, and without gRPC's own retries
// (see RetryPolicy).
std::shared_ptr<grpc::Channel> OpenChannel(const ClientOptions& options);
// The same to a target of gRPC's. `name`: what servers are called that are
// reached by their numbers.
std::shared_ptr<grpc::Channel> OpenChannel(const ClientOptions& options,
                                           const std::string& target,
                                           const std::string& name);

// The metadata of each call, the token's included.
Metadata MetadataOf(const ClientOptions& options);
void AddMetadata(grpc::ClientContext& context, const Metadata& metadata);

// Sets the deadline, unless `timeout` is infinite.
void SetTimeout(grpc::ClientContext& context, absl::Duration timeout);

// Makes calls of any method. The types of the messages are not known before run
// time.
using UnaryStub = grpc::TemplatedGenericStub<google::protobuf::Message,
                                             google::protobuf::Message>;
using UnaryReader = grpc::ClientAsyncResponseReader<google::protobuf::Message>;

// Prepares a call of a unary method: of attend.v1.Attend ("Embed"), or of
// another service of attend.v1 ("Admin/LoadModel").
std::unique_ptr<UnaryReader> PrepareUnary(
    UnaryStub& stub, grpc::ClientContext& context, const std::string& method,
    const google::protobuf::Message& request, grpc::CompletionQueue& queue);

// Both use the codes of google.rpc.Code.
absl::Status ToAbslStatus(const grpc::Status& status);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_CHANNEL_H_
