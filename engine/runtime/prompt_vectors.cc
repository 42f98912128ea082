#include "engine/runtime/prompt_vectors.h"

#include "engine/compute/op_timer.h"
#include "engine/runtime/head_of.h"
#include "engine/tensor/status_macros.h"

namespace attend {

PromptVectors::PromptVectors(WorkerMemory& memory, int max_rows)
    : memory_(memory),
      buffer_(memory.transformer.generates()
                  ? 0
                  : memory.transformer.head_width()) {
  wanted_.reserve(max_rows);
  vectors_.reserve(kMaxHeadRows);
}

absl::Status PromptVectors::Run() {
  if (wanted_.empty()) return absl::OkStatus();
  using Layers = EncoderTask::Layers;
  for (const Layers layers : {Layers::kNone, Layers::kEmbed, Layers::kHead,
                              Layers::kSparse, Layers::kTokens}) {
    RETURN_IF_ERROR(Read(layers));
  }
  for (const WantedRows& wanted : wanted_) {
    wanted.decoder->task().pooled_prompt()->Advance(wanted.rows);
    wanted.decoder->FollowParents(memory_.counts);
  }
  return absl::OkStatus();
}

absl::Status PromptVectors::Read(EncoderTask::Layers layers) {
  vectors_.clear();
  for (const WantedRows& wanted : wanted_) {
    const auto& parts =
        wanted.decoder->task().pooled_prompt()->result().parts();
    for (size_t part = 0; part < parts.size(); ++part) {
      if (parts[part].layers != layers) continue;
      RETURN_IF_ERROR(ReadPart(wanted, part));
    }
  }
  return vectors_.empty() ? absl::OkStatus() : RunLayers(layers);
}

absl::Status PromptVectors::ReadPart(const WantedRows& wanted, size_t part) {
  Activations& activations = memory_.activations;
  const Matrix x = activations.x({0, activations.max_rows()});
  PooledPrompt& prompt = *wanted.decoder->task().pooled_prompt();
  const EncoderTask::Part& read = prompt.result().parts()[part];
  const int width = WidthOf(read.layers);
  for (int offset = 0; offset < wanted.rows; ++offset) {
    const int place = static_cast<int>(vectors_.size());
    float* const dst = buffer_.rows(0, place + 1, width).row(place);
    if (!prompt.Read(part, offset, x.row(wanted.first + offset), dst)) {
      continue;
    }
    vectors_.push_back({&prompt, &read, prompt.IndexOf(part, offset)});
    if (vectors_.size() < kMaxHeadRows) continue;
    RETURN_IF_ERROR(RunLayers(read.layers));
    vectors_.clear();
  }
  return absl::OkStatus();
}

int PromptVectors::WidthOf(EncoderTask::Layers layers) const {
  const TransformerSpec& spec = memory_.transformer.spec();
  return layers == EncoderTask::Layers::kEmbed ? spec.PooledWidth()
                                               : spec.hidden;
}

absl::Status PromptVectors::RunLayers(EncoderTask::Layers layers) {
  const int rows = static_cast<int>(vectors_.size());
  const OpTimer timer({.name = "head", .rows = rows});
  Matrix result = buffer_.rows(0, rows, WidthOf(layers));
  if (const Head* const head = HeadOf(memory_.transformer, layers)) {
    ASSIGN_OR_RETURN(result, head->Run(memory_.exec, buffer_, result));
  }
  for (int row = 0; row < rows; ++row) {
    const Vector& vector = vectors_[row];
    vector.prompt->result().Take(*vector.part, vector.index, result.row(row));
  }
  return absl::OkStatus();
}

}  // namespace attend
