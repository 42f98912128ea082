#ifndef ATTEND_TESTS_SERVER_GRPC_RPC_ENCODER_CALLS_H_
#define ATTEND_TESTS_SERVER_GRPC_RPC_ENCODER_CALLS_H_

#include <string>
#include <utility>
#include <vector>

#include "tests/server/grpc/rpc_fixture.h"

namespace attend {

// Calls of the methods for encoders, as their tests make them.

using Stub = v1::Attend::Stub;

// One call; its error.
template <class Request, class Response>
grpc::Status Call(RpcFixture& fixture,
                  grpc::Status (Stub::*method)(grpc::ClientContext*,
                                               const Request&, Response*),
                  const Request& request, Response& response) {
  grpc::ClientContext context;
  return (fixture.stub.get()->*method)(&context, request, &response);
}

// The error of a call that must fail.
template <class Request, class Response>
std::string ErrorOf(RpcFixture& fixture,
                    grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                 const Request&, Response*),
                    const Request& request) {
  Response response;
  const grpc::Status status = Call(fixture, method, request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  return status.error_message();
}

// A request with these inputs.
template <class Request>
Request OfTexts(const std::vector<std::string>& texts) {
  Request request;
  for (const std::string& text : texts) request.add_inputs()->set_text(text);
  return request;
}

inline v1::EmbedResponse Embed(RpcFixture& fixture,
                               const v1::EmbedRequest& request) {
  v1::EmbedResponse response;
  const grpc::Status status = Call(fixture, &Stub::Embed, request, response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

// A model whose labels score as FakeValue says.
inline RpcFixtureOptions Classifier(std::vector<std::string> labels,
                                    LabelScores scores = LabelScores::kRaw) {
  RpcFixtureOptions options;
  options.engine.info.classifies = true;
  options.engine.info.labels = std::move(labels);
  options.engine.info.label_scores = scores;
  options.engine.info.pair_scores = scores;
  return options;
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_GRPC_RPC_ENCODER_CALLS_H_
