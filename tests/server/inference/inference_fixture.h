#ifndef ATTEND_TESTS_SERVER_INFERENCE_INFERENCE_FIXTURE_H_
#define ATTEND_TESTS_SERVER_INFERENCE_INFERENCE_FIXTURE_H_

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "server/inference/methods.h"
#include "tests/server/inference/tensors.h"
#include "tests/server/service/service_fixture.h"

namespace attend {

// A fake model behind both protocols.
class InferenceFixture : public ServiceFixture {
 protected:
  InferenceFixture() : ServiceFixture(BothProtocols()) {}

  // The one answer of a call that must succeed.
  template <class Answer>
  Answer Ask(const std::string& method,
             const google::protobuf::Message& request) {
    LocalCall call = NewCall(method, request);
    call.Run();
    EXPECT_EQ(call.end(), absl::OkStatus());
    const auto answers = call.template answers<Answer>();
    EXPECT_EQ(answers.size(), 1);
    return answers.empty() ? Answer() : answers[0];
  }
  InferResponse Infer(const InferRequest& request) {
    return Ask<InferResponse>("ModelInfer", request);
  }
  // The status of a call that must fail, without any answer.
  absl::Status StatusOf(const InferRequest& request) {
    LocalCall call = NewCall("ModelInfer", request);
    call.Run();
    EXPECT_TRUE(call.answers<InferResponse>().empty());
    return call.end().value_or(absl::OkStatus());
  }
  // Of INVALID_ARGUMENT.
  std::string ErrorOf(const InferRequest& request) {
    const absl::Status status = StatusOf(request);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

 private:
  static std::vector<Method> BothProtocols() {
    std::vector<Method> methods = AttendMethods();
    for (const Method& method : InferenceMethods()) methods.push_back(method);
    return methods;
  }
};

inline inference::InferParameter& Parameter(InferRequest& request,
                                            const std::string& name) {
  return (*request.mutable_parameters())[name];
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_INFERENCE_INFERENCE_FIXTURE_H_
