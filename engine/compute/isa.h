#ifndef ATTEND_ENGINE_COMPUTE_ISA_H_
#define ATTEND_ENGINE_COMPUTE_ISA_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// The instruction sets that kernels distinguish. Each one contains those before
// it. kBaseline: what every x86-64 CPU has.
enum class Isa { kBaseline, kAvx2, kAvx512, kAvx512Vnni, kAvx512Bf16, kAmx };

// The best instruction set of this machine.
Isa DetectIsa();

// "avx2", "avx512", ...; INVALID_ARGUMENT lists the known names.
absl::StatusOr<Isa> ParseIsa(absl::string_view name);
absl::string_view IsaName(Isa isa);

}  // namespace attend

#endif  // ATTEND_ENGINE_COMPUTE_ISA_H_
