// GET /v1/models and /v1/models/MODEL.

#include <algorithm>
#include <map>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "attend/v1/attend.pb.h"
#include "engine/tensor/status_macros.h"
#include "server/http/url_decode.h"
#include "server/http_call/http_status.h"
#include "server/http_call/json_value.h"
#include "server/openai/openai_api.h"
#include "server/service/methods.h"

namespace attend {
namespace {

Json ToJson(const v1::Model& model) {
  // Models are loaded at the start, and clients ask soon after.
  static const int64_t created = absl::ToUnixSeconds(absl::Now());
  return {{"id", model.name()},
          {"object", "model"},
          {"created", created},
          {"owned_by", "attend"},
          {"max_model_len",
           std::max(model.max_source_tokens(), model.max_target_tokens())}};
}

// Those that take requests.
class ModelListTranslator final : public HttpTranslator {
 public:
  absl::StatusOr<HandledRequest> Read(const HttpCallInput&, const Service&,
                                      CallContext&) override {
    return HandledRequest{NewListModelsHandler,
                          std::make_unique<v1::ListModelsRequest>()};
  }
  absl::Status Append(const google::protobuf::Message& answer,
                      std::string& text) override {
    Json models = Json::array();
    const auto& list = static_cast<const v1::ListModelsResponse&>(answer);
    std::map<absl::string_view, const v1::Model*> ready;
    for (const v1::Model& model : list.models()) {
      if (!model.ready()) continue;
      ready[model.name()] = &model;
      models.push_back(ToJson(model));
    }
    // Each alias as the first of its targets is.
    for (const v1::Alias& alias : list.aliases()) {
      if (ready.count(alias.name()) > 0) continue;
      for (const v1::AliasTarget& target : alias.targets()) {
        const auto found = ready.find(target.model());
        if (found == ready.end()) continue;
        models.push_back(ToJson(*found->second));
        models.back()["id"] = alias.name();
        break;
      }
    }
    text += DumpJson(Json{{"object", "list"}, {"data", std::move(models)}});
    return absl::OkStatus();
  }
};

class ModelTranslator final : public HttpTranslator {
 public:
  absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                      const Service&, CallContext&) override {
    auto request = std::make_unique<v1::GetModelRequest>();
    ASSIGN_OR_RETURN(*request->mutable_name(),
                     DecodeUrl(input.path_rest, UrlPart::kPath));
    return HandledRequest{NewGetModelHandler, std::move(request)};
  }
  absl::Status Append(const google::protobuf::Message& answer,
                      std::string& text) override {
    const auto& model = static_cast<const v1::Model&>(answer);
    if (!model.ready()) return absl::UnavailableError(model.error());
    text += DumpJson(ToJson(model));
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<HttpTranslator> NewModelListTranslator() {
  return std::make_unique<ModelListTranslator>();
}

std::unique_ptr<HttpTranslator> NewModelTranslator() {
  return std::make_unique<ModelTranslator>();
}

}  // namespace attend
