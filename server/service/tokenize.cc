#include <memory>
#include <string>
#include <vector>

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

// The one error of all results, if they all failed with one code.
template <class Response>
absl::Status CommonError(const Response& response) {
  const v1::Status& first = response.results(0).status();
  for (const auto& result : response.results()) {
    if (result.status().code() != first.code()) return absl::OkStatus();
  }
  return absl::Status(static_cast<absl::StatusCode>(first.code()),
                      first.message());
}

void FillTokens(const std::vector<int>& ids, const Tokenizer& tokenizer,
                Side side, v1::Tokenization& to) {
  for (int id : ids) {
    to.add_ids(id);
    to.add_pieces(std::string(tokenizer.Piece(id, side)));
  }
}

absl::Status TokenizeChat(const ServedModel& model, const v1::Chat& chat,
                          const std::string& field, v1::Tokenization& to) {
  ASSIGN_OR_RETURN(const std::string text,
                   RenderChat(chat, model.chat, model.info(), field));
  const auto encoding =
      model.tokenizer.Encode({.text = text, .add_special = false});
  if (!encoding.ok()) return Annotate(encoding.status(), field);
  to.set_text(text);
  FillTokens(encoding->ids, model.tokenizer, Side::kSource, to);
  return absl::OkStatus();
}

absl::StatusOr<v1::TokenizeResponse> Tokenize(
    const Service& service, CallContext& context,
    const v1::TokenizeRequest& request) {
  ASSIGN_OR_RETURN(const ServedModel* model,
                   service.Find(request.model(), context));
  RETURN_IF_ERROR(service.CheckCount(
      "texts and chats", request.texts_size() + request.chats_size()));
  ASSIGN_OR_RETURN(const Side side, ReadSide(request.side()));
  v1::TokenizeResponse response;
  response.set_model(model->info().name);
  for (int i = 0; i < request.texts_size(); ++i) {
    v1::Tokenization& result = *response.add_results();
    const auto encoding =
        model->tokenizer.Encode({.text = request.texts(i),
                                 .side = side,
                                 .add_special = !request.no_special_tokens()});
    *result.mutable_status() =
        ToProto(Annotate(encoding.status(), absl::StrFormat("texts[%d]", i)));
    if (!encoding.ok()) continue;
    FillTokens(encoding->ids, model->tokenizer, side, result);
  }
  for (int i = 0; i < request.chats_size(); ++i) {
    v1::Tokenization& result = *response.add_results();
    *result.mutable_status() = ToProto(TokenizeChat(
        *model, request.chats(i), absl::StrFormat("chats[%d]", i), result));
  }
  RETURN_IF_ERROR(CommonError(response));
  return response;
}

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
                              absl::StrFormat("sequences[%d]", i));
    *result.mutable_status() = ToProto(text.status());
    if (text.ok()) result.set_text(*std::move(text));
  }
  RETURN_IF_ERROR(CommonError(response));
  return response;
}

}  // namespace

std::unique_ptr<Handler> NewTokenizeHandler(const Service& service,
                                            CallContext& context) {
  return NewImmediateHandler(service, context, Tokenize);
}

std::unique_ptr<Handler> NewDetokenizeHandler(const Service& service,
                                              CallContext& context) {
  return NewImmediateHandler(service, context, Detokenize);
}

}  // namespace attend
