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

// The state of one request on a transformer: its source, if it has one, and
// what is made of it.
class TransformerSequence final : public Sequence {
 public:
  // Either ends with the encode, or goes on in a decoder.
  using Outcome =
      std::variant<std::unique_ptr<EncoderTask>, std::unique_ptr<DecoderRows>>;

  // `source`: null if the decoder continues a prompt. An EncoderTask has one.
  TransformerSequence(std::unique_ptr<SourceEncode> source, Outcome outcome)
      : source_(std::move(source)), outcome_(std::move(outcome)) {}

  Work Next() const override;
  const SequenceOutput& output() const override;
  int max_blocks() const override;
  int blocks() const override;
  // The longest source or prompt with which the request, whose own has
  // `tokens`, fits so many blocks; below 1: none.
  int TokensThatFit(int tokens, int blocks) const;

  // Gives all memory back; what was computed is computed again.
  void Preempt();

  SourceEncode* source() const { return source_.get(); }
  // Null if the outcome is the other.
  EncoderTask* encoder_task() const;
  DecoderRows* decoder_rows() const;

 private:
  const std::unique_ptr<SourceEncode> source_;
  const Outcome outcome_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_TRANSFORMER_SEQUENCE_H_
