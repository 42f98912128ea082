#include "server/http_call/openapi.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/http_call/json_value.h"

namespace attend {
namespace {

// "/v1/models/*" is "/v1/models/{rest}" there.
std::string PathOf(absl::string_view path) {
  return absl::StrReplaceAll(path, {{"*", "{rest}"}});
}

// A name of its own for each route: "post_v1_chat_completions".
std::string OperationId(const HttpMethod& method) {
  return absl::StrCat(
      absl::AsciiStrToLower(method.verb),
      absl::StrReplaceAll(method.path,
                          {{"/", "_"}, {"*", "rest"}, {".", "_"}}));
}

Json BodySchema(const std::vector<FieldHelp>& fields) {
  Json properties = Json::object();
  for (const FieldHelp& field : fields) {
    Json schema = field.schema.empty()
                      ? Json::object()
                      : Json::parse(field.schema.begin(), field.schema.end());
    schema["description"] = std::string(field.help);
    properties[std::string(field.name)] = std::move(schema);
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"additionalProperties", false}};
}

Json Responses(const HttpMethod& method) {
  Json content = {{"application/json", Json::object()}};
  if (method.streams) content["text/event-stream"] = Json::object();
  return {{"200",
           {{"description", "The answer."}, {"content", std::move(content)}}},
          {"default",
           {{"description", "An error, in the form of the API."},
            {"content", {{"application/json", Json::object()}}}}}};
}

Json Operation(const HttpMethod& method) {
  Json operation = {{"operationId", OperationId(method)},
                    {"summary", std::string(method.summary)},
                    {"security", {Json::object(), {{"key", Json::array()}}}}};
  if (PathOf(method.path) != method.path) {
    operation["parameters"] = Json::array({{{"name", "rest"},
                                            {"in", "path"},
                                            {"required", true},
                                            {"schema", {{"type", "string"}}}}});
  }
  if (method.fields != nullptr) {
    operation["requestBody"] = {
        {"required", true},
        {"content",
         {{"application/json", {{"schema", BodySchema(method.fields())}}}}}};
  }
  operation["responses"] = Responses(method);
  return operation;
}

Json PlainOperation(const PlainRoute& route) {
  return {
      {"operationId",
       absl::StrCat("get",
                    absl::StrReplaceAll(route.path, {{"/", "_"}, {".", "_"}}))},
      {"summary", std::string(route.summary)},
      {"responses",
       {{"200",
         {{"description", "The answer."},
          {"content", {{std::string(route.answer_type), Json::object()}}}}}}}};
}

}  // namespace

std::string OpenApiText(absl::string_view version,
                        const std::vector<HttpApi>& apis,
                        const std::vector<PlainRoute>& plain) {
  Json paths = Json::object();
  for (const HttpApi& api : apis) {
    for (const HttpMethod& method : api.methods) {
      paths[PathOf(method.path)][absl::AsciiStrToLower(method.verb)] =
          Operation(method);
    }
  }
  for (const PlainRoute& route : plain) {
    paths[std::string(route.path)]["get"] = PlainOperation(route);
  }
  return DumpJson(Json{
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "Attend"},
        {"version", std::string(version)},
        {"license", {{"name", "Apache 2.0"}, {"identifier", "Apache-2.0"}}}}},
      {"servers", {{{"url", "/"}}}},
      {"paths", std::move(paths)},
      {"components",
       {{"securitySchemes",
         {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}}}}});
}

}  // namespace attend
