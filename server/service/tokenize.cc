#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "server/service/immediate_handler.h"
#include "server/service/methods.h"
#include "server/service/request_fields.h"
#include "server/service/results.h"

namespace attend {
namespace {

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

void FillTokens(const std::vector<int>& ids, const Tokenizer& tokenizer,
                Side side, v1::Tokenization& to) {
  for (int id : ids) {
    to.add_ids(id);
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
  FillTokens(encoding->ids, model.tokenizer, side, to);
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
  FillTokens(encoding->ids, model.tokenizer, Side::kSource, to);
  return absl::OkStatus();
}

// Makes ids of texts and chats. Each text and each chat is an input.
class TokenizeHandler final : public Handler {
 public:
  TokenizeHandler(const Service& service, CallContext& context)
      : service_(service), context_(context) {}

  absl::StatusOr<int> Start(const google::protobuf::Message& message) override {
    const auto& request = static_cast<const v1::TokenizeRequest&>(message);
    ASSIGN_OR_RETURN(model_, service_.Find(request.model(), context_));
    const int count = request.texts_size() + request.chats_size();
    RETURN_IF_ERROR(service_.CheckCount("texts and chats", count));
    ASSIGN_OR_RETURN(side_, ReadSide(request.side()));
    if (request.chats_size() > 0) context_.UseSandbox();
    response_.set_model(model_->info().name);
    return count;
  }

  absl::Status StartInput(const google::protobuf::Message& message,
                          int index) override {
    const auto& request = static_cast<const v1::TokenizeRequest&>(message);
    RETURN_IF_ERROR(context_.CheckAwaited());
    v1::Tokenization& result = *response_.add_results();
    const int chat = index - request.texts_size();
    *result.mutable_status() =
        ToProto(chat < 0 ? TokenizeText(*model_, request, side_, index, result)
                         : TokenizeChat(*model_, request.chats(chat),
                                        absl::StrCat("chats[", chat, "]"),
                                        context_, result));
    return context_.CheckAwaited();
  }

  void Continue(Responder& to) override {
    const absl::Status failed = CommonError(response_);
    if (failed.ok()) to.Send(response_);
    to.Finish(failed);
  }

 private:
  const Service& service_;
  CallContext& context_;
  const ServedModel* model_ = nullptr;
  Side side_ = Side::kSource;
  v1::TokenizeResponse response_;
};

absl::StatusOr<std::string> DetokenizeOne(const Tokenizer& tokenizer,
                                          const v1::Tokens& tokens, Side side,
                                          bool keep_special,
                                          const std::string& field) {
  ASSIGN_OR_RETURN(const std::vector<int> ids,
                   ReadTokens(tokens, tokenizer.vocab_size(side), field));
  return tokenizer.Decode(ids, side, keep_special);
}

absl::StatusOr<v1::DetokenizeResponse> Detokenize(
    const Service& service, CallContext& context,
    const v1::DetokenizeRequest& request) {
  ASSIGN_OR_RETURN(const ServedModel* model,
                   service.Find(request.model(), context));
  RETURN_IF_ERROR(service.CheckCount("sequences", request.sequences_size()));
  ASSIGN_OR_RETURN(const Side side, ReadSide(request.side()));
  v1::DetokenizeResponse response;
  response.set_model(model->info().name);
  for (int i = 0; i < request.sequences_size(); ++i) {
    v1::Detokenization& result = *response.add_results();
    auto text = DetokenizeOne(model->tokenizer, request.sequences(i), side,
                              request.keep_special_tokens(),
                              absl::StrCat("sequences[", i, "]"));
    *result.mutable_status() = ToProto(text.status());
    if (text.ok()) result.set_text(*std::move(text));
  }
  RETURN_IF_ERROR(CommonError(response));
  return response;
}

}  // namespace

std::unique_ptr<Handler> NewTokenizeHandler(const Service& service,
                                            CallContext& context) {
  return std::make_unique<TokenizeHandler>(service, context);
}

std::unique_ptr<Handler> NewDetokenizeHandler(const Service& service,
                                              CallContext& context) {
  return NewImmediateHandler(service, context, Detokenize);
}

}  // namespace attend
