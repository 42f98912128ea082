#include "engine/families/ctranslate2/ct2_names.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/families/shared/tensor_names.h"

namespace attend {
namespace {

// Adds rows to a table, as far as the file has their tensors in layer 0.
class Rows {
 public:
  Rows(const Ct2Model& model, NameTable& names)
      : model_(model), names_(names) {}

  void Add(const std::string& slot, const std::string& tensor,
           const TensorSlices& slices = {}) {
    if (!model_.Has(absl::StrReplaceAll(tensor, {{"{}", "0"}}))) return;
    AddTensor(slot, {tensor}, names_);
    names_.rows.back().slices = slices;
  }
  void AddLinear(const std::string& slot, const std::string& tensor,
                 const TensorSlices& slices = {}) {
    AddTensor(slot + ".weight", {tensor + "/weight"}, names_);
    names_.rows.back().slices = slices;
    Add(slot + ".bias", tensor + "/bias", slices);
  }
  void AddNorm(const std::string& slot, const std::string& tensor) {
    AddTensor(slot + ".weight", {tensor + "/gamma"}, names_);
    Add(slot + ".bias", tensor + "/beta");
  }

 private:
  const Ct2Model& model_;
  NameTable& names_;
};

void AddSelf(const AttentionSpec& attention, const std::string& slot,
             const std::string& tensor, Rows& rows) {
  const int heads = attention.heads;
  const int kv_heads = attention.kv_heads;
  const int total = heads + 2 * kv_heads;
  const std::string qkv = tensor + "linear_0";
  rows.AddLinear(slot + "q", qkv, {.taken = heads, .total = total});
  rows.AddLinear(slot + "k", qkv,
                 {.first = heads, .taken = kv_heads, .total = total});
  rows.AddLinear(
      slot + "v", qkv,
      {.first = heads + kv_heads, .taken = kv_heads, .total = total});
  rows.AddLinear(slot + "out", tensor + "linear_1");
  rows.AddNorm(slot + "norm", tensor + "layer_norm");
  if (!attention.head_norm) return;
  rows.AddNorm(slot + "q.norm", tensor + "q_norm");
  rows.AddNorm(slot + "k.norm", tensor + "k_norm");
}

void AddCross(const std::string& slot, const std::string& tensor, Rows& rows) {
  const std::string kv = tensor + "linear_1";
  rows.AddLinear(slot + "q", tensor + "linear_0");
  rows.AddLinear(slot + "k", kv, {.first = 0, .total = 2});
  rows.AddLinear(slot + "v", kv, {.first = 1, .total = 2});
  rows.AddLinear(slot + "out", tensor + "linear_2");
  rows.AddNorm(slot + "norm", tensor + "layer_norm");
}

}  // namespace

std::string Ct2TokenTable(const std::string& stack) {
  // An encoder may have a table for each of several inputs.
  return absl::StrCat(stack, "/embeddings", stack == "encoder" ? "_0" : "",
                      "/weight");
}

void AddCt2Names(const Ct2Model& model, const std::string& name,
                 const StackSpec& stack, NameTable& names) {
  Rows rows(model, names);
  AddTensor(name + ".embedding.tokens", {Ct2TokenTable(name)}, names);
  if (stack.embedding.positions == Positions::kLearned) {
    AddTensor(name + ".embedding.positions",
              {name + "/position_encodings/encodings"}, names);
  }
  if (stack.embedding.norm) {
    rows.AddNorm(name + ".embedding.norm", name + "/layernorm_embedding");
  }
  const LayerSpec& layer = stack.layers.front();
  const std::string slot = name + ".{}.";
  const std::string tensor = name + "/layer_{}/";
  AddSelf(layer.self_attention, slot + "self.", tensor + "self_attention/",
          rows);
  if (layer.cross_attention) {
    AddCross(slot + "cross.", tensor + "attention/", rows);
  }
  const std::string ffn = tensor + "ffn/linear_0";
  rows.AddLinear(slot + "ffn.in",
                 layer.feed_forward.gated ? ffn + "_noact" : ffn);
  if (layer.feed_forward.gated) rows.AddLinear(slot + "ffn.gate", ffn);
  rows.AddLinear(slot + "ffn.out", tensor + "ffn/linear_1");
  rows.AddNorm(slot + "ffn.norm", tensor + "ffn/layer_norm");
  if (layer.norm_place == NormPlace::kPre) {
    rows.AddNorm(name + ".norm", name + "/layer_norm");
  }
  if (stack.relative_bias) {
    constexpr char kBias[] = "/self_attention/relative_attention_bias";
    AddTensor(name + ".relative_bias", {absl::StrCat(name, "/layer_0", kBias)},
              names);
    names.unused.push_back(absl::StrCat(name, "/layer_{}", kBias));
  }
}

}  // namespace attend
