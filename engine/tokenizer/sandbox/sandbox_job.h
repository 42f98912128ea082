#ifndef ATTEND_ENGINE_TOKENIZER_SANDBOX_SANDBOX_JOB_H_
#define ATTEND_ENGINE_TOKENIZER_SANDBOX_SANDBOX_JOB_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "engine/tokenizer/rust/hf_chat.h"
#include "engine/tokenizer/rust/hf_grammar.h"
#include "engine/tokenizer/rust/rust_call.h"

namespace attend {

enum class SandboxTask : uint32_t { kRenderChat, kTryGrammar };

// How a job is sent: this, then the bytes of the source and of the variables.
struct SandboxHeader {
  SandboxTask task;
  HfGrammarKind grammar_kind;
  uint64_t source_bytes;
  uint64_t variables_bytes;
  int64_t unix_micros;
};

// A job inside of a process that does it.
struct ReceivedJob {
  SandboxHeader header = {};
  std::string source;
  std::string variables;
};

// Does jobs, one at a time, and keeps what later jobs need too.
class SandboxWorker {
 public:
  // The result or the error is in `call`.
  bool Do(const ReceivedJob& job, RustCall<std::string>& call);

 private:
  struct Free {
    void operator()(HfChat* chat) const { hf_chat_free(chat); }
  };
  bool RenderChat(const ReceivedJob& job, RustCall<std::string>& call);

  // Compiled templates, by their sources.
  std::map<std::string, std::unique_ptr<HfChat, Free>> templates_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SANDBOX_SANDBOX_JOB_H_
