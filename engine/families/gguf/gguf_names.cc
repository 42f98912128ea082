#include "engine/families/gguf/gguf_names.h"

#include <initializer_list>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/families/shared/tensor_names.h"

namespace attend {
namespace {

// Of the matrix or norm "blk.{}.<tensor>".
Bias BiasOf(const GgufFile& file, const char* tensor) {
  const bool has = file.Has(absl::StrCat("blk.0.", tensor, ".bias"));
  return has ? Bias::kYes : Bias::kNo;
}

bool Has(const GgufFile& file, const char* tensor) {
  return file.Has(absl::StrCat("blk.0.", tensor, ".weight"));
}

void AddLayer(const GgufFile& file, std::initializer_list<SlotName> list,
              NameTable& names) {
  for (const SlotName& name : list) {
    AddList("decoder.{}.", {"blk.{}."}, {name}, BiasOf(file, name.tensor),
            names);
  }
}

// Adds slots that are `heads` of the rows of one tensor, a head being a slice.
void AddHeads(const GgufFile& file, const AttentionSpec& attention,
              NameTable& names) {
  const int total = attention.heads + 2 * attention.kv_heads;
  const auto add = [&](const char* slot, int first, int heads) {
    const size_t begin = names.rows.size();
    AddLayer(file, {{slot, "attn_qkv"}}, names);
    for (size_t row = begin; row < names.rows.size(); ++row) {
      names.rows[row].slices = {.first = first, .taken = heads, .total = total};
    }
  };
  add("self.q", 0, attention.heads);
  add("self.k", attention.heads, attention.kv_heads);
  add("self.v", attention.heads + attention.kv_heads, attention.kv_heads);
}

void AddQkv(const GgufFile& file, const AttentionSpec& attention,
            int interleaved, NameTable& names) {
  if (Has(file, "attn_qkv")) return AddHeads(file, attention, names);
  const size_t begin = names.rows.size();
  AddLayer(file, {{"self.q", "attn_q"}, {"self.k", "attn_k"}}, names);
  for (size_t row = begin; row < names.rows.size(); ++row) {
    names.rows[row].slices.interleaved = interleaved;
  }
  AddLayer(file, {{"self.v", "attn_v"}}, names);
}

// Without a tensor of its own, the gate is the first half of ffn_up.
void AddFeedForward(const GgufFile& file, NameTable& names) {
  if (Has(file, "ffn_gate")) {
    AddLayer(file, {{"ffn.gate", "ffn_gate"}, {"ffn.in", "ffn_up"}}, names);
  } else {
    static constexpr const char* kGated[] = {"ffn.gate", "ffn.in"};
    AddSlices("decoder.{}.", kGated, {"blk.{}.ffn_up"}, BiasOf(file, "ffn_up"),
              names);
  }
  AddLayer(file, {{"ffn.out", "ffn_down"}}, names);
}

void AddEnds(const GgufFile& file, Bias norm_bias, NameTable& names) {
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
  AddEnds(file, Bias::kNo, names);
  AddLayer(file, {{"self.norm", "attn_norm"}, {"ffn.norm", "ffn_norm"}}, names);
  if (layer.branch_norm) {
    AddLayer(file,
             {{"self.branch_norm", "post_attention_norm"},
              {"ffn.branch_norm", "post_ffw_norm"}},
             names);
  }
  if (attention.head_norm) {
    AddLayer(file,
             {{"self.q.norm", "attn_q_norm"}, {"self.k.norm", "attn_k_norm"}},
             names);
  }
  AddQkv(file, attention, interleaved ? attention.head_dim : 0, names);
  AddLayer(file, {{"self.out", "attn_output"}}, names);
  AddFeedForward(file, names);
  // Their numbers are in the spec.
  AddUnused({"rope_freqs.", "rope_factors_long.", "rope_factors_short."},
            {"weight"}, names);
  return names;
}

NameTable Gpt2GgufNames(const GgufFile& file) {
  NameTable names;
  AddEnds(file, Bias::kYes, names);
  AddTensor("decoder.embedding.positions", {"position_embd.weight"}, names);
  static constexpr const char* kQkv[] = {"self.q", "self.k", "self.v"};
  AddSlices("decoder.{}.", kQkv, {"blk.{}.attn_qkv"}, Bias::kYes, names);
  static constexpr SlotName kLayer[] = {
      {"self.norm", "attn_norm"}, {"self.out", "attn_output"},
      {"ffn.norm", "ffn_norm"},   {"ffn.in", "ffn_up"},
      {"ffn.out", "ffn_down"},
  };
  AddList("decoder.{}.", {"blk.{}."}, kLayer, Bias::kYes, names);
  return names;
}

}  // namespace attend
