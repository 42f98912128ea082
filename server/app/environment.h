#ifndef ATTEND_SERVER_APP_ENVIRONMENT_H_
#define ATTEND_SERVER_APP_ENVIRONMENT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// Variables of the environment whose names begin with ATTEND_, but which do not
// set an option.

// The variable that sets an option: ATTEND_MAX_RUNNING for "max-running".
std::string OptionVariable(absl::string_view option);

// True if an orchestrator has set the variable of `option` to the address of a
// service: Kubernetes sets ATTEND_PORT=tcp://10.0.0.1:50051 in the pods of a
// namespace that has a service named "attend" (enableServiceLinks, on by
// default), and Docker does so for --link. Only options that are ports can be
// affected.
bool IsServiceLink(absl::string_view option, absl::string_view value);

// The warning that IsServiceLink() is true for such a variable.
std::string ServiceLinkWarning(absl::string_view variable,
                               absl::string_view value);

// A warning for each entry "NAME=value" of `environment` (which ends with a
// null pointer, as environ(7) does) that looks like a misspelled option: its
// name begins with ATTEND_, but is neither in `known`, nor a variable of a
// client, nor one that Kubernetes sets for a service.
std::vector<std::string> UnknownVariables(
    const char* const* environment, const std::vector<std::string>& known);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_ENVIRONMENT_H_
