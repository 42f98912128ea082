#ifndef ATTEND_TESTS_CLIENT_CONFORMANCE_CPP_CALLS_H_
#define ATTEND_TESTS_CLIENT_CONFORMANCE_CPP_CALLS_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cpp/lib/client.h"

namespace attend {

// What came of a call, in the form of the cases.
struct CallResult {
  absl::Status status;  // of the call, or of the first input that failed
  nlohmann::json value;
  std::optional<int> input = {};  // that failed
};

// Makes the call of a case. `parts` gets those of a stream. Aborts if it knows
// no such method.
CallResult MakeCall(Client& client, const nlohmann::json& call,
                    const CallOptions& options,
                    std::vector<std::string>& parts);

}  // namespace attend

#endif  // ATTEND_TESTS_CLIENT_CONFORMANCE_CPP_CALLS_H_
