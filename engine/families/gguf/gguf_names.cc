#include "engine/families/gguf/gguf_names.h"

#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/families/shared/tensor_names.h"

namespace attend {
namespace {

// Adds the names of a stack's layers. Slots begin with `slots`, "decoder.{}.";
// tensors with `tensors`, "blk.{}.".
class LayerNames {
 public:
  LayerNames(const GgufFile& file, std::string slots, std::string tensors,
             NameTable& names)
      : file_(file),
        slots_(std::move(slots)),
        tensors_(std::move(tensors)),
        names_(names) {}

  // Whether the first layer has this matrix.
  bool Has(const char* tensor) const { return InFirst(tensor, ".weight"); }
  void Add(std::initializer_list<SlotName> list) {
    for (const SlotName& name : list) {
      AddList(slots_, {tensors_}, {name}, BiasOf(name.tensor), names_);
    }
  }
  // Query, key and value: three tensors, or `attn_qkv`. Queries and keys are
  // `interleaved`: see TensorSlices.
  void AddQkv(const AttentionSpec& attention, int interleaved);
  // Without a tensor of its own, the gate is the first half of ffn_up.
  void AddFeedForward(bool gated);

 private:
  bool InFirst(const char* tensor, const char* ending) const {
    return file_.Has(absl::StrCat(absl::StrReplaceAll(tensors_, {{"{}", "0"}}),
                                  tensor, ending));
  }
  Bias BiasOf(const char* tensor) const {
    return InFirst(tensor, ".bias") ? Bias::kYes : Bias::kNo;
  }
  // Slots that are `heads` of the rows of attn_qkv, a head being a slice.
  void AddHeads(const AttentionSpec& attention);

  const GgufFile& file_;
  const std::string slots_;
  const std::string tensors_;
  NameTable& names_;
};

void LayerNames::AddHeads(const AttentionSpec& attention) {
  const int total = attention.heads + 2 * attention.kv_heads;
  const auto add = [&](const char* slot, int first, int heads) {
    const size_t begin = names_.rows.size();
    Add({{slot, "attn_qkv"}});
    for (size_t row = begin; row < names_.rows.size(); ++row) {
      names_.rows[row].slices = {
          .first = first, .taken = heads, .total = total};
    }
  };
  add("self.q", 0, attention.heads);
  add("self.k", attention.heads, attention.kv_heads);
  add("self.v", attention.heads + attention.kv_heads, attention.kv_heads);
}

void LayerNames::AddQkv(const AttentionSpec& attention, int interleaved) {
  if (Has("attn_qkv")) return AddHeads(attention);
  const size_t begin = names_.rows.size();
  Add({{"self.q", "attn_q"}, {"self.k", "attn_k"}});
  for (size_t row = begin; row < names_.rows.size(); ++row) {
    names_.rows[row].slices.interleaved = interleaved;
  }
  Add({{"self.v", "attn_v"}});
}

void LayerNames::AddFeedForward(bool gated) {
  if (!gated) {
    Add({{"ffn.in", "ffn_up"}});
  } else if (Has("ffn_gate")) {
    Add({{"ffn.gate", "ffn_gate"}, {"ffn.in", "ffn_up"}});
  } else {
    static constexpr const char* kGated[] = {"ffn.gate", "ffn.in"};
    AddSlices(slots_, kGated, {tensors_ + "ffn_up"}, BiasOf("ffn_up"), names_);
  }
  Add({{"ffn.out", "ffn_down"}});
}

bool IsGated(const StackSpec& stack) {
  return stack.layers.front().feed_forward.gated;
}

void AddEnds(const GgufFile& file, NameTable& names) {
  const Bias norm_bias = file.Has("output_norm.bias") ? Bias::kYes : Bias::kNo;
  AddInAndOut(!file.Has("output.weight"), {"token_embd.weight"},
              {"output.weight"}, names);
  AddWeights("decoder.norm", {"output_norm"}, norm_bias, names);
}

}  // namespace

NameTable LlamaGgufNames(const GgufFile& file, const TransformerSpec& spec,
                         bool interleaved) {
  const LayerSpec& layer = spec.decoder->layers.front();
  const AttentionSpec& attention = layer.self_attention;
  NameTable names;
  AddEnds(file, names);
  LayerNames layers(file, "decoder.{}.", "blk.{}.", names);
  layers.Add({{"self.norm", "attn_norm"}, {"ffn.norm", "ffn_norm"}});
  if (layer.branch_norm) {
    layers.Add({{"self.branch_norm", "post_attention_norm"},
                {"ffn.branch_norm", "post_ffw_norm"}});
  }
  if (attention.head_norm) {
    layers.Add(
        {{"self.q.norm", "attn_q_norm"}, {"self.k.norm", "attn_k_norm"}});
  }
  layers.AddQkv(attention, interleaved ? attention.head_dim : 0);
  layers.Add({{"self.out", "attn_output"}});
  layers.AddFeedForward(/*gated=*/true);
  // Their numbers are in the spec.
  AddUnused({"rope_freqs.", "rope_factors_long.", "rope_factors_short."},
            {"weight"}, names);
  return names;
}

NameTable GptGgufNames(const GgufFile& file, const TransformerSpec& spec) {
  NameTable names;
  AddEnds(file, names);
  if (spec.decoder->embedding.positions == Positions::kLearned) {
    AddTensor("decoder.embedding.positions", {"position_embd.weight"}, names);
  }
  if (spec.decoder->embedding.norm) {
    AddWeights("decoder.embedding.norm", {"token_embd_norm"}, Bias::kYes,
               names);
  }
  LayerNames layers(file, "decoder.{}.", "blk.{}.", names);
  layers.Add({{"self.norm", "attn_norm"},
              {"self.out", "attn_output"},
              {"ffn.norm", "ffn_norm"}});
  layers.AddQkv(spec.decoder->layers.front().self_attention, 0);
  layers.AddFeedForward(/*gated=*/false);
  return names;
}

NameTable BertGgufNames(const GgufFile& file, const TransformerSpec& spec) {
  const EmbeddingSpec& embedding = spec.encoder->embedding;
  NameTable names;
  AddTensor("encoder.embedding.tokens", {"token_embd.weight"}, names);
  if (embedding.positions == Positions::kLearned) {
    AddTensor("encoder.embedding.positions", {"position_embd.weight"}, names);
  }
  if (embedding.token_types > 0) {
    AddTensor("encoder.embedding.types", {"token_types.weight"}, names);
  }
  AddWeights("encoder.embedding.norm", {"token_embd_norm"}, Bias::kYes, names);
  LayerNames layers(file, "encoder.{}.", "blk.{}.", names);
  layers.AddQkv(spec.encoder->layers.front().self_attention, 0);
  layers.Add({{"self.out", "attn_output"},
              {"self.norm", "attn_output_norm"},
              {"ffn.norm", "layer_output_norm"}});
  layers.AddFeedForward(IsGated(*spec.encoder));
  return names;
}

NameTable T5GgufNames(const GgufFile& file, const TransformerSpec& spec) {
  NameTable names;
  AddTensor("encoder.embedding.tokens", {"token_embd.weight"}, names);
  AddInAndOut(!file.Has("output.weight"), {"token_embd.weight"},
              {"output.weight"}, names);
  for (const auto& [stack, tensors] :
       {std::pair<std::string, std::string>("encoder", "enc."),
        std::pair<std::string, std::string>("decoder", "dec.")}) {
    LayerNames layers(file, stack + ".{}.", tensors + "blk.{}.", names);
    layers.Add({{"self.q", "attn_q"},
                {"self.k", "attn_k"},
                {"self.v", "attn_v"},
                {"self.out", "attn_o"},
                {"self.norm", "attn_norm"},
                {"ffn.norm", "ffn_norm"}});
    if (stack == "decoder") {
      layers.Add({{"cross.q", "cross_attn_q"},
                  {"cross.k", "cross_attn_k"},
                  {"cross.v", "cross_attn_v"},
                  {"cross.out", "cross_attn_o"},
                  {"cross.norm", "cross_attn_norm"}});
    }
    layers.AddFeedForward(IsGated(*spec.encoder));
    AddWeights(stack + ".norm", {tensors + "output_norm"}, Bias::kNo, names);
    AddTensor(stack + ".relative_bias", {tensors + "blk.0.attn_rel_b.weight"},
              names);
  }
  // Saved by early programs, but never used.
  AddUnused({"dec.blk.0.cross_attn_rel_b."}, {"weight"}, names);
  return names;
}

}  // namespace attend
