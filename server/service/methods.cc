#include "server/service/methods.h"

#include "attend/v1/attend.pb.h"
#include "engine/tensor/check.h"

namespace attend {

std::vector<Method> BindMethods(
    const google::protobuf::ServiceDescriptor& service,
    absl::Span<const NamedHandler> handlers) {
  std::vector<Method> methods;
  for (const auto& [name, make] : handlers) {
    const auto* descriptor = service.FindMethodByName(std::string(name));
    ATTEND_CHECK(descriptor != nullptr && !descriptor->client_streaming());
    const auto* request =
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(
            descriptor->input_type());
    methods.push_back({descriptor, request, make});
  }
  return methods;
}

std::vector<std::string> MethodNames(absl::Span<const Method> methods) {
  std::vector<std::string> names;
  for (const Method& method : methods) names.push_back(method.name());
  return names;
}

std::vector<Method> AttendMethods() {
  return BindMethods(
      *v1::Model::descriptor()->file()->FindServiceByName("Attend"),
      kAttendHandlers);
}

}  // namespace attend
