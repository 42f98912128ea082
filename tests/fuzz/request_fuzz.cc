// A request of any method of the gRPC port, from its bytes to its answers. The
// first byte says which method, and how the rest is written: from 'a' on as
// text, as google::protobuf::TextFormat has it, from 'A' on as bytes.
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <cstring>
#include <memory>

#include "attend/v1/attend.pb.h"
#include "inference/grpc_service.pb.h"
#include "server/inference/datatype.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_service.h"
#include "tests/server/service/local_call.h"

namespace attend {
namespace {

// Requests may be wrong in any way; nothing is printed.
class NoErrors final : public google::protobuf::io::ErrorCollector {
  void AddError(int, int, const std::string&) override {}
};

bool ParseText(absl::string_view text, google::protobuf::Message& request) {
  NoErrors errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(100);
  return parser.ParseFromString(std::string(text), &request);
}

// A status that docs/api.md or docs/protocols.md lists, other than that of a
// bug.
bool IsDocumented(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kDeadlineExceeded:
      return true;
    default:
      return false;
  }
}

// Every answer is whole, and its inputs end with such a status, too.
template <class Response>
void CheckResults(const LocalCall& call) {
  for (const Response& answer : call.answers<Response>()) {
    for (const auto& result : answer.results()) {
      ATTEND_CHECK(
          IsDocumented(static_cast<absl::StatusCode>(result.status().code())));
    }
  }
}

// Each tensor has the elements that its shape says.
void CheckTensors(const inference::ModelInferResponse& response) {
  ATTEND_CHECK(response.outputs_size() == response.raw_output_contents_size());
  for (int i = 0; i < response.outputs_size(); ++i) {
    const auto& tensor = response.outputs(i);
    const Datatype* const datatype = FindDatatype(tensor.datatype());
    ATTEND_CHECK(datatype != nullptr);
    int64_t size = 1;
    for (int64_t dim : tensor.shape()) size *= dim;
    const std::string& raw = response.raw_output_contents(i);
    const bool texts = datatype->kind == Datatype::Kind::kBytes;
    // Of a text, at least its length.
    const auto elements = static_cast<size_t>(size);
    ATTEND_CHECK(texts ? raw.size() >= 4 * elements
                       : raw.size() == datatype->bytes * elements);
  }
}

// The last response to a request says so, and no other.
void CheckParts(const LocalCall& call) {
  const auto parts = call.answers<inference::ModelStreamInferResponse>();
  ATTEND_CHECK(!parts.empty());
  for (const auto& part : parts) {
    CheckTensors(part.infer_response());
    const auto& parameters = part.infer_response().parameters();
    ATTEND_CHECK(parameters.at("triton_final_response").bool_param() ==
                 (&part == &parts.back()));
  }
}

void Run(const Method& method, const google::protobuf::Message& request) {
  static FuzzService service;
  LocalCall call(method, service.calls(), request);
  call.Run();
  ATTEND_CHECK(call.end().has_value());
  ATTEND_CHECK(IsDocumented(call.end()->code()));
  // An error shows little of what the client sent.
  ATTEND_CHECK(call.end()->message().size() < 1000);
  if (method.name() == "ModelStreamInfer") CheckParts(call);
  if (!call.end()->ok()) return;
  ++accepted_inputs;
  if (method.name() == "Generate") CheckResults<v1::GenerateResponse>(call);
  if (method.name() == "Score") CheckResults<v1::ScoreResponse>(call);
  if (method.name() == "Translate") CheckResults<v1::TranslateResponse>(call);
  if (method.name() == "Embed") CheckResults<v1::EmbedResponse>(call);
  if (method.name() == "Classify") CheckResults<v1::ClassifyResponse>(call);
  if (method.name() == "FillMask") CheckResults<v1::FillMaskResponse>(call);
  if (method.name() == "Rerank") CheckResults<v1::RerankResponse>(call);
  if (method.name() == "Tokenize") CheckResults<v1::TokenizeResponse>(call);
  if (method.name() == "Detokenize") CheckResults<v1::DetokenizeResponse>(call);
  if (method.name() == "ModelInfer") {
    CheckTensors(call.answers<inference::ModelInferResponse>().at(0));
  }
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const std::vector<Method> methods = FuzzService::Methods();
  ATTEND_CHECK(methods.size() <= 'a' - 'A');
  // Requests need not be UTF-8, and protobuf would say so.
  [[maybe_unused]] static auto* const log =
      google::protobuf::SetLogHandler(nullptr);
  if (size == 0) return 0;
  const bool as_text = data[0] >= 'a';
  const int index = data[0] - (as_text ? 'a' : 'A');
  if (index < 0 || index >= static_cast<int>(methods.size())) return 0;
  const Method& method = methods[index];
  const std::unique_ptr<google::protobuf::Message> request(
      method.request->New());
  const absl::string_view rest = View(data + 1, size - 1);
  // A text may give what no message has on its way: strings that are no UTF-8.
  const bool parsed =
      as_text ? ParseText(rest, *request) &&
                    request->ParseFromString(request->SerializeAsString())
              : request->ParseFromArray(rest.data(), rest.size());
  if (parsed) Run(method, *request);
  return 0;
}
