#include "client/cpp/cli/bench_requests.h"

#include <random>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/cpp/cli/command_inputs.h"
#include "client/cpp/lib/utf8.h"

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

absl::StatusOr<std::vector<std::string>> Lines(const std::string& file) {
  if (file.empty()) return BuiltInSentences();
  auto lines = ReadLines(file);
  if (lines.ok() && lines->empty()) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": no lines"));
  }
  return lines;
}

// What a request of the options' task has beside its inputs.
LoadRequest Blank(const BenchOptions& options, const std::string& query) {
  switch (options.task) {
    case BenchTask::kGenerate:
      return options.request;
    case BenchTask::kEmbed:
      return v1::EmbedRequest();
    case BenchTask::kClassify:
      return v1::ClassifyRequest();
    case BenchTask::kFillMask:
      return v1::FillMaskRequest();
    case BenchTask::kRerank: {
      v1::RerankRequest request;
      request.set_query(query);
      return request;
    }
  }
  return options.request;
}

// Adds a line to a request, whatever it is of.
class LineAdder {
 public:
  LineAdder(const std::string& line, bool ids, const std::string& mask)
      : line_(line), ids_(ids), mask_(mask) {}

  template <class Request>
  absl::Status operator()(Request& request) const {
    v1::Input* const input = request.add_inputs();
    if (ids_) return ParseIds(line_, *input->mutable_tokens());
    input->set_text(line_);
    return absl::OkStatus();
  }
  absl::Status operator()(v1::FillMaskRequest& request) const {
    v1::Input* const input = request.add_inputs();
    if (ids_) return ParseIds(line_, *input->mutable_tokens());
    const bool masked = line_.find(mask_) != std::string::npos;
    input->set_text(masked ? line_ : absl::StrCat(line_, " ", mask_));
    return absl::OkStatus();
  }
  absl::Status operator()(v1::RerankRequest& request) const {
    if (ids_) return absl::InvalidArgumentError("documents are no ids");
    request.add_documents(line_);
    return absl::OkStatus();
  }

 private:
  const std::string& line_;
  const bool ids_;
  const std::string& mask_;
};

}  // namespace

absl::StatusOr<std::vector<LoadRequest>> BenchRequests(
    const BenchOptions& options, const std::string& file,
    const std::string& mask) {
  const auto lines = Lines(file);
  if (!lines.ok()) return lines.status();
  std::vector<LoadRequest> requests;
  for (size_t begin = 0; begin < lines->size(); begin += options.batch) {
    LoadRequest request = Blank(options, lines->front());
    for (int i = 0; i < options.batch; ++i) {
      const size_t at = (begin + i) % lines->size();
      const std::string& line = (*lines)[at];
      const LineAdder add(line, options.ids && !file.empty(), mask);
      const absl::Status status =
          IsUtf8(line) ? std::visit(add, request)
                       : absl::InvalidArgumentError("not valid UTF-8");
      if (!status.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat(file, ":", at + 1, ": ", status.message()));
      }
    }
    std::visit([&](auto& any) { any.set_model(options.connection.model); },
               request);
    requests.push_back(std::move(request));
  }
  return requests;
}

std::vector<LoadRequest> WithOutputLengths(
    const std::vector<LoadRequest>& requests, OutputLengths lengths,
    uint64_t seed, int count) {
  // By hand: std::uniform_int_distribution may give other numbers with another
  // standard library. The modulus favours nothing that could be seen.
  std::mt19937_64 random(seed);
  const uint64_t span = lengths.highest - lengths.lowest + 1;
  std::vector<LoadRequest> result;
  for (int i = 0; i < count; ++i) {
    auto request = std::get<v1::GenerateRequest>(requests[i % requests.size()]);
    const auto length = static_cast<int32_t>(lengths.lowest + random() % span);
    request.mutable_params()->set_min_new_tokens(length);
    request.mutable_params()->set_max_new_tokens(length);
    result.push_back(std::move(request));
  }
  return result;
}

}  // namespace attend
