// TransformerSpec::Validate(): each field of a spec is computed as spec.h says,
// or refused here.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/field_checks.h"
#include "engine/transformer/spec.h"
#include "engine/transformer/validate_distances.h"
#include "engine/transformer/validate_embedding.h"
#include "engine/transformer/validate_layer.h"

namespace attend {
namespace {

// Checks that a layer agrees with the first layer and with the stack.
absl::Status CheckAlike(const std::string& at, const LayerSpec& layer,
                        const std::string& first_at, const StackSpec& stack) {
  const LayerSpec& first = stack.layers.front();
  if (layer.norm_place != first.norm_place) {
    return Unexpected(at + ".norm_place", "another",
                      absl::StrCat("that of ", first_at));
  }
  const std::string self = at + ".self_attention";
  RETURN_IF_ERROR(CheckSameKv(self, layer.self_attention,
                              first_at + ".self_attention",
                              first.self_attention));
  if (stack.relative_bias) {
    RETURN_IF_ERROR(Same(self + ".heads", layer.self_attention.heads,
                         first_at + ", as the relative bias has them",
                         first.self_attention.heads));
  }
  // A row of a step has one length.
  const auto& rotary = layer.self_attention.rotary;
  if (rotary && rotary->by_length() && *rotary != *stack.RotaryByLength()) {
    return Unexpected(self + ".rotary", "by length",
                      "one rotary by length in all layers");
  }
  return absl::OkStatus();
}

// `least`: the fewest layers.
absl::Status CheckStack(const std::string& name, const StackSpec& stack,
                        int hidden, bool beside_encoder, int least) {
  RETURN_IF_ERROR(CheckEmbedding(name + ".embedding", stack.embedding, hidden));
  const auto layer_at = [&](size_t i) {
    return absl::StrCat(name, ".layers[", i, "]");
  };
  RETURN_IF_ERROR(AtLeast(name + ".layers.size()",
                          static_cast<int>(stack.layers.size()), least));
  if (stack.layers.empty()) {
    RETURN_IF_ERROR(Unset(name + ".relative_bias",
                          stack.relative_bias.has_value(), "without layers"));
  }
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    const LayerSpec& layer = stack.layers[i];
    RETURN_IF_ERROR(CheckLayer(layer_at(i), layer, beside_encoder));
    RETURN_IF_ERROR(CheckAlike(layer_at(i), layer, layer_at(0), stack));
  }
  return CheckStoredFrequencies(name, stack);
}

absl::Status CheckEncoder(const StackSpec& encoder, int hidden,
                          bool beside_decoder) {
  // Without layers an encoder is a table of vectors.
  const int least = beside_decoder ? 1 : 0;
  RETURN_IF_ERROR(CheckStack("encoder", encoder, hidden, false, least));
  for (size_t i = 0; i < encoder.layers.size(); ++i) {
    const auto& rotary = encoder.layers[i].self_attention.rotary;
    RETURN_IF_ERROR(
        Unset(absl::StrCat("encoder.layers[", i,
                           "].self_attention.rotary.original_positions"),
              rotary && rotary->by_length(), "in encoders"));
  }
  if (encoder.distances) {
    RETURN_IF_ERROR(CheckDistances("encoder.distances", *encoder.distances));
  }
  if (encoder.convolution) {
    RETURN_IF_ERROR(CheckConvolution("encoder.convolution", encoder, hidden));
  }
  if (!encoder.relative_bias) return absl::OkStatus();
  return CheckBias("encoder.relative_bias", *encoder.relative_bias, false);
}

absl::Status CheckDecoder(const StackSpec& decoder, int hidden,
                          bool beside_encoder) {
  RETURN_IF_ERROR(CheckStack("decoder", decoder, hidden, beside_encoder, 1));
  RETURN_IF_ERROR(Neutral("decoder.embedding.uncounted_id",
                          static_cast<float>(decoder.embedding.uncounted_id),
                          -1, "in decoders"));
  RETURN_IF_ERROR(Neutral("decoder.embedding.dropped_id",
                          static_cast<float>(decoder.embedding.dropped_id), -1,
                          "in decoders"));
  RETURN_IF_ERROR(
      Unset("decoder.distances", decoder.distances.has_value(), "in decoders"));
  RETURN_IF_ERROR(Unset("decoder.convolution", decoder.convolution.has_value(),
                        "in decoders"));
  if (!decoder.relative_bias) return absl::OkStatus();
  return CheckBias("decoder.relative_bias", *decoder.relative_bias, true);
}

// A layer without a map keeps the first numbers of `in`.
absl::Status CheckIdentity(const std::string& at, const DenseSpec& layer,
                           int in) {
  if (layer.out > in) {
    return Unexpected(at + ".out", layer.out,
                      absl::StrCat("at most ", in, " without a linear map"));
  }
  RETURN_IF_ERROR(Unset(at + ".activation",
                        layer.activation != Activation::kNone,
                        "without a linear map"));
  return Unset(at + ".residual", layer.residual, "without a linear map");
}

absl::Status CheckDense(const std::string& at, int in,
                        const std::vector<DenseSpec>& layers) {
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string layer = absl::StrCat(at, ".layers[", i, "]");
    RETURN_IF_ERROR(AtLeast(layer + ".out", layers[i].out, 1));
    if (!layers[i].linear) RETURN_IF_ERROR(CheckIdentity(layer, layers[i], in));
    if (layers[i].norm) {
      RETURN_IF_ERROR(CheckNorm(layer + ".norm", *layers[i].norm));
    }
    in = layers[i].out;
  }
  return absl::OkStatus();
}

// Checks the sparse weights of a route, which is at `at`.
absl::Status CheckSparse(const std::string& at, const SparseSpec& sparse,
                         const TransformerSpec& spec) {
  RETURN_IF_ERROR(CheckDense(at, spec.hidden, sparse.layers));
  RETURN_IF_ERROR(AtLeast(at + ".logs", sparse.logs, 0));
  if (sparse.layers.empty()) {
    const bool logits =
        spec.head && spec.head->kind == HeadKind::kMaskedLm && !spec.decoder;
    return Unset(at, !logits, "without layers or masked-LM logits");
  }
  RETURN_IF_ERROR(
      Same(at + ".layers.back().out", sparse.layers.back().out, "a weight", 1));
  constexpr char kWhere[] = "with layers";
  RETURN_IF_ERROR(Unset(at + ".sums", sparse.sums, kWhere));
  return Same(at + ".logs", sparse.logs, "the default, with layers", 1);
}

// Checks a way to embed a source, and what only the first may have.
absl::Status CheckRoute(const TransformerSpec& spec, int route) {
  const EmbedSpec& embed = spec.Route(route);
  const std::string at =
      route == 0 ? "embed" : absl::StrCat("routes[", route - 1, "]");
  RETURN_IF_ERROR(AtLeast(at + ".poolings.size()",
                          static_cast<int>(embed.poolings.size()), 1));
  RETURN_IF_ERROR(CheckDense(at, spec.PooledWidth(route), embed.layers));
  if (route > 0) {
    constexpr char kWhere[] = "but of the first way to embed a source";
    RETURN_IF_ERROR(Unset(at + ".tokens", embed.tokens.has_value(), kWhere));
    RETURN_IF_ERROR(Unset(at + ".sparse.layers",
                          embed.sparse && !embed.sparse->layers.empty(),
                          kWhere));
  }
  if (!spec.encoder && spec.generates) return absl::OkStatus();
  if (embed.tokens) {
    RETURN_IF_ERROR(
        CheckDense(at + ".tokens", spec.hidden, embed.tokens->layers));
  }
  return embed.sparse ? CheckSparse(at + ".sparse", *embed.sparse, spec)
                      : absl::OkStatus();
}

// Checks the number of logits of heads that always have the same.
absl::Status CheckHeadWidth(const TransformerSpec& spec) {
  const HeadSpec& head = *spec.head;
  if (head.kind != HeadKind::kSpans && head.kind != HeadKind::kChoice) {
    return absl::OkStatus();
  }
  const int width = head.layers.empty() ? spec.hidden : head.layers.back().out;
  const int logits = head.kind == HeadKind::kSpans ? 2 : 1;
  if (width == logits) return absl::OkStatus();
  return Unexpected("head.layers", absl::StrCat("a layer of ", width),
                    absl::StrCat("a last layer of ", logits));
}

// Checks the fields of heads that only decoders have.
absl::Status CheckDecoderHead(const TransformerSpec& spec) {
  const HeadSpec& head = *spec.head;
  constexpr char kWhere[] =
      "but of heads that label sequences, after a decoder";
  const bool decodes = !spec.encoder && head.kind == HeadKind::kSequence;
  RETURN_IF_ERROR(AtLeast("head.padding_id", head.padding_id, -1));
  RETURN_IF_ERROR(AtLeast("head.yes_id", head.yes_id, -1));
  RETURN_IF_ERROR(AtLeast("head.no_id", head.no_id, -1));
  RETURN_IF_ERROR(
      Unset("head.padding_id", !decodes && head.padding_id >= 0, kWhere));
  RETURN_IF_ERROR(Unset("head.yes_id", !decodes && head.yes_id >= 0, kWhere));
  RETURN_IF_ERROR(Unset("head.no_id", head.yes_id < 0 && head.no_id >= 0,
                        "without head.yes_id"));
  if (head.yes_id < 0) return absl::OkStatus();
  const int vocab = spec.decoder->embedding.vocab;
  if (head.yes_id >= vocab || head.no_id >= vocab) {
    return Unexpected(head.yes_id >= vocab ? "head.yes_id" : "head.no_id",
                      head.yes_id >= vocab ? head.yes_id : head.no_id,
                      absl::StrCat("a token below ", vocab));
  }
  return Unset("head.layers", !head.layers.empty(), "with head.yes_id");
}

// Checks the fields of heads that read the decoder beside an encoder.
absl::Status CheckHeadOfDecoder(const TransformerSpec& spec) {
  const HeadSpec& head = *spec.head;
  const bool can_read =
      head.kind != HeadKind::kChoice && head.kind != HeadKind::kMaskedLm;
  if (!spec.encoder || !spec.decoder || !can_read) {
    RETURN_IF_ERROR(Unset("head.reads_decoder", head.reads_decoder,
                          "but of encoder-decoders that label or find spans"));
  }
  RETURN_IF_ERROR(AtLeast("head.first_id", head.first_id, -1));
  if (!head.reads_decoder) {
    constexpr char kWhere[] = "without head.reads_decoder";
    RETURN_IF_ERROR(Unset("head.reads_end", head.reads_end, kWhere));
    RETURN_IF_ERROR(Unset("head.wraps_source", head.wraps_source, kWhere));
    return Unset("head.first_id", head.first_id >= 0, kWhere);
  }
  RETURN_IF_ERROR(Unset("head.pooling", head.pooling != HeadSpec().pooling,
                        "with head.reads_decoder"));
  RETURN_IF_ERROR(Unset("head.reads_end",
                        head.reads_end && head.kind != HeadKind::kSequence,
                        "but of heads that label sequences"));
  RETURN_IF_ERROR(Unset("head.first_id",
                        head.first_id >= 0 && head.wraps_source,
                        "with head.wraps_source"));
  const int vocab = spec.decoder->embedding.vocab;
  if (head.first_id < vocab) return absl::OkStatus();
  return Unexpected("head.first_id", head.first_id,
                    absl::StrCat("a token below ", vocab));
}

// Checks `embed` and `head`; where a decoder generates and there is no encoder,
// both must be unset.
absl::Status CheckHeads(const TransformerSpec& spec) {
  for (int route = 0; route < spec.Routes(); ++route) {
    RETURN_IF_ERROR(CheckRoute(spec, route));
  }
  if (!spec.encoder && spec.generates) {
    const EmbedSpec& embed = spec.embed;
    constexpr char kWhere[] = "without an encoder";
    RETURN_IF_ERROR(Unset("embed.pooled", !embed.pooled, kWhere));
    RETURN_IF_ERROR(Unset("embed.sparse", embed.sparse.has_value(), kWhere));
    RETURN_IF_ERROR(Unset("embed.tokens", embed.tokens.has_value(), kWhere));
    RETURN_IF_ERROR(Unset("embed.poolings",
                          embed.poolings != EmbedSpec().poolings, kWhere));
    RETURN_IF_ERROR(Unset("embed.pools_prompt", !embed.pools_prompt, kWhere));
    RETURN_IF_ERROR(Unset("embed.layers", !embed.layers.empty(), kWhere));
    RETURN_IF_ERROR(Unset("embed.normalize", embed.normalize, kWhere));
    RETURN_IF_ERROR(Unset("routes", !spec.routes.empty(), kWhere));
    return Unset("head", spec.head.has_value(), kWhere);
  }
  if (!spec.head) return absl::OkStatus();
  const HeadSpec& head = *spec.head;
  RETURN_IF_ERROR(CheckDecoderHead(spec));
  RETURN_IF_ERROR(Unset(
      "head.pools_outputs",
      head.pools_outputs && (spec.decoder || head.kind != HeadKind::kSequence),
      "but of encoders that label sequences"));
  if (ReadsTokens(head.kind)) {
    RETURN_IF_ERROR(Unset("head.pooling", head.pooling != HeadSpec().pooling,
                          "but of heads that label sequences"));
  }
  RETURN_IF_ERROR(CheckHeadOfDecoder(spec));
  RETURN_IF_ERROR(CheckHeadWidth(spec));
  if (spec.decoder && head.kind == HeadKind::kMaskedLm) {
    return Unexpected("head.kind", "kMaskedLm",
                      "a decoder or a masked-LM head, not both");
  }
  return CheckDense("head", spec.hidden, head.layers);
}

absl::Status CheckLogits(const TransformerSpec& spec) {
  RETURN_IF_ERROR(Unset("generates",
                        !spec.generates && (spec.encoder || !spec.decoder),
                        "but of a decoder alone"));
  RETURN_IF_ERROR(Positive("logits_scale", spec.logits_scale));
  if (const auto& projection = spec.logits_projection) {
    RETURN_IF_ERROR(AtLeast("logits_projection.out", projection->out, 1));
    if (projection->norm) {
      RETURN_IF_ERROR(CheckNorm("logits_projection.norm", *projection->norm));
    }
  }
  RETURN_IF_ERROR(ZeroOrMore("logits_softcap", spec.logits_softcap));
  if (!spec.decoder || !spec.generates) {
    constexpr char kWhere[] = "without a decoder that generates";
    RETURN_IF_ERROR(Neutral("logits_scale", spec.logits_scale, 1, kWhere));
    RETURN_IF_ERROR(
        Unset("logits_projection", spec.logits_projection.has_value(), kWhere));
  }
  if (spec.LogitsVocab() > 0) return absl::OkStatus();
  constexpr char kWhere[] = "without a vocabulary projection";
  RETURN_IF_ERROR(Unset("logits_bias", spec.logits_bias, kWhere));
  return Neutral("logits_softcap", spec.logits_softcap, 0, kWhere);
}

absl::Status CheckAdapters(const TransformerSpec& spec) {
  if (!spec.adapters) return absl::OkStatus();
  RETURN_IF_ERROR(
      Unset("adapters", spec.decoder.has_value(), "with a decoder"));
  for (const LayerSpec& layer : spec.encoder->layers) {
    RETURN_IF_ERROR(Unset("adapters", layer.feed_forward.experts.has_value(),
                          "beside experts"));
  }
  RETURN_IF_ERROR(AtLeast("adapters.count", spec.adapters->count, 1));
  RETURN_IF_ERROR(AtLeast("adapters.rank", spec.adapters->rank, 1));
  return Positive("adapters.scale", spec.adapters->scale);
}

}  // namespace

absl::Status TransformerSpec::Validate() const {
  RETURN_IF_ERROR(AtLeast("hidden", hidden, 1));
  if (!encoder && !decoder) {
    return Unexpected("encoder", "unset", "an encoder, a decoder, or both");
  }
  if (encoder) {
    RETURN_IF_ERROR(CheckEncoder(*encoder, hidden, decoder.has_value()));
  }
  if (decoder) {
    RETURN_IF_ERROR(CheckDecoder(*decoder, hidden, encoder.has_value()));
  }
  RETURN_IF_ERROR(CheckHeads(*this));
  RETURN_IF_ERROR(CheckAdapters(*this));
  return CheckLogits(*this);
}

}  // namespace attend
