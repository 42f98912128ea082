#ifndef ATTEND_ENGINE_RUNTIME_TRANSFORMER_SEQUENCE_H_
#define ATTEND_ENGINE_RUNTIME_TRANSFORMER_SEQUENCE_H_

#include <memory>
#include <utility>
#include <variant>

#include "engine/api/engine.h"
#include "engine/runtime/decoder_rows.h"
#include "engine/runtime/encoder_task.h"
#include "engine/runtime/source_encode.h"

namespace attend {

// The state of one request: its source, if it has one, and its outcome.
class TransformerSequence final : public Sequence {
 public:
  // What the request computes: results of the encoder, or rows of the decoder.
  using Outcome =
      std::variant<std::unique_ptr<EncoderTask>, std::unique_ptr<DecoderRows>>;

  // `source` is null if the decoder continues a prompt. An EncoderTask needs a
  // source.
  TransformerSequence(std::unique_ptr<SourceEncode> source, Outcome outcome)
      : source_(std::move(source)), outcome_(std::move(outcome)) {}

  Work Next() const override;
  const SequenceOutput& output() const override;
  absl::Status status() const override;
  int max_blocks() const override;
  int blocks() const override;
  // The request's source or prompt has `tokens` tokens. Returns the longest
  // source or prompt with which the request needs no more than `blocks` blocks;
  // below 1: none is short enough.
  int TokensThatFit(int tokens, int blocks) const;

  // Gives all memory back. Everything is computed again later.
  void Preempt();

  SourceEncode* source() const { return source_.get(); }
  // Null if the outcome is of the other kind.
  EncoderTask* encoder_task() const;
  DecoderRows* decoder_rows() const;

 private:
  const std::unique_ptr<SourceEncode> source_;
  const Outcome outcome_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_TRANSFORMER_SEQUENCE_H_
