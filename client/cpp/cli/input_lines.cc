#include "client/cpp/cli/input_lines.h"

#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

absl::Status CannotRead(const std::string& file) {
  return absl::NotFoundError(absl::StrCat(file, ": cannot read"));
}

}  // namespace

std::optional<std::string> NextLine(std::istream& stream) {
  std::string line;
  if (!std::getline(stream, line)) return std::nullopt;
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

absl::StatusOr<std::vector<std::string>> ReadLines(const std::string& file) {
  std::ifstream stream(file);
  if (!stream.is_open()) return CannotRead(file);
  std::vector<std::string> lines;
  while (std::optional<std::string> line = NextLine(stream)) {
    lines.push_back(*std::move(line));
  }
  return lines;
}

bool JoinPair(std::vector<std::string>& arguments) {
  if (arguments.size() == 2) {
    arguments = {absl::StrCat(arguments[0], "\t", arguments[1])};
    return true;
  }
  return arguments.empty();
}

absl::Status LineSource::Open() {
  if (input_.file.empty()) return absl::OkStatus();
  file_.open(input_.file);
  return file_.is_open() ? absl::OkStatus() : CannotRead(input_.file);
}

std::optional<std::string> LineSource::Next() {
  if (!input_.file.empty()) return NextLine(file_);
  if (input_.arguments.empty()) return NextLine(std::cin);
  if (next_argument_ == input_.arguments.size()) return std::nullopt;
  return input_.arguments[next_argument_++];
}

}  // namespace attend
