#ifndef ATTEND_CLIENT_CPP_LIB_TARGET_H_
#define ATTEND_CLIENT_CPP_LIB_TARGET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace attend {

// A list of addresses with commas between, without the white space around them.
// Each is HOST:PORT; one alone may be what gRPC has a scheme for: unix:PATH,
// dns:///NAME. INVALID_ARGUMENT names one that is not.
absl::StatusOr<std::vector<std::string>> SplitAddresses(
    const std::string& addresses);

// The addresses as numbers: asks DNS for names. One that DNS does not know is
// left out, and what is not HOST:PORT.
std::vector<std::string> LookUp(const std::vector<std::string>& addresses);

// One target for gRPC, which takes several addresses only as numbers, and all
// of one kind. If DNS knows none of several, gRPC is left to say so of the
// first.
std::string TargetOf(const std::vector<std::string>& addresses);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_TARGET_H_
