#include "tests/client/fake_service.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "attend/v1/attend.grpc.pb.h"

namespace attend {
namespace {

std::vector<std::string> Words(const std::string& text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()),
          std::string(status.message())};
}

void FillBad(v1::Status* status) {
  status->set_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
  status->set_message("text is bad");
}

v1::Model FakeModel() {
  v1::Model model;
  model.set_name("capitals");
  model.set_family("fake");
  model.set_dtype("f32");
  model.set_ready(true);
  model.set_max_beams(4);
  model.add_tasks(v1::TASK_GENERATE);
  model.add_tasks(v1::TASK_FILL_MASK);
  model.set_mask_token("<mask>");
  return model;
}

}  // namespace

class FakeService::Implementation final : public v1::Attend::Service {
 public:
  Implementation() {
    grpc::ServerBuilder builder;
    // A number, not a name: Debian 12's c-ares leaks a few bytes a look-up,
    // which the leak checker would report.
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  ~Implementation() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    stop_.notify_all();
    server_->Shutdown(std::chrono::system_clock::now());
  }

  grpc::Status Generate(grpc::ServerContext* context,
                        const v1::GenerateRequest* request,
                        v1::GenerateResponse* response) override {
    const InFlight in_flight(*this);
    Record(*request, last_generate_);
    if (grpc::Status status = Begin(*context); !status.ok()) return status;
    for (const v1::Input& input : request->inputs()) {
      if (absl::StartsWith(input.text(), "hang")) return Hang(*context);
      v1::GenerateResult* const result = response->add_results();
      result->mutable_status();
      if (absl::StartsWith(input.text(), "bad")) {
        FillBad(result->mutable_status());
        continue;
      }
      FillResult(input.text(), request->params(), result);
    }
    return grpc::Status::OK;
  }

  grpc::Status GenerateStream(
      grpc::ServerContext* context, const v1::GenerateRequest* request,
      grpc::ServerWriter<v1::GenerateChunk>* writer) override {
    const InFlight in_flight(*this);
    Record(*request, last_generate_);
    if (grpc::Status status = Begin(*context); !status.ok()) return status;
    for (int i = 0; i < request->inputs_size(); ++i) {
      const std::string& text = request->inputs(i).text();
      if (absl::StartsWith(text, "hang")) return Hang(*context);
      const bool bad = absl::StartsWith(text, "bad");
      const std::vector<std::string> words = Words(bad ? "" : text);
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
      v1::GenerateChunk last;
      last.set_input(i);
      last.set_finish_reason(v1::FINISH_REASON_EOS);
      last.mutable_status();
      if (bad) FillBad(last.mutable_status());
      last.mutable_usage()->set_generated_tokens(
          static_cast<int>(words.size()));
      writer->Write(last);
    }
    return grpc::Status::OK;
  }

  grpc::Status Score(grpc::ServerContext* context,
                     const v1::ScoreRequest* request,
                     v1::ScoreResponse* response) override {
    if (grpc::Status status = Begin(*context); !status.ok()) return status;
    for (const v1::ScorePair& pair : request->pairs()) {
      v1::ScoreResult* const result = response->add_results();
      for (const std::string& word : Words(pair.target().text())) {
        v1::TokenLogProb* const token = result->add_tokens()->mutable_token();
        token->set_piece(word);
        token->set_log_prob(-1);
        result->set_log_prob(result->log_prob() - 1);
      }
    }
    return grpc::Status::OK;
  }

  grpc::Status Embed(grpc::ServerContext* context,
                     const v1::EmbedRequest* request,
                     v1::EmbedResponse* response) override {
    if (grpc::Status status = Begin(*context); !status.ok()) return status;
    Record(*request, last_embed_);
    for (const v1::Input& input : request->inputs()) {
      v1::EmbedResult* const result = response->add_results();
      if (Refused(input.text(), *result)) continue;
      result->mutable_usage()->set_source_tokens(2);
      for (const std::string& word : Words(input.text())) {
        result->add_values(static_cast<float>(word.size()) + 0.5f);
        if (request->per_token()) result->add_tokens()->set_piece(word);
      }
      result->set_width(request->per_token() ? 1 : result->values_size());
    }
    return grpc::Status::OK;
  }

  grpc::Status Classify(grpc::ServerContext* context,
                        const v1::ClassifyRequest* request,
                        v1::ClassifyResponse* response) override {
    if (grpc::Status status = Begin(*context); !status.ok()) return status;
    Record(*request, last_classify_);
    for (const v1::Input& input : request->inputs()) {
      v1::ClassifyResult* const result = response->add_results();
      if (Refused(input.text(), *result)) continue;
      if (!absl::StartsWith(input.text(), "tag")) {
        AddLabels(input.has_pair() ? input.pair() : input.text(),
                  result->mutable_labels());
        continue;
      }
      for (const std::string& word : Words(input.text())) {
        v1::TokenLabels* const token = result->add_tokens();
        token->mutable_token()->set_piece(word);
        AddLabels(word, token->mutable_labels());
      }
    }
    return grpc::Status::OK;
  }

  grpc::Status FillMask(grpc::ServerContext* context,
                        const v1::FillMaskRequest* request,
                        v1::FillMaskResponse* response) override {
    if (grpc::Status status = Begin(*context); !status.ok()) return status;
    Record(*request, last_fill_mask_);
    for (const v1::Input& input : request->inputs()) {
      v1::FillMaskResult* const result = response->add_results();
      if (Refused(input.text(), *result)) continue;
      v1::FilledMask* const mask = result->add_masks();
      for (const char* word : {"yes", "no"}) {
        v1::MaskCandidate* const candidate = mask->add_candidates();
        candidate->mutable_token()->set_piece(word);
        candidate->set_text(
            absl::StrReplaceAll(input.text(), {{"<mask>", word}}));
      }
      result->set_text(mask->candidates(0).text());
    }
    return grpc::Status::OK;
  }

  grpc::Status Rerank(grpc::ServerContext* context,
                      const v1::RerankRequest* request,
                      v1::RerankResponse* response) override {
    if (grpc::Status status = Begin(*context); !status.ok()) return status;
    Record(*request, last_rerank_);
    // Not in the order of the request, as a server's.
    for (int i = request->documents_size() - 1; i >= 0; --i) {
      v1::RerankResult* const result = response->add_results();
      result->set_index(i);
      if (Refused(request->documents(i), *result)) continue;
      result->set_score(static_cast<float>(request->documents(i).size()));
    }
    return grpc::Status::OK;
  }

  grpc::Status Tokenize(grpc::ServerContext* context,
                        const v1::TokenizeRequest* request,
                        v1::TokenizeResponse* response) override {
    if (grpc::Status status = Begin(*context); !status.ok()) return status;
    for (const std::string& text : request->texts()) {
      v1::Tokenization* const result = response->add_results();
      for (const std::string& word : Words(text)) {
        result->add_ids(static_cast<int>(word.size()));
        result->add_pieces(word);
      }
    }
    return grpc::Status::OK;
  }

  grpc::Status Detokenize(grpc::ServerContext* context,
                          const v1::DetokenizeRequest* request,
                          v1::DetokenizeResponse* response) override {
    if (grpc::Status status = Begin(*context); !status.ok()) return status;
    for (const v1::Tokens& tokens : request->sequences()) {
      response->add_results()->set_text(
          absl::StrCat("ids ", absl::StrJoin(tokens.ids(), "+")));
    }
    return grpc::Status::OK;
  }

  grpc::Status ListModels(grpc::ServerContext* context,
                          const v1::ListModelsRequest*,
                          v1::ListModelsResponse* response) override {
    if (grpc::Status status = Begin(*context); !status.ok()) return status;
    *response->add_models() = FakeModel();
    return grpc::Status::OK;
  }

  grpc::Status GetModel(grpc::ServerContext* context,
                        const v1::GetModelRequest* request,
                        v1::Model* response) override {
    if (grpc::Status status = Begin(*context); !status.ok()) return status;
    if (!request->name().empty() && request->name() != "capitals") {
      return {grpc::StatusCode::NOT_FOUND,
              absl::StrCat("model \"", request->name(), "\" is not served")};
    }
    *response = FakeModel();
    return grpc::Status::OK;
  }

  int port_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable stop_;
  std::deque<FakeFailure> failures_;  // this and below: guarded by mutex_
  bool stopping_ = false;
  int calls_ = 0;
  int in_flight_ = 0;
  int most_in_flight_ = 0;
  std::string request_id_;
  v1::GenerateRequest last_generate_;
  v1::EmbedRequest last_embed_;
  v1::ClassifyRequest last_classify_;
  v1::FillMaskRequest last_fill_mask_;
  v1::RerankRequest last_rerank_;
  bool refuse_input_ = false;

 private:
  class InFlight {
   public:
    explicit InFlight(Implementation& service) : service_(service) {
      const std::lock_guard<std::mutex> lock(service_.mutex_);
      service_.most_in_flight_ =
          std::max(service_.most_in_flight_, ++service_.in_flight_);
    }
    ~InFlight() {
      const std::lock_guard<std::mutex> lock(service_.mutex_);
      --service_.in_flight_;
    }

   private:
    Implementation& service_;
  };

  template <class Request>
  void Record(const Request& request, Request& last) {
    const std::lock_guard<std::mutex> lock(mutex_);
    last = request;
  }

  // Gives the result its status.
  template <class Result>
  bool Refused(const std::string& text, Result& result) {
    const std::lock_guard<std::mutex> lock(mutex_);
    v1::Status& status = *result.mutable_status();
    if (absl::StartsWith(text, "bad")) {
      FillBad(&status);
    } else if (std::exchange(refuse_input_, false)) {
      status.set_code(static_cast<int>(absl::StatusCode::kResourceExhausted));
    }
    return status.code() != 0;
  }

  static void AddLabels(
      const std::string& text,
      google::protobuf::RepeatedPtrField<v1::LabelScore>* labels) {
    const bool is_long = text.size() > 3;
    for (const bool first : {true, false}) {
      v1::LabelScore* const label = labels->Add();
      label->set_label(is_long == first ? "LONG" : "SHORT");
      label->set_score(first ? 0.75f : 0.25f);
    }
  }

  // Counts the call; its failure, if one is due.
  grpc::Status Begin(grpc::ServerContext& context) {
    FakeFailure failure;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++calls_;
      const auto id = context.client_metadata().find("x-request-id");
      request_id_ = id == context.client_metadata().end()
                        ? ""
                        : std::string(id->second.data(), id->second.size());
      if (failures_.empty()) return grpc::Status::OK;
      failure = failures_.front();
      failures_.pop_front();
    }
    if (failure.headers_first) {
      context.AddInitialMetadata("x-request-id", "made here");
    }
    if (failure.pushback_ms.has_value()) {
      context.AddTrailingMetadata("grpc-retry-pushback-ms",
                                  *failure.pushback_ms);
    }
    return ToGrpc(failure.status);
  }

  grpc::Status Hang(const grpc::ServerContext& context) {
    std::unique_lock<std::mutex> lock(mutex_);
    stop_.wait_until(lock, context.deadline(), [this] { return stopping_; });
    return {grpc::StatusCode::DEADLINE_EXCEEDED, "hung"};
  }

  static void FillResult(const std::string& text,
                         const v1::GenerationParams& params,
                         v1::GenerateResult* result) {
    const std::vector<std::string> words = Words(absl::AsciiStrToUpper(text));
    for (int i = 0; i < std::max(1, params.num_return_sequences()); ++i) {
      v1::Choice* const choice = result->add_choices();
      choice->set_text(absl::StrJoin(words, " "));
      choice->set_score(static_cast<float>(-i));
      choice->set_finish_reason(v1::FINISH_REASON_EOS);
      for (const std::string& word : words) {
        choice->add_ids(static_cast<int>(word.size()));
        if (!params.log_probs()) continue;
        v1::TokenLogProb* const token =
            choice->add_log_probs()->mutable_token();
        token->set_piece(word);
        token->set_log_prob(-0.5f);
      }
    }
    result->mutable_usage()->set_generated_tokens(
        static_cast<int>(words.size()));
  }

  std::unique_ptr<grpc::Server> server_;
};

FakeService::FakeService()
    : implementation_(std::make_unique<Implementation>()) {}

FakeService::~FakeService() = default;

std::string FakeService::address() const {
  return absl::StrCat("127.0.0.1:", implementation_->port_);
}

void FakeService::Fail(std::vector<FakeFailure> failures) {
  const std::lock_guard<std::mutex> lock(implementation_->mutex_);
  implementation_->failures_.assign(failures.begin(), failures.end());
}

int FakeService::calls() const {
  const std::lock_guard<std::mutex> lock(implementation_->mutex_);
  return implementation_->calls_;
}

int FakeService::most_in_flight() const {
  const std::lock_guard<std::mutex> lock(implementation_->mutex_);
  return implementation_->most_in_flight_;
}

std::string FakeService::request_id() const {
  const std::lock_guard<std::mutex> lock(implementation_->mutex_);
  return implementation_->request_id_;
}

v1::GenerateRequest FakeService::last_generate() const {
  const std::lock_guard<std::mutex> lock(implementation_->mutex_);
  return implementation_->last_generate_;
}

v1::EmbedRequest FakeService::last_embed() const {
  const std::lock_guard<std::mutex> lock(implementation_->mutex_);
  return implementation_->last_embed_;
}

v1::ClassifyRequest FakeService::last_classify() const {
  const std::lock_guard<std::mutex> lock(implementation_->mutex_);
  return implementation_->last_classify_;
}

v1::FillMaskRequest FakeService::last_fill_mask() const {
  const std::lock_guard<std::mutex> lock(implementation_->mutex_);
  return implementation_->last_fill_mask_;
}

v1::RerankRequest FakeService::last_rerank() const {
  const std::lock_guard<std::mutex> lock(implementation_->mutex_);
  return implementation_->last_rerank_;
}

void FakeService::RefuseInput() {
  const std::lock_guard<std::mutex> lock(implementation_->mutex_);
  implementation_->refuse_input_ = true;
}

}  // namespace attend
