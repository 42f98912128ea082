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

// Makes the work behind one call; what it is given outlives it.
using MakeHandler = std::unique_ptr<Handler>(const Service& service,
                                             CallContext& context);

// A method that may be called: the proto file says what its messages are and
// whether it streams, and from its name follow its path, its metrics' label and
// its log lines.
struct Method {
  // Never null.
  const google::protobuf::MethodDescriptor* descriptor;
  const google::protobuf::Message* request;  // an empty one of its type
  MakeHandler* make;

  const std::string& name() const { return descriptor->name(); }
};

// A method's name, as in the proto file, and what works behind it.
struct NamedHandler {
  absl::string_view method;
  MakeHandler* make;
};

// The methods of a service that have a handler. Every name must be one of the
// service's, and its client must send one message.
std::vector<Method> BindMethods(
    const google::protobuf::ServiceDescriptor& service,
    absl::Span<const NamedHandler> handlers);

// Labels for the metrics of these methods.
std::vector<std::string> MethodNames(absl::Span<const Method> methods);

MakeHandler NewGenerateHandler;
MakeHandler NewGenerateStreamHandler;
MakeHandler NewScoreHandler;
MakeHandler NewEmbedHandler;
MakeHandler NewClassifyHandler;
MakeHandler NewFillMaskHandler;
MakeHandler NewRerankHandler;
MakeHandler NewTokenizeHandler;
MakeHandler NewDetokenizeHandler;
MakeHandler NewListModelsHandler;
MakeHandler NewGetModelHandler;

// The one list of attend.v1.Attend: a method is in the proto file, here, and
// where its handler is.
inline constexpr NamedHandler kAttendHandlers[] = {
    {"Generate", NewGenerateHandler},
    {"GenerateStream", NewGenerateStreamHandler},
    {"Score", NewScoreHandler},
    {"Embed", NewEmbedHandler},
    {"Classify", NewClassifyHandler},
    {"FillMask", NewFillMaskHandler},
    {"Rerank", NewRerankHandler},
    {"Tokenize", NewTokenizeHandler},
    {"Detokenize", NewDetokenizeHandler},
    {"ListModels", NewListModelsHandler},
    {"GetModel", NewGetModelHandler},
};
std::vector<Method> AttendMethods();

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_METHODS_H_
