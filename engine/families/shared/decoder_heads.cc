#include "engine/families/shared/decoder_heads.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr char kDecoder[] = "decoder.";
constexpr char kLogits[] = "logits.";

bool AnyReads(const std::vector<NameRow>& rows, const std::string& tensor) {
  return std::any_of(rows.begin(), rows.end(), [&](const NameRow& row) {
    return std::find(row.tensors.begin(), row.tensors.end(), tensor) !=
           row.tensors.end();
  });
}

// The layers of the scores read the last token that is no padding.
absl::Status AddScoreHead(const JsonFile& config,
                          const std::vector<HeadLayer>& layers,
                          Family& family) {
  const int vocab = family.spec.decoder->embedding.vocab;
  PoolDecoder(family);
  RETURN_IF_ERROR(ReadLabels(config, HeadKind::kSequence, family));
  AddHead(HeadKind::kSequence, layers, family);
  family.spec.head->pooling = Pooling::kLast;
  ASSIGN_OR_RETURN(family.spec.head->padding_id,
                   NumberOr(config, "pad_token_id", -1, {-1, vocab - 1}));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDecoderAlone(const JsonFile& config) {
  return ExpectFlags(config, {"add_cross_attention", "is_encoder_decoder"},
                     false);
}

absl::Status UseDecoderAs(const JsonFile& config, const std::string& name,
                          Family& family,
                          const std::vector<HeadLayer>& layers) {
  const std::string generates = name + "ForCausalLM";
  const std::string labels = name + "ForSequenceClassification";
  ASSIGN_OR_RETURN(const std::string architecture,
                   Architecture(config, {generates, labels}));
  ASSIGN_OR_RETURN(const bool causal, config.BoolOr("is_causal", true));
  if (architecture == labels) {
    RETURN_IF_ERROR(ExpectFlags(config, {"is_causal"}, true));
    return AddScoreHead(config, layers, family);
  }
  if (causal) return absl::OkStatus();
  for (LayerSpec& layer : family.spec.decoder->layers) {
    // An encoder does not count the token itself in sliding_window.
    if (layer.self_attention.window > 0) ++layer.self_attention.window;
  }
  SeeBothWays(family);
  return absl::OkStatus();
}

void PoolDecoder(Family& family) {
  std::vector<NameRow> rows;
  std::vector<NameRow> dropped;
  rows.reserve(family.names.rows.size());
  for (NameRow& row : family.names.rows) {
    const bool logits = absl::StartsWith(row.slot, kLogits);
    (logits ? dropped : rows).push_back(std::move(row));
  }
  family.names.rows = std::move(rows);
  for (const NameRow& row : dropped) {
    for (const std::string& tensor : row.tensors) {
      if (AnyReads(family.names.rows, tensor)) continue;
      AddUnused({""}, {tensor}, family.names);
    }
  }
  TransformerSpec& spec = family.spec;
  spec.generates = false;
  spec.logits_scale = 1;
  spec.logits_projection.reset();
  spec.logits_bias = false;
  spec.logits_softcap = 0;
}

void SeeBothWays(Family& family) {
  PoolDecoder(family);
  TransformerSpec& spec = family.spec;
  spec.generates = true;
  spec.encoder = std::move(spec.decoder);
  spec.decoder.reset();
  int& positions = spec.encoder->embedding.max_positions;
  positions = std::min(positions, static_cast<int>(kPositions.max));
  for (NameRow& row : family.names.rows) {
    absl::string_view rest = row.slot;
    if (!absl::ConsumePrefix(&rest, kDecoder)) continue;
    row.slot = absl::StrCat("encoder.", rest);
  }
}

}  // namespace attend
