#ifndef ATTEND_ENGINE_JSON_NUMBER_MEMBERS_H_
#define ATTEND_ENGINE_JSON_NUMBER_MEMBERS_H_

#include <cstddef>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace attend {

// Reads a file whose top is an object of numbers, and calls `use` for each
// member in the order of the text. INVALID_ARGUMENT names the file and the key
// if a value is not a number that fits into f32, if there are more than `most`
// members, or for the errors of ReadFile() and ParseMembers(). An error of
// `use` ends the reading.
absl::Status ReadNumberMembers(
    const std::string& path, size_t most,
    absl::FunctionRef<absl::Status(const std::string& key, float value)> use);

// The beginning of an error about a member: `/models/a/idf.json: "tea"`.
std::string MemberText(const std::string& path, const std::string& key);

}  // namespace attend

#endif  // ATTEND_ENGINE_JSON_NUMBER_MEMBERS_H_
