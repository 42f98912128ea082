#include "server/service/methods.h"

#include "attend/v1/attend.pb.h"
#include "engine/tensor/check.h"

namespace attend {

std::vector<Method> BindMethods(
    const google::protobuf::ServiceDescriptor& service,
    absl::Span<const NamedHandler> handlers) {
  std::vector<Method> methods;
  for (const auto& [name, make, error_key] : handlers) {
    const auto* descriptor = service.FindMethodByName(std::string(name));
    ATTEND_CHECK(descriptor != nullptr);
    const auto* request =
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(
            descriptor->input_type());
    methods.push_back({.descriptor = descriptor,
                       .request = request,
                       .make = make,
                       .error_key = error_key});
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

std::vector<Method> AdminMethods() {
  return BindMethods(
      *v1::Model::descriptor()->file()->FindServiceByName("Admin"),
      kAdminHandlers);
}

}  // namespace attend
