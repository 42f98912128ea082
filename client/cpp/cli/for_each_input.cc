#include "client/cpp/cli/for_each_input.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "client/cpp/cli/command.h"
#include "client/cpp/cli/errors.h"
#include "client/cpp/cli/input_lines.h"
#include "client/cpp/cli/output.h"
#include "client/cpp/cli/output_file.h"
#include "client/cpp/cli/progress.h"

namespace attend {
namespace {

// The lines of a file are there at once. Lines of standard input may come
// slowly, and should not wait for each other.
int BatchSize(const InputOptions& input) {
  if (input.batch > 0) return input.batch;
  return input.file.empty() ? 1 : 32;
}

// The file with the inputs, if results would be written over them. Empty: they
// would not.
std::string OverwrittenInput(const InputOptions& input) {
  if (input.output.empty() || !input.arguments.empty()) return "";
  const std::string from = input.file.empty() ? "/dev/stdin" : input.file;
  for (const std::string& path :
       {input.output, OutputFile::ProgressPath(input.output)}) {
    if (IsSameFile(from, path)) return path;
  }
  return "";
}

// Prints results and errors, and the progress bar between them.
class Output {
 public:
  // `file` may be null: standard output is none that work can come back to.
  Output(const InputOptions& input, const char* failed, OutputFile* file)
      : input_(input), failed_text_(failed), file_(file) {
    if (input.file.empty() || isatty(STDERR_FILENO) == 0) return;
    const auto lines = ReadLines(input.file);
    if (lines.ok()) progress_.emplace(lines->size());
  }

  void Print(const Line& line, const absl::StatusOr<std::string>& result) {
    if (progress_.has_value()) progress_->Clear();
    const std::string& text = result.ok() ? *result : failed_text_;
    if (!attend::Print(text)) Abandon();
    if (!result.ok()) {
      failed_ = true;
      PrintError(input_, line, result.status());
      // The line is not done: it is worked on again with --resume.
      if (IsShared(result.status().code())) Abandon();
    }
    if (file_ != nullptr) Record(line);
    if (progress_.has_value()) progress_->Show(line.number);
  }

  void End() {
    if (progress_.has_value()) progress_->Clear();
    if (file_ != nullptr) file_->Finish();
  }
  bool failed() const { return failed_; }

 private:
  // Ends the process without waiting for other threads: they may be in a call,
  // or wait for standard input.
  [[noreturn]] static void Abandon() { std::_Exit(kExitCallFailed); }

  void Record(const Line& line) {
    const absl::Status status = file_->Record(line.text);
    if (status.ok()) return;
    PrintError(status);
    Abandon();
  }

  const InputOptions& input_;
  const std::string failed_text_;  // printed instead of a result
  OutputFile* const file_;
  std::optional<Progress> progress_;
  bool failed_ = false;
};

}  // namespace

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
  if (const std::string lost = OverwrittenInput(input); !lost.empty()) {
    std::fprintf(stderr,
                 "attend: --output: %s has the inputs, which would be lost\n",
                 lost.c_str());
    return kExitUsage;
  }
  LineSource source(input);
  if (const absl::Status status = source.Open(); !status.ok()) {
    PrintError(status);
    return kExitCallFailed;
  }
  std::optional<OutputFile> file;
  if (!input.output.empty()) {
    auto opened = OutputFile::Open(input.output, input.resume);
    if (!opened.ok()) {
      PrintError(opened.status());
      return kExitCallFailed;
    }
    file.emplace(*std::move(opened));
    const absl::Status same = file->Skip([&] { return source.Next(); });
    if (!same.ok()) {
      PrintError(same);
      return kExitCallFailed;
    }
  }
  Output output(input, failed, file ? &*file : nullptr);
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
                         .batch = BatchSize(input),
                         .lines_before = file ? file->done() : 0});
  output.End();
  return output.failed() ? kExitCallFailed : kExitOk;
}

}  // namespace attend
