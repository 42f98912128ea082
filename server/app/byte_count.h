#ifndef ATTEND_SERVER_APP_BYTE_COUNT_H_
#define ATTEND_SERVER_APP_BYTE_COUNT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// The forms of a size, for messages.
inline constexpr char kByteCountForms[] =
    "a number of bytes (1000000, 64MiB, 1.5GB)";

// Reads a size in bytes: a decimal number, then a unit. Units are B, KB, MB,
// GB and TB (powers of 1000), and KiB, MiB, GiB and TiB (powers of 1024), which
// Kubernetes abbreviates to Ki, Mi, Gi and Ti. Case does not matter, and spaces
// may precede the unit. The number may have a fraction and an exponent, because
// templates print large numbers as 3.3554432e+07; a fraction of a byte is cut
// off. Without a unit, the number must be whole.
//
// Null for all other texts, and for sizes of 2^64 bytes and more. K, M and G
// alone are refused: some programs mean powers of 1000, others of 1024.
std::optional<uint64_t> ParseByteCount(absl::string_view text);

// The size in the largest unit up to MiB in which it is whole: "512MiB".
std::string ByteCountText(uint64_t bytes);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_BYTE_COUNT_H_
