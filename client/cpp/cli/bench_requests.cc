#include "client/cpp/cli/bench_requests.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/cli/input_lines.h"
#include "client/cpp/cli/messages.h"
#include "client/cpp/lib/utf8.h"

namespace attend {
namespace {

// Sentences of several lengths.
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

// Lines that become the inputs of one call.
struct Batch {
  const BenchOptions& options;
  const std::string& file;
  const std::string& mask;
  const std::vector<std::string>& lines;  // of the file
  size_t begin;

  bool ids() const { return options.ids && !file.empty(); }
};

// Adds a line to a request: as an input, or as a document to rank.
template <class Request>
absl::Status AddLine(const Batch& batch, const std::string& line,
                     Request& request) {
  v1::Input* const input = request.add_inputs();
  if (batch.ids()) return ParseIds(line, *input->mutable_tokens());
  input->set_text(line);
  return absl::OkStatus();
}

absl::Status AddLine(const Batch& batch, const std::string& line,
                     v1::FillMaskRequest& request) {
  v1::Input* const input = request.add_inputs();
  if (batch.ids()) return ParseIds(line, *input->mutable_tokens());
  const bool masked = line.find(batch.mask) != std::string::npos;
  input->set_text(masked ? line : absl::StrCat(line, " ", batch.mask));
  return absl::OkStatus();
}

absl::Status AddLine(const Batch& batch, const std::string& line,
                     v1::RerankRequest& request) {
  if (batch.ids())
    return absl::InvalidArgumentError(
        "--ids: rerank takes texts, not token ids");
  if (request.query().empty()) request.set_query(batch.lines.front());
  request.add_documents(line);
  return absl::OkStatus();
}

template <class Response, class Request>
absl::StatusOr<LoadRequest> Make(const char* method, const Batch& batch,
                                 Request request) {
  request.set_model(batch.options.connection.model);
  for (int i = 0; i < batch.options.batch; ++i) {
    const size_t at = (batch.begin + i) % batch.lines.size();
    const std::string& line = batch.lines[at];
    const absl::Status status =
        IsUtf8(line) ? AddLine(batch, line, request)
                     : absl::InvalidArgumentError("not valid UTF-8");
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(batch.file, ":", at + 1, ": ", status.message()));
    }
  }
  return MakeLoadRequest<Response>(method, std::move(request));
}

struct Task {
  const char* name;
  absl::StatusOr<LoadRequest> (*make)(const Batch&);
};

constexpr Task kTasks[] = {
    {kGenerateTask,
     [](const Batch& batch) {
       return Make<v1::GenerateResponse>("Generate", batch,
                                         batch.options.request);
     }},
    {"embed",
     [](const Batch& batch) {
       return Make<v1::EmbedResponse>("Embed", batch, v1::EmbedRequest());
     }},
    {"classify",
     [](const Batch& batch) {
       return Make<v1::ClassifyResponse>("Classify", batch,
                                         v1::ClassifyRequest());
     }},
    {"fill-mask",
     [](const Batch& batch) {
       return Make<v1::FillMaskResponse>("FillMask", batch,
                                         v1::FillMaskRequest());
     }},
    {"rerank",
     [](const Batch& batch) {
       return Make<v1::RerankResponse>("Rerank", batch, v1::RerankRequest());
     }},
};

}  // namespace

std::vector<std::string> BenchTasks() {
  std::vector<std::string> names;
  for (const Task& task : kTasks) names.push_back(task.name);
  return names;
}

absl::StatusOr<std::vector<LoadRequest>> BenchRequests(
    const BenchOptions& options, const std::string& file,
    const std::string& mask) {
  const auto lines = Lines(file);
  if (!lines.ok()) return lines.status();
  const Task* const task =
      std::find_if(std::begin(kTasks), std::end(kTasks),
                   [&](const Task& one) { return one.name == options.task; });
  std::vector<LoadRequest> requests;
  for (size_t begin = 0; begin < lines->size(); begin += options.batch) {
    auto request = task->make({options, file, mask, *lines, begin});
    if (!request.ok()) return request.status();
    requests.push_back(*std::move(request));
  }
  return requests;
}

std::vector<LoadRequest> WithOutputLengths(
    const std::vector<LoadRequest>& requests, OutputLengths lengths,
    uint64_t seed, int count) {
  // Not std::uniform_int_distribution: its numbers differ between standard
  // libraries. The bias of the modulus is below 2^-40.
  std::mt19937_64 random(seed);
  const uint64_t span = lengths.highest - lengths.lowest + 1;
  std::vector<LoadRequest> result;
  for (int i = 0; i < count; ++i) {
    auto request = static_cast<const v1::GenerateRequest&>(
        *requests[i % requests.size()].request);
    const auto length = static_cast<int32_t>(lengths.lowest + random() % span);
    request.mutable_params()->set_min_new_tokens(length);
    request.mutable_params()->set_max_new_tokens(length);
    result.push_back(
        MakeLoadRequest<v1::GenerateResponse>("Generate", std::move(request)));
  }
  return result;
}

}  // namespace attend
