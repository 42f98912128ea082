#include "engine/families/shared/config_fields.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

struct NamedActivation {
  absl::string_view name;
  Activation activation;
};

// The names of ACT2FN in transformers. Several names may mean one function,
// computed in different ways.
constexpr NamedActivation kActivations[] = {
    {"gelu", Activation::kGelu},
    {"gelu_python", Activation::kGelu},
    {"gelu_new", Activation::kGeluTanh},
    {"gelu_fast", Activation::kGeluTanh},
    {"gelu_accurate", Activation::kGeluTanh},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"gelu_python_tanh", Activation::kGeluTanh},
    {"relu", Activation::kRelu},
    {"silu", Activation::kSilu},
    {"swish", Activation::kSilu},
    {"tanh", Activation::kTanh},
    {"linear", Activation::kNone},
};

}  // namespace

absl::StatusOr<int> Number(const JsonFile& config,
                           std::initializer_list<absl::string_view> keys,
                           IntRange range) {
  const auto first =
      std::find_if(keys.begin(), keys.end(),
                   [&](absl::string_view key) { return config.Has(key); });
  ASSIGN_OR_RETURN(
      const int64_t number,
      config.Int(first == keys.end() ? *keys.begin() : *first, range));
  for (const absl::string_view key : keys) {
    RETURN_IF_ERROR(config.IntOr(key, number, {number, number}).status());
  }
  return static_cast<int>(number);
}

absl::StatusOr<int> NumberOr(const JsonFile& config, absl::string_view key,
                             int fallback, IntRange range) {
  ASSIGN_OR_RETURN(const int64_t number, config.IntOr(key, fallback, range));
  return static_cast<int>(number);
}

absl::StatusOr<float> EpsilonOr(const JsonFile& config, absl::string_view key,
                                float fallback) {
  ASSIGN_OR_RETURN(const double epsilon,
                   config.FloatOr(key, fallback, {1e-15, 1}));
  return static_cast<float>(epsilon);
}

absl::StatusOr<Activation> ActivationNamed(const JsonFile& config,
                                           absl::string_view key,
                                           absl::string_view name) {
  for (const NamedActivation& known : kActivations) {
    if (known.name == name) return known.activation;
  }
  return config.Unexpected(
      key,
      absl::StrCat("one of ", absl::StrJoin(kActivations, ", ",
                                            [](std::string* out,
                                               const NamedActivation& known) {
                                              absl::StrAppend(out, known.name);
                                            })));
}

absl::StatusOr<Activation> ActivationOr(const JsonFile& config,
                                        absl::string_view key,
                                        absl::string_view fallback) {
  ASSIGN_OR_RETURN(const std::string name, config.StringOr(key, fallback));
  return ActivationNamed(config, key, name);
}

absl::StatusOr<AttentionSpec> DividedHeads(const JsonFile& config,
                                           absl::string_view key, int heads,
                                           int hidden) {
  if (hidden % heads != 0) {
    return config.Unexpected(
        key, absl::StrCat("a divisor of the hidden size, ", hidden));
  }
  AttentionSpec attention;
  attention.heads = attention.kv_heads = heads;
  attention.head_dim = hidden / heads;
  attention.scale = 1 / std::sqrt(static_cast<float>(attention.head_dim));
  return attention;
}

absl::StatusOr<std::string> Architecture(
    const JsonFile& config, absl::Span<const absl::string_view> supported) {
  if (!config.Has("architectures")) return std::string();
  ASSIGN_OR_RETURN(const std::vector<std::string> names,
                   config.Strings("architectures"));
  if (names.size() != 1 || std::find(supported.begin(), supported.end(),
                                     names[0]) == supported.end()) {
    return config.Unexpected("architectures",
                             absl::StrCat(supported.size() > 1 ? "one of " : "",
                                          absl::StrJoin(supported, ", ")));
  }
  return names[0];
}

absl::Status CheckDecoderOf(const JsonFile& config,
                            absl::string_view supported) {
  RETURN_IF_ERROR(Architecture(config, {supported}).status());
  return ExpectFlags(config, {"add_cross_attention", "is_encoder_decoder"},
                     false);
}

absl::Status ExpectFlags(const JsonFile& config,
                         absl::Span<const absl::string_view> keys,
                         bool expected) {
  for (const absl::string_view key : keys) {
    ASSIGN_OR_RETURN(const bool flag, config.BoolOr(key, expected));
    if (flag != expected) {
      return config.Unexpected(key, expected ? "true" : "false");
    }
  }
  return absl::OkStatus();
}

}  // namespace attend
