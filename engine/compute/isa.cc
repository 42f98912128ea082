#include "engine/compute/isa.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace attend {
namespace {

constexpr std::array<std::pair<Isa, absl::string_view>, 6> kNames = {{
    {Isa::kBaseline, "baseline"},
    {Isa::kAvx2, "avx2"},
    {Isa::kAvx512, "avx512"},
    {Isa::kAvx512Vnni, "avx512_vnni"},
    {Isa::kAvx512Bf16, "avx512_bf16"},
    {Isa::kAmx, "amx"},
}};

// A process has to ask Linux for AMX's tiles, which make the state of a thread
// larger. Asking again is no harm.
bool MayUseTiles() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

// __builtin_cpu_supports also asks the operating system (xgetbv) whether it
// saves the registers, AVX-512's masks and AMX's tiles included.
Isa DetectIsa() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    return Isa::kBaseline;
  }
  if (!__builtin_cpu_supports("avx512f") ||
      !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512vl")) {
    return Isa::kAvx2;
  }
  if (!__builtin_cpu_supports("avx512vnni")) return Isa::kAvx512;
  if (!__builtin_cpu_supports("avx512bf16")) return Isa::kAvx512Vnni;
  if (!__builtin_cpu_supports("amx-tile") ||
      !__builtin_cpu_supports("amx-bf16") ||
      !__builtin_cpu_supports("amx-int8") || !MayUseTiles()) {
    return Isa::kAvx512Bf16;
  }
  return Isa::kAmx;
}

absl::StatusOr<Isa> ParseIsa(absl::string_view name) {
  for (const auto& [isa, known] : kNames) {
    if (name == known) return isa;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown instruction set \"", name, "\", known are ",
      absl::StrJoin(kNames, ", ", [](std::string* out, const auto& entry) {
        absl::StrAppend(out, entry.second);
      })));
}

absl::string_view IsaName(Isa isa) {
  for (const auto& [known, name] : kNames) {
    if (isa == known) return name;
  }
  return "unknown";
}

}  // namespace attend
