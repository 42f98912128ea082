#include "engine/runtime/prompt_vectors.h"

#include "engine/compute/op_timer.h"
#include "engine/tensor/status_macros.h"

namespace attend {

PromptVectors::PromptVectors(WorkerMemory& memory, int max_rows)
    : memory_(memory),
      buffer_(memory.transformer.generates() ? 0
                                             : memory.transformer.head_width()),
      choices_(HeadChoices(memory.transformer.spec())) {
  wanted_.reserve(max_rows);
  vectors_.reserve(kMaxHeadRows);
}

absl::Status PromptVectors::Run() {
  if (wanted_.empty()) return absl::OkStatus();
  for (const HeadChoice& choice : choices_) RETURN_IF_ERROR(Read(choice));
  for (const WantedRows& wanted : wanted_) {
    wanted.decoder->task().pooled_prompt()->Advance(wanted.rows);
    wanted.decoder->FollowParents(memory_.counts);
  }
  return absl::OkStatus();
}

absl::Status PromptVectors::Read(const HeadChoice& choice) {
  vectors_.clear();
  for (const WantedRows& wanted : wanted_) {
    const auto& parts =
        wanted.decoder->task().pooled_prompt()->result().parts();
    for (size_t part = 0; part < parts.size(); ++part) {
      if (!choice.Has(parts[part])) continue;
      RETURN_IF_ERROR(ReadPart(wanted, part, choice));
    }
  }
  return vectors_.empty() ? absl::OkStatus() : RunLayers(choice);
}

absl::Status PromptVectors::ReadPart(const WantedRows& wanted, size_t part,
                                     const HeadChoice& choice) {
  Activations& activations = memory_.activations;
  const Matrix x = activations.x({0, activations.max_rows()});
  PooledPrompt& prompt = *wanted.decoder->task().pooled_prompt();
  const EncoderTask::Part& read = prompt.result().parts()[part];
  const int width = WidthBefore(choice, memory_.transformer.spec());
  for (int offset = 0; offset < wanted.rows; ++offset) {
    const int place = static_cast<int>(vectors_.size());
    float* const dst = buffer_.rows(0, place + 1, width).row(place);
    if (!prompt.Read(part, offset, x.row(wanted.first + offset), dst)) {
      continue;
    }
    vectors_.push_back({&prompt, &read, prompt.IndexOf(part, offset)});
    if (vectors_.size() < kMaxHeadRows) continue;
    RETURN_IF_ERROR(RunLayers(choice));
    vectors_.clear();
  }
  return absl::OkStatus();
}

absl::Status PromptVectors::RunLayers(const HeadChoice& choice) {
  const int rows = static_cast<int>(vectors_.size());
  const OpTimer timer({.name = "head", .rows = rows});
  Matrix result =
      buffer_.rows(0, rows, WidthBefore(choice, memory_.transformer.spec()));
  if (const Head* const head = HeadOf(memory_.transformer, choice)) {
    ASSIGN_OR_RETURN(result, head->Run(memory_.exec, buffer_, result));
  }
  for (int row = 0; row < rows; ++row) {
    const Vector& vector = vectors_[row];
    vector.prompt->result().Take(*vector.part, vector.index, result.row(row));
  }
  return absl::OkStatus();
}

}  // namespace attend
