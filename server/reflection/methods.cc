#include "server/reflection/methods.h"

#include "grpc/reflection/v1/reflection.pb.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"
#include "server/reflection/reflect.h"
#include "server/service/immediate_handler.h"

namespace attend {
namespace {

template <class Request, class Response>
std::unique_ptr<Handler> NewReflectionHandler(const Service& service,
                                              CallContext& context) {
  return NewImmediateHandler(service, context, Reflect<Request, Response>);
}

template <class Request, class Response>
void AddMethods(std::vector<Method>& methods) {
  const NamedHandler handlers[] = {
      {"ServerReflectionInfo", NewReflectionHandler<Request, Response>}};
  const auto* service =
      Request::descriptor()->file()->FindServiceByName("ServerReflection");
  for (const Method& method : BindMethods(*service, handlers)) {
    methods.push_back(method);
  }
}

}  // namespace

std::vector<Method> ReflectionMethods() {
  namespace v1 = grpc::reflection::v1;
  namespace v1alpha = grpc::reflection::v1alpha;
  std::vector<Method> methods;
  AddMethods<v1::ServerReflectionRequest, v1::ServerReflectionResponse>(
      methods);
  AddMethods<v1alpha::ServerReflectionRequest,
             v1alpha::ServerReflectionResponse>(methods);
  return methods;
}

}  // namespace attend
