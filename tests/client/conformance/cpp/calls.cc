#include "tests/client/conformance/cpp/calls.h"

#include <google/protobuf/util/json_util.h>

#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "engine/tensor/check.h"

namespace attend {
namespace {

using Json = nlohmann::json;

template <class Request>
Request RequestOf(const Json& call) {
  Request request;
  ATTEND_CHECK(google::protobuf::util::JsonStringToMessage(
                   call.value("request", Json::object()).dump(), &request)
                   .ok());
  return request;
}

absl::Status StatusOf(const v1::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.code()),
                      status.message());
}

// The results of inputs, each as `read` writes it.
template <class Response, class Read>
CallResult Each(const absl::StatusOr<Response>& response, const Read& read) {
  if (!response.ok()) return {response.status(), nullptr};
  CallResult all = {absl::OkStatus(), Json::array()};
  for (int i = 0; i < response->results_size(); ++i) {
    const auto& result = response->results(i);
    if (result.status().code() == 0) {
      all.value.push_back(read(result));
    } else if (all.status.ok()) {
      all.status = StatusOf(result.status());
      all.input = i;
    }
  }
  return all;
}

template <class Message, class Read>
CallResult Whole(const absl::StatusOr<Message>& answer, const Read& read) {
  if (!answer.ok()) return {answer.status(), nullptr};
  return {absl::OkStatus(), read(*answer)};
}

Json Texts(const v1::GenerateResult& result) {
  Json texts = Json::array();
  for (const v1::Choice& choice : result.choices()) {
    texts.push_back(choice.text());
  }
  return texts;
}

Json Rows(const v1::EmbedResult& result) {
  Json rows = Json::array();
  const int width = result.width();
  std::vector<float> numbers(result.data().size() / sizeof(float));
  std::memcpy(numbers.data(), result.data().data(), result.data().size());
  for (size_t at = 0; at + width <= numbers.size(); at += width) {
    rows.push_back(
        std::vector<float>(numbers.begin() + at, numbers.begin() + at + width));
  }
  return rows;
}

Json Labels(const v1::ClassifyResult& result) {
  Json labels = Json::array();
  for (const v1::TokenLabels& of : result.tokens()) {
    labels.push_back({of.token().piece(), of.token().begin(), of.token().end(),
                      of.labels(0).label(), of.labels(0).score()});
  }
  for (const v1::LabelScore& label : result.labels()) {
    labels.push_back({label.label(), label.score()});
  }
  return labels;
}

template <class List>
Json ListOf(const List& list) {
  return std::vector<typename List::value_type>(list.begin(), list.end());
}

std::string Name(const Json& call) { return call.at("name"); }

CallResult Embed(Client& client, const Json& call, const CallOptions& options,
                 bool per_token) {
  auto request = RequestOf<v1::EmbedRequest>(call);
  request.set_per_token(per_token);
  request.set_encoding(v1::EMBEDDING_FLOAT32);
  return Each(client.Embed(request, options),
              [&](const v1::EmbedResult& result) {
                const Json rows = Rows(result);
                return per_token ? rows : rows.at(0);
              });
}

CallResult Models(Client& client, const CallOptions& options) {
  return Whole(client.ListModels(options),
               [](const v1::ListModelsResponse& found) {
                 Json names = Json::array();
                 for (const v1::Model& model : found.models())
                   names.push_back(model.name());
                 return names;
               });
}

CallResult Alias(Client& client, const Json& call, const CallOptions& options) {
  v1::SetAliasRequest request;
  request.set_name(Name(call));
  for (const auto& [model, weight] : call.at("targets").items()) {
    v1::AliasTarget& target = *request.add_targets();
    target.set_model(model);
    target.set_weight(weight);
  }
  return Whole(client.SetAlias(request, options),
               [](const auto&) { return Json(); });
}

CallResult Profile(Client& client, const Json& call,
                   const CallOptions& options) {
  std::string trace;
  const absl::Status status = client.Profile(
      absl::Seconds(call.at("seconds").get<double>()),
      [&](absl::string_view piece) {
        trace.append(piece.data(), piece.size());
        return true;
      },
      options);
  if (!status.ok()) return {status, nullptr};
  Json keys = Json::array();
  const Json parsed = Json::parse(trace);
  for (const auto& [key, value] : parsed.items()) {
    keys.push_back(key);
  }
  return {status, keys};
}

// How many parts of a stream are read.
size_t StopAfter(const Json& call) {
  return call.value("stopAfter", std::numeric_limits<size_t>::max());
}

// What a stream has at its end, or what its reader left.
CallResult StreamResult(absl::Status status, const absl::Status& of_input,
                        const Json& call,
                        const std::vector<std::string>& parts) {
  // Who leaves a stream knows that it is cancelled.
  if (parts.size() == StopAfter(call)) status = absl::OkStatus();
  status.Update(of_input);
  return {status, parts};
}

CallResult Stream(Client& client, const Json& call, const CallOptions& options,
                  std::vector<std::string>& parts) {
  absl::Status of_input;
  const auto on_chunk = [&](const v1::GenerateChunk& chunk) {
    if (chunk.has_status()) of_input.Update(StatusOf(chunk.status()));
    if (chunk.text().empty()) return true;
    parts.push_back(chunk.text());
    if (call.contains("atFirstPart") && parts.size() == 1) {
      v1::GenerateRequest last;
      last.add_inputs()->set_text(call.at("atFirstPart"));
      client.Generate(last).status().IgnoreError();  // the server dies of it
    }
    return parts.size() != StopAfter(call);
  };
  const absl::Status status = client.GenerateStream(
      RequestOf<v1::GenerateRequest>(call), on_chunk, options);
  return StreamResult(status, of_input, call, parts);
}

CallResult TranslateStream(Client& client, const Json& call,
                           const CallOptions& options,
                           std::vector<std::string>& parts) {
  absl::Status of_document;
  const auto on_chunk = [&](const v1::TranslateChunk& chunk) {
    if (chunk.has_status()) of_document.Update(StatusOf(chunk.status()));
    if (!chunk.text().empty()) parts.push_back(chunk.text());
    return true;
  };
  const absl::Status status = client.TranslateStream(
      RequestOf<v1::TranslateRequest>(call), on_chunk, options);
  return StreamResult(status, of_document, call, parts);
}

using Method = CallResult(Client&, const Json& call, const CallOptions&);

const std::map<std::string, Method*>& Methods() {
  static const auto* const methods = new std::map<std::string, Method*>{
      {"generate",
       [](Client& client, const Json& call, const CallOptions& options) {
         return Each(
             client.Generate(RequestOf<v1::GenerateRequest>(call), options),
             Texts);
       }},
      {"translate",
       [](Client& client, const Json& call, const CallOptions& options) {
         return Each(
             client.Translate(RequestOf<v1::TranslateRequest>(call), options),
             [](const auto& result) { return Json(result.text()); });
       }},
      {"score",
       [](Client& client, const Json& call, const CallOptions& options) {
         return Each(
             client.Score(RequestOf<v1::ScoreRequest>(call), options),
             [](const auto& result) { return Json(result.log_prob()); });
       }},
      {"embed",
       [](Client& client, const Json& call, const CallOptions& options) {
         return Embed(client, call, options, false);
       }},
      {"embedTokens",
       [](Client& client, const Json& call, const CallOptions& options) {
         return Embed(client, call, options, true);
       }},
      {"classify",
       [](Client& client, const Json& call, const CallOptions& options) {
         return Each(
             client.Classify(RequestOf<v1::ClassifyRequest>(call), options),
             Labels);
       }},
      {"fillMask",
       [](Client& client, const Json& call, const CallOptions& options) {
         return Each(
             client.FillMask(RequestOf<v1::FillMaskRequest>(call), options),
             [](const auto& result) { return Json(result.text()); });
       }},
      {"rerank",
       [](Client& client, const Json& call, const CallOptions& options) {
         return Each(client.Rerank(RequestOf<v1::RerankRequest>(call), options),
                     [](const auto& result) {
                       return Json{result.index(), result.score()};
                     });
       }},
      {"tokenize",
       [](Client& client, const Json& call, const CallOptions& options) {
         return Each(
             client.Tokenize(RequestOf<v1::TokenizeRequest>(call), options),
             [](const auto& result) { return ListOf(result.ids()); });
       }},
      {"detokenize",
       [](Client& client, const Json& call, const CallOptions& options) {
         return Each(
             client.Detokenize(RequestOf<v1::DetokenizeRequest>(call), options),
             [](const auto& result) { return Json(result.text()); });
       }},
      {"models",
       [](Client& client, const Json&, const CallOptions& options) {
         return Models(client, options);
       }},
      {"model",
       [](Client& client, const Json& call, const CallOptions& options) {
         return Whole(client.GetModel(Name(call), options),
                      [](const auto& model) { return Json(model.family()); });
       }},
      {"loadModel",
       [](Client& client, const Json& call, const CallOptions& options) {
         return Whole(
             client.LoadModel(Name(call), call.at("version"), options),
             [](const auto& loaded) { return Json(loaded.model().family()); });
       }},
      {"unloadModel",
       [](Client& client, const Json& call, const CallOptions& options) {
         return Whole(client.UnloadModel(Name(call), options),
                      [](const auto&) { return Json(); });
       }},
      {"setAlias", Alias},
      {"profile", Profile},
  };
  return *methods;
}

}  // namespace

CallResult MakeCall(Client& client, const Json& call,
                    const CallOptions& options,
                    std::vector<std::string>& parts) {
  const std::string method = call.at("method");
  if (method == "stream") return Stream(client, call, options, parts);
  if (method == "translateStream") {
    return TranslateStream(client, call, options, parts);
  }
  const auto found = Methods().find(method);
  ATTEND_CHECK(found != Methods().end());
  return found->second(client, call, options);
}

}  // namespace attend
