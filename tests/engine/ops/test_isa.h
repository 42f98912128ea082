#ifndef ATTEND_TESTS_ENGINE_OPS_TEST_ISA_H_
#define ATTEND_TESTS_ENGINE_OPS_TEST_ISA_H_

#include <cstdlib>
#include <vector>

#include "engine/compute/isa.h"
#include "engine/ops/matmul/isa_limit.h"
#include "engine/tensor/check.h"

namespace attend {

// The limit of instructions of this run of the tests. oneDNN has one limit a
// process: so ctest runs the same binary once for each instruction set.
inline Isa TestIsa() {
  static const Isa isa = [] {
    const char* const name = std::getenv("ATTEND_TEST_ISA");
    const Isa limit = name == nullptr ? Isa::kAmx : ParseIsa(name).value();
    ATTEND_CHECK(LimitIsa(limit).ok());
    return limit < DetectIsa() ? limit : DetectIsa();
  }();
  return isa;
}

// Every instruction set of the machine; for kernels of our own.
inline std::vector<Isa> AllIsas() {
  std::vector<Isa> isas;
  for (Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Vnni,
                  Isa::kAvx512Bf16, Isa::kAmx}) {
    if (isa <= DetectIsa()) isas.push_back(isa);
  }
  return isas;
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_OPS_TEST_ISA_H_
