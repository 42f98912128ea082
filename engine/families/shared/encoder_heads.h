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

// Heads of encoders: which head the class in config.json has, its layers and
// its labels.

// A class of transformers, and its head if it has one.
struct HeadClass {
  absl::string_view name;  // "BertForMaskedLM"
  std::optional<HeadKind> head = std::nullopt;
  // The tensor of the head's last layer; empty: as in other classes.
  absl::string_view last = {};
};

// The class that config.json names, which must be one of `classes`. Null: it
// names none.
absl::StatusOr<const HeadClass*> ClassOf(const JsonFile& config,
                                         absl::Span<const HeadClass> classes);

// The head of the class that config.json names, which must be one of `classes`.
// nullopt if that class has no head, or if no class is named.
absl::StatusOr<std::optional<HeadKind>> HeadOf(
    const JsonFile& config, absl::Span<const HeadClass> classes);

// Reads the labels of a head and how scores become probabilities, as the
// pipelines of transformers and CrossEncoder of sentence-transformers do.
// `count`: labels that there are if config.json does not say.
absl::Status ReadLabels(const JsonFile& config, HeadKind head, Family& family,
                        int count = 2);

// The function that a CrossEncoder was trained with, by the class name in
// `key`; nullopt if the key is absent.
absl::StatusOr<std::optional<LabelScores>> NamedScores(const JsonFile& config,
                                                       absl::string_view key);

// A layer of a head, and its tensors.
struct HeadLayer {
  std::string tensor;     // "classifier.dense"
  DenseSpec spec;         // an `out` of 0 means: the number of labels
  std::string norm = {};  // "head.norm", if spec has a norm
  Bias bias = Bias::kYes;
  Bias norm_bias = Bias::kYes;
};

// Adds a head of these layers.
void AddHead(HeadKind head, absl::Span<const HeadLayer> layers, Family& family);

// Adds a masked-LM head: a layer, and the vocabulary projection
// "<decoder>.weight" with its bias. If the checkpoint has no such tensor, the
// projection is tied to the embedding, unless config.json says that it is not.
// `bias`: alternatives for the tensor of the bias; empty: there is no bias.
absl::Status AddMaskedLm(const JsonFile& config, const HeadLayer& layer,
                         const std::string& decoder,
                         const std::vector<std::string>& bias, Family& family);

// The heads of a family in which the labels of tokens come from one layer
// "classifier", and spans from one layer "qa_outputs".
struct UsualHeads {
  std::vector<HeadLayer> sequence;
  std::vector<HeadLayer> choice = {};  // empty: no class has this head
  Pooling choice_pooling = Pooling::kCls;
  HeadLayer masked_lm;
  std::string decoder;  // this and the next one: see AddMaskedLm()
  std::vector<std::string> decoder_bias;
};

// Adds the head of the class that config.json names, which must be one of
// `classes`, and reads the labels.
absl::Status AddUsualHead(const JsonFile& config,
                          absl::Span<const HeadClass> classes,
                          const UsualHeads& heads, Family& family);

// BERT's heads (Devlin et al. 2019); the pooler has `prefix` ("bert.").
UsualHeads BertHeads(const TransformerSpec& spec, const std::string& prefix);

// RoBERTa's heads (Liu et al. 2019). Other families use the same names and
// shapes. `prefix`: "roberta.", of the encoder's tensors.
UsualHeads RobertaHeads(const TransformerSpec& spec,
                        const std::string& prefix = "roberta.");

// Removes the head. Its tensors may still be in the checkpoint.
void DropHead(Family& family);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_ENCODER_HEADS_H_
