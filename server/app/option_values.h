#ifndef ATTEND_SERVER_APP_OPTION_VALUES_H_
#define ATTEND_SERVER_APP_OPTION_VALUES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/compute/compute.h"
#include "engine/ops/attention/kv_type.h"
#include "engine/ops/exec/compute_type.h"
#include "server/observability/access_log.h"
#include "server/observability/log.h"
#include "server/service/fair_share.h"
#include "server/service/model_control.h"
#include "server/tls/tls_options.h"

namespace attend {

// Parsing and printing of option values: a pair of functions for each type.

// Read a value. INVALID_ARGUMENT names the text and what was expected.
absl::Status ParseValue(absl::string_view text, int& value);
absl::Status ParseValue(absl::string_view text, double& share);  // 0 to 1
absl::Status ParseValue(absl::string_view text,
                        size_t& bytes);  // see ParseByteCount()
absl::Status ParseValue(absl::string_view text, bool& value);
absl::Status ParseValue(absl::string_view text, std::string& value);
absl::Status ParseValue(absl::string_view text, absl::Duration& value);  // 30s
absl::Status ParseValue(absl::string_view text, LogLevel& value);
absl::Status ParseValue(absl::string_view text, LogFormat& value);
absl::Status ParseValue(absl::string_view text, AccessLogForm& value);
absl::Status ParseValue(absl::string_view text, FairShare& value);
absl::Status ParseValue(absl::string_view text, ModelControlMode& value);
absl::Status ParseValue(absl::string_view text, Isa& value);
absl::Status ParseValue(absl::string_view text,
                        std::optional<ClientAuth>& value);
absl::Status ParseValue(absl::string_view text,
                        std::optional<ComputeType>& value);
absl::Status ParseValue(absl::string_view text, std::optional<KvType>& value);
// Adds one element to the list.
absl::Status ParseValue(absl::string_view text, std::vector<std::string>& list);

// A value as --help shows it.
std::string ValueText(int value);
std::string ValueText(double value);
std::string ValueText(size_t bytes);
std::string ValueText(bool value);
std::string ValueText(const std::string& value);
std::string ValueText(absl::Duration value);
std::string ValueText(LogLevel value);
std::string ValueText(LogFormat value);
std::string ValueText(AccessLogForm value);
std::string ValueText(FairShare value);
std::string ValueText(ModelControlMode value);
std::string ValueText(Isa value);
std::string ValueText(const std::optional<ClientAuth>& value);
std::string ValueText(const std::optional<ComputeType>& value);
std::string ValueText(const std::optional<KvType>& value);
std::string ValueText(const std::vector<std::string>& list);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_OPTION_VALUES_H_
