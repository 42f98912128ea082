#include "server/reflection/reflect.h"

#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <cstddef>

#include "grpc/health/v1/health.pb.h"

namespace attend {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;

std::vector<std::string> ServiceNames(const Service& service) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const Method& method : service.methods) {
    add(method.descriptor->service()->full_name());
  }
  add(grpc::health::v1::HealthCheckRequest::descriptor()
          ->file()
          ->FindServiceByName("Health")
          ->full_name());
  return names;
}

absl::StatusOr<std::vector<std::string>> FilesOf(const FileDescriptor* file) {
  if (file == nullptr) return absl::NotFoundError("there is no such file");
  std::vector<const FileDescriptor*> files = {file};
  std::vector<std::string> result;
  for (size_t i = 0; i < files.size(); ++i) {
    google::protobuf::FileDescriptorProto proto;
    files[i]->CopyTo(&proto);
    result.push_back(proto.SerializeAsString());
    for (int d = 0; d < files[i]->dependency_count(); ++d) {
      const FileDescriptor* needed = files[i]->dependency(d);
      if (std::find(files.begin(), files.end(), needed) == files.end()) {
        files.push_back(needed);
      }
    }
  }
  return result;
}

absl::StatusOr<std::vector<int>> ExtensionNumbers(const std::string& message) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  const auto* type = pool.FindMessageTypeByName(message);
  if (type == nullptr) return absl::NotFoundError("there is no such message");
  std::vector<const google::protobuf::FieldDescriptor*> extensions;
  pool.FindAllExtensions(type, &extensions);
  std::vector<int> numbers;
  numbers.reserve(extensions.size());
  for (const auto* extension : extensions) {
    numbers.push_back(extension->number());
  }
  return numbers;
}

const FileDescriptor* FileOfExtension(const std::string& message, int number) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  const auto* type = pool.FindMessageTypeByName(message);
  if (type == nullptr) return nullptr;
  const auto* extension = pool.FindExtensionByNumber(type, number);
  return extension == nullptr ? nullptr : extension->file();
}

}  // namespace attend
