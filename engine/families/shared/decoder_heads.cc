#include "engine/families/shared/decoder_heads.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr char kDecoder[] = "decoder.";
constexpr char kLogits[] = "logits.";
constexpr char kProjection[] = "logits.projection.weight";
constexpr char kFirstMap[] = "head.0.weight";

bool AnyReads(const std::vector<NameRow>& rows, const std::string& tensor) {
  return std::any_of(rows.begin(), rows.end(), [&](const NameRow& row) {
    return std::find(row.tensors.begin(), row.tensors.end(), tensor) !=
           row.tensors.end();
  });
}

// Moves the rows of the vocabulary projection to the unused tensors.
void DropLogits(Family& family) {
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

NameRow* FindRow(NameTable& names, absl::string_view slot) {
  const auto found =
      std::find_if(names.rows.begin(), names.rows.end(),
                   [&](const NameRow& row) { return row.slot == slot; });
  return found == names.rows.end() ? nullptr : &*found;
}

// Returns true if the decoder's vectors are mapped to another width, whatever
// reads them.
bool MapsVectors(const TransformerSpec& spec) {
  const auto& projection = spec.logits_projection;
  return projection && projection->activation == Activation::kNone &&
         !projection->norm;
}

// Adds a head, after the map of the decoder's vectors if there is one.
void AddDecoderHead(HeadKind kind, std::vector<HeadLayer> layers,
                    Family& family) {
  std::vector<std::string> mapped;
  if (MapsVectors(family.spec)) {
    mapped = FindRow(family.names, kProjection)->tensors;
    layers.insert(layers.begin(), {.tensor = mapped.front(),
                                   .spec = {family.spec.logits_projection->out},
                                   .bias = Bias::kNo});
  }
  DropLogits(family);
  AddHead(kind, layers, family);
  if (!mapped.empty()) FindRow(family.names, kFirstMap)->tensors = mapped;
}

absl::StatusOr<int> PaddingId(const JsonFile& config, int fallback, int vocab) {
  if (config.IsNull("pad_token_id") || fallback >= vocab) fallback = -1;
  return NumberOr(config, "pad_token_id", fallback, {-1, vocab - 1});
}

// The matrix of the scores reads the last token that is no padding.
absl::Status AddScoreHead(const JsonFile& config, const DecoderClasses& classes,
                          Family& family) {
  RETURN_IF_ERROR(ReadLabels(config, HeadKind::kSequence, family));
  AddDecoderHead(HeadKind::kSequence, classes.labels, family);
  family.spec.head->pooling = Pooling::kLast;
  ASSIGN_OR_RETURN(family.spec.head->padding_id,
                   PaddingId(config, classes.padding_id,
                             family.spec.decoder->embedding.vocab));
  return absl::OkStatus();
}

absl::Status AddTokenHead(const JsonFile& config, const std::string& layer,
                          Family& family) {
  RETURN_IF_ERROR(ReadLabels(config, HeadKind::kTokens, family));
  AddDecoderHead(HeadKind::kTokens, {{.tensor = layer, .spec = {}}}, family);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDecoderAlone(const JsonFile& config) {
  return ExpectFlags(config, {"add_cross_attention", "is_encoder_decoder"},
                     false);
}

absl::Status UseDecoderAs(const JsonFile& config, const DecoderClasses& classes,
                          Family& family) {
  const std::string generates = classes.name + classes.generates;
  const std::string labels = classes.name + "ForSequenceClassification";
  const std::string tokens = classes.name + "ForTokenClassification";
  std::vector<absl::string_view> supported = {generates, labels};
  if (!classes.token_layer.empty()) supported.push_back(tokens);
  ASSIGN_OR_RETURN(const std::string architecture,
                   Architecture(config, supported));
  const bool has_head = architecture == labels || architecture == tokens;
  if (has_head || !classes.both_ways) {
    RETURN_IF_ERROR(ExpectFlags(config, {"is_causal"}, true));
  }
  if (architecture == labels) {
    return AddScoreHead(config, classes, family);
  }
  if (has_head) return AddTokenHead(config, classes.token_layer, family);
  ASSIGN_OR_RETURN(const bool causal, config.BoolOr("is_causal", true));
  if (causal) return absl::OkStatus();
  for (LayerSpec& layer : family.spec.decoder->layers) {
    // An encoder does not count the token itself in sliding_window.
    if (layer.self_attention.window > 0) ++layer.self_attention.window;
  }
  return SeeBothWays(family);
}

absl::Status PoolDecoder(Family& family) {
  if (MapsVectors(family.spec)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the decoder does not generate, and its vectors are mapped to ",
        family.spec.logits_projection->out,
        " numbers: embeddings only of a decoder that maps them to logits "
        "alone (OPT: word_embed_proj_dim as hidden_size)"));
  }
  DropLogits(family);
  return absl::OkStatus();
}

absl::Status SeeBothWays(Family& family) {
  RETURN_IF_ERROR(PoolDecoder(family));
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
  return absl::OkStatus();
}

}  // namespace attend
