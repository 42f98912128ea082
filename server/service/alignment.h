#ifndef ATTEND_SERVER_SERVICE_ALIGNMENT_H_
#define ATTEND_SERVER_SERVICE_ALIGNMENT_H_

#include <vector>

#include "absl/status/status.h"
#include "attend/v1/attend.pb.h"
#include "engine/api/engine.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "server/service/source.h"

namespace attend {

// The alignments of the results of a call. The sources of a call are read on
// one thread after the other, one input at a time.
class SourceAlignments {
 public:
  // INVALID_ARGUMENT if `kind` is unknown, or if the model has no alignments.
  absl::Status Prepare(v1::Alignments kind, int inputs, const ModelInfo& model);

  // True if the engine is to compute alignments.
  bool wanted() const { return kind_ != v1::ALIGNMENTS_NONE; }
  // Keeps what results will show of the source of an input.
  void Read(int input, const Source& source, const Tokenizer& tokenizer);

  // The tokens of a source. Only if alignments are wanted.
  const std::vector<v1::SourceToken>& source(int input) const {
    return sources_[input];
  }
  // Fills the alignment of a result; only if alignments are wanted.
  void Fill(int input, const ChoiceOutput& choice, v1::Alignment& to) const;
  // Adds the tokens of a source, if alignments are wanted.
  void FillSource(
      int input, google::protobuf::RepeatedPtrField<v1::SourceToken>* to) const;

 private:
  v1::Alignments kind_ = v1::ALIGNMENTS_NONE;
  std::vector<std::vector<v1::SourceToken>> sources_;  // [inputs]
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_ALIGNMENT_H_
