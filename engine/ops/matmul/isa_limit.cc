#include "engine/ops/matmul/isa_limit.h"

#include <oneapi/dnnl/dnnl.hpp>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

dnnl::cpu_isa ToDnnl(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return dnnl::cpu_isa::sse41;
    case Isa::kAvx2:
      return dnnl::cpu_isa::avx2;
    case Isa::kAvx512:
      return dnnl::cpu_isa::avx512_core;
    case Isa::kAvx512Vnni:
      return dnnl::cpu_isa::avx512_core_vnni;
    case Isa::kAvx512Bf16:
      return dnnl::cpu_isa::avx512_core_bf16;
    case Isa::kAmx:
      break;
  }
  return dnnl::cpu_isa::avx512_core_amx;
}

}  // namespace

absl::Status LimitIsa(Isa max) {
  // A limit that does not limit this machine could only hide instructions that
  // oneDNN knows and DetectIsa() does not.
  if (max >= DetectIsa()) return absl::OkStatus();
  if (dnnl::set_max_cpu_isa(ToDnnl(max)) == dnnl::status::success) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "onednn has chosen its instructions already, too late for limit ",
      IsaName(max)));
}

}  // namespace attend
