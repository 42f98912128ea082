#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "engine/tensor/status_macros.h"
#include "server/service/handler.h"
#include "server/service/methods.h"
#include "server/service/request_fields.h"
#include "server/service/results.h"
#include "server/service/service.h"

namespace attend {
namespace {

// Limits what the answer to one call takes, which may be many times its
// request: a token and its piece take some 50 bytes until they are sent.
constexpr int64_t kMaxTokens = 1 << 20;
constexpr int64_t kMaxTextBytes = 16 << 20;

absl::StatusOr<Side> ReadSide(v1::Side side) {
  if (side == v1::SIDE_SOURCE) return Side::kSource;
  if (side == v1::SIDE_TARGET) return Side::kTarget;
  return absl::InvalidArgumentError(absl::StrFormat(
      "side is %d, must be 0 (source) or 1 (target)", static_cast<int>(side)));
}

// The first error, if all results failed with the same code; otherwise OK.
template <class Response>
absl::Status CommonError(const Response& response) {
  const v1::Status& first = response.results(0).status();
  for (const auto& result : response.results()) {
    if (result.status().code() != first.code()) return absl::OkStatus();
  }
  return absl::Status(static_cast<absl::StatusCode>(first.code()),
                      first.message());
}

// The number of tokens that the longest text of a side may have.
int MaxTokens(const ServedModel& model, Side side) {
  return side == Side::kSource ? model.info().max_source_tokens
                               : model.info().max_target_tokens;
}

// The pieces of the ids.
void AddPieces(const Tokenizer& tokenizer, Side side, v1::Tokenization& to) {
  to.mutable_pieces()->Reserve(to.ids_size());
  for (int id : to.ids()) {
    // In place: without memory for a string that it is given, protobuf 3.21
    // keeps a place that holds none, and frees what is in it.
    const absl::string_view piece = tokenizer.Piece(id, side);
    to.add_pieces()->assign(piece.data(), piece.size());
  }
}

absl::Status TokenizeText(const ServedModel& model,
                          const v1::TokenizeRequest& request, Side side,
                          int index, v1::Tokenization& to) {
  const std::string field = absl::StrCat("texts[", index, "]");
  const std::string& text = request.texts(index);
  RETURN_IF_ERROR(CheckTextBytes(field, text.size(), MaxTokens(model, side),
                                 model.tokenizer));
  const auto encoding =
      model.tokenizer.Encode({.text = text,
                              .side = side,
                              .add_special = !request.no_special_tokens()});
  if (!encoding.ok()) return Annotate(encoding.status(), field);
  to.mutable_ids()->Add(encoding->ids.begin(), encoding->ids.end());
  return absl::OkStatus();
}

absl::Status TokenizeChat(const ServedModel& model, const v1::Chat& chat,
                          const std::string& field, const CallContext& call,
                          v1::Tokenization& to) {
  ASSIGN_OR_RETURN(const std::string text,
                   RenderChat(chat, model.chat, model.info(), model.tokenizer,
                              &call, field));
  RETURN_IF_ERROR(CheckTextBytes(
      field, text.size(), MaxTokens(model, Side::kSource), model.tokenizer));
  const auto encoding =
      model.tokenizer.Encode({.text = text, .add_special = false});
  if (!encoding.ok()) return Annotate(encoding.status(), field);
  to.set_text(text);
  to.mutable_ids()->Add(encoding->ids.begin(), encoding->ids.end());
  return absl::OkStatus();
}

// The work behind a call whose inputs need a vocabulary and no engine.
template <class Request, class Response>
class VocabularyHandler : public Handler {
 public:
  VocabularyHandler(const Service& service, CallContext& context)
      : service_(service), context_(context) {}

  absl::StatusOr<int> Start(const google::protobuf::Message& message) final {
    const auto& request = static_cast<const Request&>(message);
    ASSIGN_OR_RETURN(model_, service_.Find(request.model(), context_));
    ASSIGN_OR_RETURN(side_, ReadSide(request.side()));
    response_.set_model(model_->info().name);
    ASSIGN_OR_RETURN(const int count, Prepare(request));
    RETURN_IF_ERROR(CheckTotals());
    return count;
  }

  absl::Status StartInput(const google::protobuf::Message& message,
                          int index) final {
    RETURN_IF_ERROR(context_.CheckStart());
    auto& result = *response_.add_results();
    *result.mutable_status() =
        ToProto(Fill(static_cast<const Request&>(message), index, result));
    bytes_ += static_cast<int64_t>(result.text().size());
    RETURN_IF_ERROR(CheckTotals());
    return context_.CheckStart();
  }

  void Continue(Responder& to) final {
    // The message ends here, and not when the client has read the answer.
    Response response = std::exchange(response_, {});
    const absl::Status failed = CommonError(response);
    if (failed.ok()) {
      Complete(response);
      to.Send(response);
    }
    to.Finish(failed);
  }
  bool answers_at_once() const final { return true; }

 protected:
  using Result =
      typename std::decay_t<decltype(Response().results())>::value_type;

  // The number of inputs.
  virtual absl::StatusOr<int> Prepare(const Request& request) = 0;
  // Fills the result of an input but for its status, which is returned.
  virtual absl::Status Fill(const Request& request, int index,
                            Result& result) = 0;
  // Adds what the results need not have until they are sent.
  virtual void Complete(Response&) {}

  const Service& service_;
  CallContext& context_;
  const ServedModel* model_ = nullptr;
  Side side_ = Side::kSource;
  int64_t tokens_ = 0;  // of the call, as far as they are known

 private:
  absl::Status CheckTotals() const {
    if (tokens_ > kMaxTokens) {
      return absl::InvalidArgumentError(
          absl::StrCat("the call has more than ", kMaxTokens, " tokens"));
    }
    if (bytes_ > kMaxTextBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("the answer has texts of more than ", kMaxTextBytes,
                       " bytes together"));
    }
    return absl::OkStatus();
  }

  Response response_;
  int64_t bytes_ = 0;  // of the results' texts
};

// Makes ids of texts and chats. Each text and each chat is an input.
class TokenizeHandler final
    : public VocabularyHandler<v1::TokenizeRequest, v1::TokenizeResponse> {
 public:
  using VocabularyHandler::VocabularyHandler;

 private:
  absl::StatusOr<int> Prepare(const v1::TokenizeRequest& request) override {
    texts_ = request.texts_size();
    const int count = texts_ + request.chats_size();
    RETURN_IF_ERROR(service_.CheckCount("texts and chats", count));
    if (request.chats_size() > 0) context_.UseSandbox();
    return count;
  }

  absl::Status Fill(const v1::TokenizeRequest& request, int index,
                    v1::Tokenization& result) override {
    const int chat = index - texts_;
    RETURN_IF_ERROR(chat < 0
                        ? TokenizeText(*model_, request, side_, index, result)
                        : TokenizeChat(*model_, request.chats(chat),
                                       absl::StrCat("chats[", chat, "]"),
                                       context_, result));
    tokens_ += result.ids_size();
    return absl::OkStatus();
  }

  // The pieces take some ten times the memory of the ids.
  void Complete(v1::TokenizeResponse& response) override {
    for (int i = 0; i < response.results_size(); ++i) {
      AddPieces(model_->tokenizer, i < texts_ ? side_ : Side::kSource,
                *response.mutable_results(i));
    }
  }

  int texts_ = 0;  // results before those of chats
};

// Makes texts of sequences of ids.
class DetokenizeHandler final
    : public VocabularyHandler<v1::DetokenizeRequest, v1::DetokenizeResponse> {
 public:
  using VocabularyHandler::VocabularyHandler;

 private:
  absl::StatusOr<int> Prepare(const v1::DetokenizeRequest& request) override {
    RETURN_IF_ERROR(service_.CheckCount("sequences", request.sequences_size()));
    for (const v1::Tokens& sequence : request.sequences()) {
      tokens_ += sequence.ids_size();
    }
    return request.sequences_size();
  }

  absl::Status Fill(const v1::DetokenizeRequest& request, int index,
                    v1::Detokenization& result) override {
    const std::string field = absl::StrCat("sequences[", index, "]");
    ASSIGN_OR_RETURN(const std::vector<int> ids,
                     ReadTokens(request.sequences(index),
                                model_->tokenizer.vocab_size(side_), field));
    RETURN_IF_ERROR(CheckText(ids, field));
    ASSIGN_OR_RETURN(
        *result.mutable_text(),
        model_->tokenizer.Decode(ids, side_, request.keep_special_tokens()));
    return absl::OkStatus();
  }

  // Before there is a text: few ids may be a long one. No text is longer than
  // its pieces with a space between them.
  absl::Status CheckText(const std::vector<int>& ids,
                         absl::string_view field) const {
    int64_t bytes = 0;
    for (int id : ids) {
      bytes +=
          static_cast<int64_t>(model_->tokenizer.Piece(id, side_).size() + 1);
    }
    if (bytes <= kMaxTextBytes) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(field, " may have ", bytes,
                                                   " bytes of text, limit is ",
                                                   kMaxTextBytes));
  }
};

}  // namespace

std::unique_ptr<Handler> NewTokenizeHandler(const Service& service,
                                            CallContext& context) {
  return std::make_unique<TokenizeHandler>(service, context);
}

std::unique_ptr<Handler> NewDetokenizeHandler(const Service& service,
                                              CallContext& context) {
  return std::make_unique<DetokenizeHandler>(service, context);
}

}  // namespace attend
