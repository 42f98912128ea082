#include "engine/tokenizer/sandbox/sandbox_job.h"

namespace attend {
namespace {

// Compiled templates that a process keeps.
constexpr size_t kMaxTemplates = 16;

}  // namespace

bool SandboxWorker::Do(const ReceivedJob& job, RustCall<std::string>& call) {
  switch (job.header.task) {
    case SandboxTask::kRenderChat:
      return RenderChat(job, call);
    case SandboxTask::kTryGrammar:
      return hf_grammar_try(job.header.grammar_kind, ToText(job.source),
                            TakeText, TakeError<std::string>, &call);
  }
  return false;
}

bool SandboxWorker::RenderChat(const ReceivedJob& job,
                               RustCall<std::string>& call) {
  if (templates_.size() >= kMaxTemplates) templates_.clear();
  auto found = templates_.find(job.source);
  if (found == templates_.end()) {
    auto* const chat =
        hf_chat_load(ToText(job.source), TakeError<std::string>, &call);
    if (chat == nullptr) return false;
    found = templates_.emplace(job.source, chat).first;
  }
  return job.variables.empty() ||
         hf_chat_render(found->second.get(), ToText(job.variables),
                        job.header.unix_micros, TakeText,
                        TakeError<std::string>, &call);
}

}  // namespace attend
