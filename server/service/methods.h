#ifndef ATTEND_SERVER_SERVICE_METHODS_H_
#define ATTEND_SERVER_SERVICE_METHODS_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/service/handler.h"

namespace attend {

class CallContext;
struct Service;

// Makes the handler of one call. `service` and `context` must outlive the
// handler.
using MakeHandler = std::unique_ptr<Handler>(const Service& service,
                                             CallContext& context);

// A method that clients may call. The proto file defines the messages of the
// method and says whether the method streams. The path of the method, and its
// name in metrics and log lines, follow from the name in the proto file.
struct Method {
  // Null: the method is of no proto file.
  const google::protobuf::MethodDescriptor* descriptor;
  const google::protobuf::Message* request;  // empty, of the method's type
  MakeHandler* make;       // null: the protocol makes the handlers itself
  std::string label = "";  // the name of a method of no proto file
  // Of a method whose client streams requests: a client that sends this
  // metadata with the value "true" wants the first failure of a request to end
  // the call with its status. Empty: no client does.
  absl::string_view error_key = {};

  const std::string& name() const {
    return descriptor == nullptr ? label : descriptor->name();
  }
  // The client sends a stream of requests, and each is served on its own.
  bool streams_requests() const {
    return descriptor != nullptr && descriptor->client_streaming();
  }
};

// The name of a method in the proto file, and the function that makes the
// handler of a call.
struct NamedHandler {
  absl::string_view method;
  MakeHandler* make;
  absl::string_view error_key = {};  // see Method
};

// The methods of `service` that are listed in `handlers`. Each listed method
// must exist in the proto file. Where a method takes a stream of messages, each
// message is a request that is served on its own.
std::vector<Method> BindMethods(
    const google::protobuf::ServiceDescriptor& service,
    absl::Span<const NamedHandler> handlers);

// The names of these methods: labels of their metrics.
std::vector<std::string> MethodNames(absl::Span<const Method> methods);

MakeHandler NewGenerateHandler;
MakeHandler NewGenerateStreamHandler;
MakeHandler NewTranslateHandler;
MakeHandler NewTranslateStreamHandler;
MakeHandler NewScoreHandler;
MakeHandler NewEmbedHandler;
MakeHandler NewClassifyHandler;
MakeHandler NewFillMaskHandler;
MakeHandler NewAnswerHandler;
MakeHandler NewRerankHandler;
MakeHandler NewTokenizeHandler;
MakeHandler NewDetokenizeHandler;
MakeHandler NewListModelsHandler;
MakeHandler NewGetModelHandler;

// The methods of attend.v1.Attend. Beside the proto file this is the only list
// of them.
inline constexpr NamedHandler kAttendHandlers[] = {
    {"Generate", NewGenerateHandler},
    {"GenerateStream", NewGenerateStreamHandler},
    {"Score", NewScoreHandler},
    {"Embed", NewEmbedHandler},
    {"Classify", NewClassifyHandler},
    {"FillMask", NewFillMaskHandler},
    {"Answer", NewAnswerHandler},
    {"Rerank", NewRerankHandler},
    {"Tokenize", NewTokenizeHandler},
    {"Detokenize", NewDetokenizeHandler},
    {"ListModels", NewListModelsHandler},
    {"GetModel", NewGetModelHandler},
    {"Translate", NewTranslateHandler},
    {"TranslateStream", NewTranslateStreamHandler},
};
// All methods of attend.v1.Attend.
std::vector<Method> AttendMethods();

MakeHandler NewLoadModelHandler;
MakeHandler NewUnloadModelHandler;
MakeHandler NewSetAliasHandler;
MakeHandler NewProfileHandler;

// The methods of attend.v1.Admin.
inline constexpr NamedHandler kAdminHandlers[] = {
    {"LoadModel", NewLoadModelHandler},
    {"UnloadModel", NewUnloadModelHandler},
    {"SetAlias", NewSetAliasHandler},
    {"Profile", NewProfileHandler},
};
std::vector<Method> AdminMethods();

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_METHODS_H_
