#include "engine/runtime/transformer_sequence.h"

namespace attend {

EncoderTask* TransformerSequence::encoder_task() const {
  const auto* task = std::get_if<std::unique_ptr<EncoderTask>>(&outcome_);
  return task == nullptr ? nullptr : task->get();
}

DecoderRows* TransformerSequence::decoder_rows() const {
  const auto* rows = std::get_if<std::unique_ptr<DecoderRows>>(&outcome_);
  return rows == nullptr ? nullptr : rows->get();
}

Work TransformerSequence::Next() const {
  if (output().finished) return {};
  if (source_ != nullptr && !source_->done()) return source_->Next();
  return decoder_rows()->Next();
}

const SequenceOutput& TransformerSequence::output() const {
  if (const EncoderTask* task = encoder_task()) return task->output();
  return decoder_rows()->task().output();
}

absl::Status TransformerSequence::status() const {
  const EncoderTask* const task = encoder_task();
  const bool finite =
      task != nullptr ? task->finite() : decoder_rows()->finite();
  if (finite) {
    return task != nullptr ? absl::OkStatus() : decoder_rows()->status();
  }
  return absl::InternalError(
      "the model gives numbers that are not finite for this input");
}

int TransformerSequence::max_blocks() const {
  const DecoderRows* const rows = decoder_rows();
  return (source_ != nullptr ? source_->max_blocks() : 0) +
         (rows != nullptr ? rows->max_blocks() : 0);
}

int TransformerSequence::blocks() const {
  const DecoderRows* const rows = decoder_rows();
  return (source_ != nullptr ? source_->own_blocks() : 0) +
         (rows != nullptr ? rows->own_blocks() : 0);
}

int TransformerSequence::TokensThatFit(int tokens, int blocks) const {
  const DecoderRows& rows = *decoder_rows();
  if (source_ == nullptr) return rows.TokensThatFit(tokens, blocks);
  return (blocks - rows.max_blocks()) * rows.block_tokens();
}

void TransformerSequence::Preempt() {
  if (source_ != nullptr) source_->Clear();
  if (DecoderRows* rows = decoder_rows()) rows->Clear();
}

}  // namespace attend
