#ifndef ATTEND_ENGINE_FAMILIES_SHARED_ENCODER_HEADS_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_ENCODER_HEADS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/families/shared/family.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// Heads of encoders: which one config.json's class has, its layers, labels.

// A class of transformers and the head it has, if any.
struct HeadClass {
  absl::string_view name;  // "BertForMaskedLM"
  std::optional<HeadKind> head = std::nullopt;
};

// Of the class that config.json names, which must be one of `classes`; none
// where it names none.
absl::StatusOr<std::optional<HeadKind>> HeadOf(
    const JsonFile& config, absl::Span<const HeadClass> classes);

// Labels of a head and how their scores are read, as the pipelines of
// transformers and CrossEncoder of sentence-transformers have it.
absl::Status ReadLabels(const JsonFile& config, HeadKind head, Family& family);

// The function that a CrossEncoder was trained with, by the name of its class;
// none where the key is absent.
absl::StatusOr<std::optional<LabelScores>> NamedScores(const JsonFile& config,
                                                       absl::string_view key);

// A layer of a head and what the checkpoint calls it.
struct HeadLayer {
  std::string tensor;     // "classifier.dense"
  DenseSpec spec;         // where `out` is 0: the number of labels
  std::string norm = {};  // "head.norm", where spec has one
  Parts parts = Parts::kWeightAndBias;
  Parts norm_parts = Parts::kWeightAndBias;
};

// A head of these layers.
void AddHead(HeadKind head, absl::Span<const HeadLayer> layers, Family& family);

// A masked-LM head: a layer, and the vocabulary's projection "<decoder>.weight"
// with its bias. A checkpoint that does not have the projection shares the
// embeddings' matrix, unless config.json says that it does not. `bias` are
// tensors of which the first is the projection's bias; empty: it has none.
absl::Status AddMaskedLm(const JsonFile& config, const HeadLayer& layer,
                         const std::string& decoder,
                         const std::vector<std::string>& bias, Family& family);

// The heads of a family whose labels of tokens are one layer "classifier".
struct UsualHeads {
  std::vector<HeadLayer> sequence;
  HeadLayer masked_lm;
  std::string decoder;  // these two as in AddMaskedLm
  std::vector<std::string> decoder_bias;
};

// The one of them that config.json's class has, which must be one of `classes`,
// and its labels.
absl::Status AddUsualHead(const JsonFile& config,
                          absl::Span<const HeadClass> classes,
                          const UsualHeads& heads, Family& family);

// RoBERTa's (Liu et al. 2019), which others took over by name and shape.
UsualHeads RobertaHeads(const TransformerSpec& spec);

// The model without its head, whose tensors may be there or not.
void DropHead(Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_ENCODER_HEADS_H_
