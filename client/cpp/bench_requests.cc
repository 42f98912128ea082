#include "client/cpp/bench_requests.h"

#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/lines.h"
#include "client/cpp/utf8.h"

namespace attend {
namespace {

// Short and long, as people write.
std::vector<std::string> BuiltInSentences() {
  return {
      "Good morning.",
      "Where is the nearest train station?",
      "The meeting has been moved to Thursday afternoon.",
      "A brown dog is running along the beach with a stick in its mouth.",
      "Please send me the documents before the end of the week.",
      "Two children are sitting on a wall and eating ice cream.",
      "Although it had rained all night, the streets were already dry when we "
      "left the house in the morning.",
      "She asked whether the library would still be open on Sunday, because "
      "she had to return three books and wanted to borrow a new one for the "
      "journey.",
  };
}

absl::Status AddInput(const std::string& line, bool ids,
                      v1::GenerateRequest& request) {
  v1::Input* const input = request.add_inputs();
  if (ids) return ParseIds(line, *input->mutable_tokens());
  input->set_text(line);
  return CheckText(request);
}

}  // namespace

absl::StatusOr<std::vector<v1::GenerateRequest>> BenchRequests(
    const BenchOptions& options, const std::string& file) {
  std::vector<std::string> lines = BuiltInSentences();
  if (!file.empty()) {
    auto read = ReadLines(file);
    if (!read.ok()) return read.status();
    lines = *std::move(read);
  }
  if (lines.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": no lines"));
  }
  std::vector<v1::GenerateRequest> requests;
  for (const std::string& line : lines) {
    v1::GenerateRequest request = options.request;
    request.set_model(options.connection.model);
    const absl::Status status =
        AddInput(line, options.ids && !file.empty(), request);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ":", requests.size() + 1, ": ", status.message()));
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

std::vector<v1::GenerateRequest> WithOutputLengths(
    const std::vector<v1::GenerateRequest>& requests, OutputLengths lengths,
    uint64_t seed, int count) {
  // By hand: std::uniform_int_distribution may give other numbers with another
  // standard library. The modulus favours nothing that could be seen.
  std::mt19937_64 random(seed);
  const uint64_t span = lengths.highest - lengths.lowest + 1;
  std::vector<v1::GenerateRequest> result;
  for (int i = 0; i < count; ++i) {
    v1::GenerateRequest request = requests[i % requests.size()];
    const auto length = static_cast<int32_t>(lengths.lowest + random() % span);
    request.mutable_params()->set_min_new_tokens(length);
    request.mutable_params()->set_max_new_tokens(length);
    result.push_back(std::move(request));
  }
  return result;
}

}  // namespace attend
