// The body of a call by the Connect protocol: the first byte says which method,
// from 'a' on; the rest is JSON, or an envelope with JSON.
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/strip.h"
#include "server/connect/envelope.h"
#include "server/connect/json_message.h"
#include "server/service/methods.h"
#include "tests/fuzz/fuzz.h"

namespace attend {
namespace {

using google::protobuf::Message;

std::vector<Method> Methods() {
  std::vector<Method> methods = AttendMethods();
  for (const Method& method : AdminMethods()) methods.push_back(method);
  return methods;
}

// What is read is what protobuf's own reader reads, which takes more, but for
// the mark of a byte order, which RFC 8259 lets a reader ignore.
void CheckSame(absl::string_view json, const Message& read) {
  absl::ConsumePrefix(&json, "\xef\xbb\xbf");
  const std::unique_ptr<Message> same(read.New());
  ATTEND_CHECK(
      google::protobuf::util::JsonStringToMessage(std::string(json), same.get())
          .ok());
  // By way of bytes: NaN is not equal to itself.
  ATTEND_CHECK(same->DebugString() == read.DebugString());
}

void Run(const Method& method, absl::string_view body) {
  if (const auto payload = OpenEnvelope(body); payload.ok()) body = *payload;
  const std::unique_ptr<Message> message(method.request->New());
  const absl::Status status = ParseJsonMessage(body, *message);
  if (!status.ok()) {
    ATTEND_CHECK(absl::IsInvalidArgument(status));
    ATTEND_CHECK(status.message().size() < 1000);
    return;
  }
  ++accepted_inputs;
  CheckSame(body, *message);
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const std::vector<Method> methods = Methods();
  [[maybe_unused]] static auto* const log =
      google::protobuf::SetLogHandler(nullptr);
  if (size == 0 || data[0] < 'a') return 0;
  const size_t index = data[0] - 'a';
  if (index < methods.size()) Run(methods[index], View(data + 1, size - 1));
  return 0;
}
