// Lets kernels with AMX's tiles run on CPUs without them. A program that has
// this file and the linker's option --wrap for DetectIsa() emulates the
// instructions if ATTEND_EMULATE_AMX is set and AVX-512 BF16, which the kernels
// use alongside, is there. Slow: each instruction of a tile is a signal.

#include <signal.h>
#include <ucontext.h>

#include <cstdlib>
#include <optional>

#include "engine/compute/isa.h"
#include "tests/support/amx/tile_instruction.h"
#include "tests/support/amx/tile_registers.h"

namespace attend {
namespace {

thread_local TileRegisters tiles;

void EmulateInstruction(int /*signal*/, siginfo_t* /*info*/, void* context) {
  auto& general = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const GeneralRegisters registers = [&] {
    constexpr int kOrder[] = {
        REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
        REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    GeneralRegisters values;
    for (size_t i = 0; i < values.size(); ++i) values[i] = general[kOrder[i]];
    return values;
  }();
  const std::optional<TileInstruction> instruction = DecodeTileInstruction(
      reinterpret_cast<const uint8_t*>(general[REG_RIP]), registers);
  if (!instruction.has_value()) {
    signal(SIGILL, SIG_DFL);  // the instruction is illegal: it ends the process
    return;
  }
  tiles.Execute(*instruction);
  general[REG_RIP] += instruction->size;
}

}  // namespace

extern "C" {
// The names are the linker's, of attend::DetectIsa().
// NOLINTBEGIN(bugprone-reserved-identifier)
Isa __real__ZN6attend9DetectIsaEv();
Isa __wrap__ZN6attend9DetectIsaEv() {
  static const Isa isa = [] {
    const Isa detected = __real__ZN6attend9DetectIsaEv();
    const bool is_wanted = std::getenv("ATTEND_EMULATE_AMX") != nullptr;
    if (detected != Isa::kAvx512Bf16 || !is_wanted) return detected;
    struct sigaction action = {};
    action.sa_sigaction = EmulateInstruction;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGILL, &action, nullptr);
    return Isa::kAmx;
  }();
  return isa;
}
// NOLINTEND(bugprone-reserved-identifier)
}

}  // namespace attend
