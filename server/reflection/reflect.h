#ifndef ATTEND_SERVER_REFLECTION_REFLECT_H_
#define ATTEND_SERVER_REFLECTION_REFLECT_H_

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/service/service.h"

namespace attend {

// The names of the services of the server, each once; the last is health.
std::vector<std::string> ServiceNames(const Service& service);

// A file and all that it needs, each a FileDescriptorProto. NOT_FOUND: `file`
// is null.
absl::StatusOr<std::vector<std::string>> FilesOf(
    const google::protobuf::FileDescriptor* file);

// NOT_FOUND: there is no such message.
absl::StatusOr<std::vector<int>> ExtensionNumbers(const std::string& message);

// The file that declares extension `number` of a message; null: there is none.
const google::protobuf::FileDescriptor* FileOfExtension(
    const std::string& message, int number);

// These three write the answer to one kind of request. `Response` is that of
// one version of grpc.reflection.
template <class Response>
void SetError(const absl::Status& status, Response& response) {
  response.mutable_error_response()->set_error_code(status.raw_code());
  response.mutable_error_response()->set_error_message(
      std::string(status.message()));
}

template <class Response>
void SetFiles(const google::protobuf::FileDescriptor* file,
              Response& response) {
  const auto files = FilesOf(file);
  if (!files.ok()) return SetError(files.status(), response);
  for (const std::string& one : *files) {
    response.mutable_file_descriptor_response()->add_file_descriptor_proto(one);
  }
}

template <class Response>
void SetNumbers(const std::string& message, Response& response) {
  const auto numbers = ExtensionNumbers(message);
  if (!numbers.ok()) return SetError(numbers.status(), response);
  auto& found = *response.mutable_all_extension_numbers_response();
  found.set_base_type_name(message);
  found.mutable_extension_number()->Add(numbers->begin(), numbers->end());
}

// Answers one request. A request for something unknown gets an error response,
// and the stream continues.
template <class Request, class Response>
absl::StatusOr<Response> Reflect(const Service& service, CallContext&,
                                 const Request& request) {
  const auto& pool = *google::protobuf::DescriptorPool::generated_pool();
  Response response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  const auto& extension = request.file_containing_extension();
  switch (request.message_request_case()) {
    case Request::kFileByFilename:
      SetFiles(pool.FindFileByName(request.file_by_filename()), response);
      break;
    case Request::kFileContainingSymbol:
      SetFiles(pool.FindFileContainingSymbol(request.file_containing_symbol()),
               response);
      break;
    case Request::kFileContainingExtension:
      SetFiles(FileOfExtension(extension.containing_type(),
                               extension.extension_number()),
               response);
      break;
    case Request::kAllExtensionNumbersOfType:
      SetNumbers(request.all_extension_numbers_of_type(), response);
      break;
    case Request::kListServices:
      for (const std::string& name : ServiceNames(service)) {
        response.mutable_list_services_response()->add_service()->set_name(
            name);
      }
      break;
    case Request::MESSAGE_REQUEST_NOT_SET:
      SetError(absl::InvalidArgumentError("message_request is not set"),
               response);
  }
  return response;
}

}  // namespace attend

#endif  // ATTEND_SERVER_REFLECTION_REFLECT_H_
