#include "client/cpp/cli/input_lines.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace attend {
absl::Status OpenFile(const std::string& file, std::ifstream& stream) {
  // A directory opens as an empty file.
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": is a directory, must be a file"));
  }
  stream.open(file, std::ios::binary);
  if (stream.is_open()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(file, ": cannot read"));
}

bool IsSameFile(const std::string& one, const std::string& other) {
  std::error_code error;
  return std::filesystem::is_regular_file(one, error) &&
         std::filesystem::equivalent(one, other, error);
}

std::optional<std::string> NextLine(std::istream& stream) {
  std::string line;
  if (!std::getline(stream, line)) return std::nullopt;
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

absl::StatusOr<std::vector<std::string>> ReadLines(const std::string& file) {
  std::ifstream stream;
  const absl::Status status = OpenFile(file, stream);
  if (!status.ok()) return status;
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
  return OpenFile(input_.file, file_);
}

std::optional<std::string> LineSource::Next() {
  if (!input_.file.empty()) return NextLine(file_);
  if (input_.arguments.empty()) return NextLine(std::cin);
  if (next_argument_ == input_.arguments.size()) return std::nullopt;
  return input_.arguments[next_argument_++];
}

}  // namespace attend
