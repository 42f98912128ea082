#ifndef ATTEND_TESTS_INTEGRATION_ENCODER_SERVER_H_
#define ATTEND_TESTS_INTEGRATION_ENCODER_SERVER_H_

#include <nlohmann/json.hpp>
#include <string>

#include "attend/v1/attend.pb.h"
#include "tests/integration/server_process.h"

namespace attend {

// A server of golden encoders and encoder-decoders, each under its name and
// with the tokenizer of tests/golden/text, in f32. One for all tests; stopped,
// and its exit code checked, at the end.
ServerProcess& EncoderServer();

// What transformers makes of texts with these models: the cases of a section of
// tests/golden/text/expected.json.
const nlohmann::json& TextCases(const char* section);

// Words that their tokenizer knows, by number: few or as many as fit.
std::string Words(int number);

// A request of one text for a model.
template <class Request>
Request ForText(const std::string& model, const std::string& text) {
  Request request;
  request.set_model(model);
  request.add_inputs()->set_text(text);
  return request;
}

// All bits of an answer but its times, for comparing.
template <class Response>
std::string AllBits(Response response) {
  for (auto& result : *response.mutable_results()) result.clear_timings();
  return response.SerializeAsString();
}

}  // namespace attend

#endif  // ATTEND_TESTS_INTEGRATION_ENCODER_SERVER_H_
