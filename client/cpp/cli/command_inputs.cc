#include "client/cpp/cli/command_inputs.h"

#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/progress.h"

namespace attend {
namespace {

// Arguments, file or standard input, whichever is asked for.
class LineSource {
 public:
  // False: the file cannot be read; its error is printed.
  bool Open(const InputOptions& input) {
    input_ = &input;
    if (input.file.empty()) return true;
    file_.open(input.file);
    if (file_.is_open()) return true;
    PrintError(absl::NotFoundError(absl::StrCat(input.file, ": cannot read")));
    return false;
  }

  std::optional<std::string> Next() {
    if (!input_->file.empty()) return NextLine(file_);
    if (input_->arguments.empty()) return NextLine(std::cin);
    if (next_ == input_->arguments.size()) return std::nullopt;
    return input_->arguments[next_++];
  }

 private:
  const InputOptions* input_ = nullptr;
  std::ifstream file_;
  size_t next_ = 0;  // of the arguments
};

// Lines of a file are there; those of standard input may come slowly.
int BatchSize(const InputOptions& input) {
  if (input.batch > 0) return input.batch;
  return input.file.empty() ? 1 : 32;
}

// Prints results and errors, and the progress between them.
class Output {
 public:
  Output(const InputOptions& input, const char* failed)
      : input_(input), failed_text_(failed) {
    if (input.file.empty() || isatty(STDERR_FILENO) == 0) return;
    const auto lines = ReadLines(input.file);
    if (lines.ok()) progress_.emplace(lines->size());
  }

  void Print(const Line& line, const absl::StatusOr<std::string>& result) {
    if (progress_.has_value()) progress_->Clear();
    const std::string& text = result.ok() ? *result : failed_text_;
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0) Abandon("cannot write to standard output");
    if (!result.ok()) {
      failed_ = true;
      PrintError(input_, line, result.status());
      if (IsShared(result.status().code())) Abandon(nullptr);
    }
    if (progress_.has_value()) progress_->Show(line.number);
  }

  void End() {
    if (progress_.has_value()) progress_->Clear();
  }
  bool failed() const { return failed_; }

 private:
  // Ends the process as it stands: other threads may be in a call, or wait for
  // standard input.
  [[noreturn]] static void Abandon(const char* reason) {
    if (reason != nullptr) std::fprintf(stderr, "attend: %s\n", reason);
    std::_Exit(kExitCallFailed);
  }

  const InputOptions& input_;
  const std::string failed_text_;  // printed in the place of a result
  std::optional<Progress> progress_;
  bool failed_ = false;
};

}  // namespace

std::optional<std::string> NextLine(std::istream& stream) {
  std::string line;
  if (!std::getline(stream, line)) return std::nullopt;
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

bool IsShared(absl::StatusCode code) {
  return code == absl::StatusCode::kUnavailable ||
         code == absl::StatusCode::kNotFound ||
         code == absl::StatusCode::kUnimplemented ||
         code == absl::StatusCode::kUnauthenticated ||
         code == absl::StatusCode::kPermissionDenied;
}

ClientOptions ToClientOptions(const ConnectionOptions& connection) {
  return {.address = connection.address, .timeout = connection.timeout};
}

void PrintError(const absl::Status& status) {
  std::fprintf(stderr, "attend: %s: %s\n",
               absl::StatusCodeToString(status.code()).c_str(),
               std::string(status.message()).c_str());
}

void PrintError(const InputOptions& input, const Line& line,
                const absl::Status& status) {
  const char* const place = input.arguments.empty() ? "line" : "argument";
  std::fprintf(stderr, "attend: %s %lld: %s: %s\n", place,
               static_cast<long long>(line.number),
               absl::StatusCodeToString(status.code()).c_str(),
               std::string(status.message()).c_str());
}

int ForEachInput(
    const InputOptions& input,
    const std::function<absl::StatusOr<std::string>(const Line&)>& work) {
  InputOptions single = input;
  single.batch = 1;
  return ForEachBatch(single, [&](const std::vector<Line>& lines) {
    return LineResults{work(lines.front())};
  });
}

int ForEachBatch(
    const InputOptions& input,
    const std::function<LineResults(const std::vector<Line>&)>& work,
    const char* failed) {
  LineSource source;
  if (!source.Open(input)) return kExitCallFailed;
  Output output(input, failed);
  int in_flight = input.in_flight;
  if (!input.arguments.empty()) {
    in_flight = std::min<int>(in_flight, input.arguments.size());
  }
  RunInOrder(in_flight, {.next = [&] { return source.Next(); },
                         .work = work,
                         .emit =
                             [&](const Line& line,
                                 const absl::StatusOr<std::string>& result) {
                               output.Print(line, result);
                             },
                         .batch = BatchSize(input)});
  output.End();
  return output.failed() ? kExitCallFailed : kExitOk;
}

bool JoinPair(std::vector<std::string>& arguments) {
  if (arguments.size() == 2) {
    arguments = {absl::StrCat(arguments[0], "\t", arguments[1])};
    return true;
  }
  return arguments.empty();
}

absl::StatusOr<std::vector<std::string>> ReadLines(const std::string& file) {
  std::ifstream stream(file);
  if (!stream.is_open()) {
    return absl::NotFoundError(absl::StrCat(file, ": cannot read"));
  }
  std::vector<std::string> lines;
  while (std::optional<std::string> line = NextLine(stream)) {
    lines.push_back(*std::move(line));
  }
  return lines;
}

absl::Status ParseIds(absl::string_view line, v1::Tokens& tokens) {
  for (const absl::string_view word :
       absl::StrSplit(line, absl::ByAnyChar(" ,\t"), absl::SkipEmpty())) {
    int32_t id = 0;
    if (!absl::SimpleAtoi(word, &id)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", word, "\" is not a token id"));
    }
    tokens.add_ids(id);
  }
  return absl::OkStatus();
}

absl::Status ToAbslStatus(const v1::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.code()),
                      status.message());
}

std::string ToJsonLine(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  // Fails for unknown Any types only; we have none.
  (void)google::protobuf::util::MessageToJsonString(message, &json, options);
  json.push_back('\n');
  return json;
}

std::string ToLines(
    const google::protobuf::RepeatedPtrField<v1::TokenLogProbs>& tokens) {
  std::string lines;
  for (const v1::TokenLogProbs& entry : tokens) {
    absl::StrAppendFormat(&lines, "  %10.6f  %s\n", entry.token().log_prob(),
                          entry.token().piece());
  }
  return lines;
}

}  // namespace attend
