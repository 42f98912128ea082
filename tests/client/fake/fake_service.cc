#include "tests/client/fake/fake_service.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <chrono>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "attend/v1/attend.grpc.pb.h"
#include "inference/grpc_service.grpc.pb.h"
#include "tests/client/fake/fake_answers.h"
#include "tests/client/fake/fake_calls.h"

namespace attend {
namespace {

// Of this protocol it knows one call.
class FakeInference final : public inference::GRPCInferenceService::Service {
 public:
  grpc::Status ServerMetadata(
      grpc::ServerContext*, const inference::ServerMetadataRequest*,
      inference::ServerMetadataResponse* response) override {
    response->set_name("fake");
    response->set_version("1.2.3");
    return grpc::Status::OK;
  }
};

// The part of attend.v1.Admin.
class FakeAdmin final : public v1::Admin::Service {
 public:
  explicit FakeAdmin(FakeCalls& calls) : calls_(calls) {}

  grpc::Status Profile(grpc::ServerContext* context,
                       const v1::ProfileRequest* request,
                       grpc::ServerWriter<v1::ProfileChunk>* writer) override {
    if (grpc::Status status = calls_.Begin(*context); !status.ok()) {
      return status;
    }
    v1::ProfileChunk piece;
    piece.set_trace("{\"seconds\": ");
    writer->Write(piece);
    const int64_t seconds = request->duration().seconds();
    if (seconds == 13) {
      return {grpc::StatusCode::UNAVAILABLE, "broken off"};
    }
    piece.set_trace(absl::StrCat(seconds, "}"));
    writer->Write(piece);
    return grpc::Status::OK;
  }

 private:
  FakeCalls& calls_;
};

// 2 ms for the first input of a call, and 1 ms more for each other.
void SetQueueTime(int input, v1::Timings& timings) {
  timings.mutable_queue()->set_nanos((2 + input) * 1000000);
}

}  // namespace

class FakeService::Implementation final : public v1::Attend::Service {
 public:
  Implementation() {
    grpc::EnableDefaultHealthCheckService(true);  // it is serving
    grpc::ServerBuilder builder;
    // A number, not a name: Debian 12's c-ares leaks a few bytes a look-up,
    // which the leak checker would report.
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(this);
    builder.RegisterService(&inference_);
    builder.RegisterService(&admin_);
    server_ = builder.BuildAndStart();
  }

  ~Implementation() override {
    calls_.Stop();
    server_->Shutdown(std::chrono::system_clock::now());
  }

  int port() const { return port_; }
  FakeCalls& calls() { return calls_; }

  grpc::Status Generate(grpc::ServerContext* context,
                        const v1::GenerateRequest* request,
                        v1::GenerateResponse* response) override {
    const FakeCalls::InFlight in_flight(calls_);
    calls_.Set(&FakeCalls::last_generate, *request);
    if (grpc::Status status = calls_.Begin(*context); !status.ok()) {
      return status;
    }
    for (const v1::Input& input : request->inputs()) {
      if (absl::StartsWith(input.text(), "hang")) return calls_.Hang(*context);
      v1::GenerateResult& result = *response->add_results();
      if (Takes(input.text(), result)) {
        MakeAnswer(input.text(), request->params(), result);
      }
      SetQueueTime(response->results_size() - 1, *result.mutable_timings());
    }
    return grpc::Status::OK;
  }

  grpc::Status GenerateStream(
      grpc::ServerContext* context, const v1::GenerateRequest* request,
      grpc::ServerWriter<v1::GenerateChunk>* writer) override {
    const FakeCalls::InFlight in_flight(calls_);
    calls_.Set(&FakeCalls::last_generate, *request);
    if (grpc::Status status = calls_.Begin(*context); !status.ok()) {
      return status;
    }
    for (int i = 0; i < request->inputs_size(); ++i) {
      const std::string text = TextOf(request->inputs(i));
      if (absl::StartsWith(text, "hang")) return calls_.Hang(*context);
      v1::GenerateChunk last;
      last.set_input(i);
      last.set_finish_reason(v1::FINISH_REASON_EOS);
      const auto words = Words(Takes(text, last) ? text : "");
      for (const std::string& word : words) {
        v1::GenerateChunk chunk;
        chunk.set_input(i);
        chunk.add_ids(static_cast<int>(word.size()));
        chunk.set_text(absl::AsciiStrToUpper(word) + " ");
        writer->Write(chunk);
        if (word == "break") {
          return {grpc::StatusCode::UNAVAILABLE, "broken off"};
        }
      }
      last.mutable_usage()->set_generated_tokens(
          static_cast<int>(words.size()));
      SetQueueTime(i, *last.mutable_timings());
      writer->Write(last);
    }
    return grpc::Status::OK;
  }

  grpc::Status Score(grpc::ServerContext* context,
                     const v1::ScoreRequest* request,
                     v1::ScoreResponse* response) override {
    if (grpc::Status status = calls_.Begin(*context); !status.ok()) {
      return status;
    }
    for (const v1::ScorePair& pair : request->pairs()) {
      MakeAnswer(pair, *response->add_results());
    }
    return grpc::Status::OK;
  }

  grpc::Status Embed(grpc::ServerContext* context,
                     const v1::EmbedRequest* request,
                     v1::EmbedResponse* response) override {
    calls_.Set(&FakeCalls::last_embed, *request);
    return AnswerInputs(*context, *request, *response,
                        [&](const v1::Input& input, v1::EmbedResult& result) {
                          MakeAnswer(input.text(), request->per_token(),
                                     result);
                          AnswerKinds(*request, result);
                        });
  }

  grpc::Status Classify(grpc::ServerContext* context,
                        const v1::ClassifyRequest* request,
                        v1::ClassifyResponse* response) override {
    calls_.Set(&FakeCalls::last_classify, *request);
    return AnswerInputs(*context, *request, *response,
                        [](const v1::Input& input, v1::ClassifyResult& result) {
                          MakeAnswer(input, result);
                        });
  }

  grpc::Status FillMask(grpc::ServerContext* context,
                        const v1::FillMaskRequest* request,
                        v1::FillMaskResponse* response) override {
    calls_.Set(&FakeCalls::last_fill_mask, *request);
    return AnswerInputs(*context, *request, *response,
                        [](const v1::Input& input, v1::FillMaskResult& result) {
                          MakeAnswer(input.text(), result);
                        });
  }

  grpc::Status Rerank(grpc::ServerContext* context,
                      const v1::RerankRequest* request,
                      v1::RerankResponse* response) override {
    if (grpc::Status status = calls_.Begin(*context); !status.ok()) {
      return status;
    }
    calls_.Set(&FakeCalls::last_rerank, *request);
    // Not in the order of the request, as a server's.
    for (int i = request->documents_size() - 1; i >= 0; --i) {
      v1::RerankResult& result = *response->add_results();
      result.set_index(i);
      if (!Takes(request->documents(i), result)) continue;
      result.set_score(static_cast<float>(request->documents(i).size()));
    }
    return grpc::Status::OK;
  }

  grpc::Status Tokenize(grpc::ServerContext* context,
                        const v1::TokenizeRequest* request,
                        v1::TokenizeResponse* response) override {
    if (grpc::Status status = calls_.Begin(*context); !status.ok()) {
      return status;
    }
    for (const std::string& text : request->texts()) {
      MakeAnswer(text, *response->add_results());
    }
    return grpc::Status::OK;
  }

  grpc::Status Detokenize(grpc::ServerContext* context,
                          const v1::DetokenizeRequest* request,
                          v1::DetokenizeResponse* response) override {
    if (grpc::Status status = calls_.Begin(*context); !status.ok()) {
      return status;
    }
    for (const v1::Tokens& tokens : request->sequences()) {
      response->add_results()->set_text(
          absl::StrCat("ids ", absl::StrJoin(tokens.ids(), "+")));
    }
    return grpc::Status::OK;
  }

  grpc::Status ListModels(grpc::ServerContext* context,
                          const v1::ListModelsRequest*,
                          v1::ListModelsResponse* response) override {
    if (grpc::Status status = calls_.Begin(*context); !status.ok()) {
      return status;
    }
    *response->add_models() = FakeModel();
    return grpc::Status::OK;
  }

  grpc::Status GetModel(grpc::ServerContext* context,
                        const v1::GetModelRequest* request,
                        v1::Model* response) override {
    if (grpc::Status status = calls_.Begin(*context); !status.ok()) {
      return status;
    }
    if (request->name() == "mute") {
      *response = FakeModel();
      response->set_name("mute");
      response->set_chats(false);
      return grpc::Status::OK;
    }
    if (!request->name().empty() && request->name() != "capitals") {
      return {grpc::StatusCode::NOT_FOUND,
              absl::StrCat("model \"", request->name(), "\" is not served")};
    }
    *response = FakeModel();
    return grpc::Status::OK;
  }

 private:
  FakeInference inference_;
  // Gives the result its status; false: nothing else.
  template <class Result>
  bool Takes(const std::string& text, Result& result) {
    *result.mutable_status() = calls_.StatusOf(text);
    return result.status().code() == 0;
  }

  template <class Request, class Response, class Fill>
  grpc::Status AnswerInputs(grpc::ServerContext& context,
                            const Request& request, Response& response,
                            Fill fill) {
    if (grpc::Status status = calls_.Begin(context); !status.ok()) {
      return status;
    }
    for (const v1::Input& input : request.inputs()) {
      auto& result = *response.add_results();
      if (Takes(input.text(), result)) fill(input, result);
    }
    return grpc::Status::OK;
  }

  int port_ = 0;
  FakeCalls calls_;
  FakeAdmin admin_{calls_};
  std::unique_ptr<grpc::Server> server_;
};

FakeService::FakeService()
    : implementation_(std::make_unique<Implementation>()) {}

FakeService::~FakeService() = default;

std::string FakeService::address() const {
  return absl::StrCat("127.0.0.1:", implementation_->port());
}

void FakeService::Fail(std::vector<FakeFailure> failures) {
  implementation_->calls().Fail(std::move(failures));
}

void FakeService::RefuseInput() { implementation_->calls().RefuseInput(); }

int FakeService::calls() const {
  return implementation_->calls().Get(&FakeCalls::calls);
}

int FakeService::most_in_flight() const {
  return implementation_->calls().Get(&FakeCalls::most_in_flight);
}

std::string FakeService::authorization() const {
  return implementation_->calls().Get(&FakeCalls::authorization);
}

std::string FakeService::request_id() const {
  return implementation_->calls().Get(&FakeCalls::request_id);
}

v1::GenerateRequest FakeService::last_generate() const {
  return implementation_->calls().Get(&FakeCalls::last_generate);
}

v1::EmbedRequest FakeService::last_embed() const {
  return implementation_->calls().Get(&FakeCalls::last_embed);
}

v1::ClassifyRequest FakeService::last_classify() const {
  return implementation_->calls().Get(&FakeCalls::last_classify);
}

v1::FillMaskRequest FakeService::last_fill_mask() const {
  return implementation_->calls().Get(&FakeCalls::last_fill_mask);
}

v1::RerankRequest FakeService::last_rerank() const {
  return implementation_->calls().Get(&FakeCalls::last_rerank);
}

}  // namespace attend
