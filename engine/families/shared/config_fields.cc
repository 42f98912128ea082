#include "engine/families/shared/config_fields.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
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
    {"relu2", Activation::kReluSquared},
    {"silu", Activation::kSilu},
    {"swish", Activation::kSilu},
    {"tanh", Activation::kTanh},
    {"linear", Activation::kNone},
};

// The part of a class's name that says what it computes on top of its model:
// "ForMaskedLM" of "BertForMaskedLM". Empty for a class without a head
// ("BertModel").
absl::string_view HeadName(absl::string_view name) {
  if (absl::EndsWith(name, "LMHeadModel")) return "ForCausalLM";
  constexpr absl::string_view kEncoder = "EncoderModel";
  if (absl::EndsWith(name, kEncoder)) return kEncoder;
  const size_t at = name.rfind("For");
  const size_t next = at + 3;
  // "RoFormerModel" has no head.
  if (at == absl::string_view::npos || next >= name.size() ||
      !absl::ascii_isupper(static_cast<unsigned char>(name[next]))) {
    return {};
  }
  return name.substr(at);
}

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
  // Finds the first supported class with the same head as one of the names.
  for (const std::string& name : names) {
    for (const absl::string_view known : supported) {
      if (known == name) return name;
    }
  }
  for (const std::string& name : names) {
    const absl::string_view head = HeadName(name);
    if (head.empty()) continue;
    for (const absl::string_view known : supported) {
      if (HeadName(known) == head) return std::string(known);
    }
    return config.Unexpected("architectures",
                             absl::StrCat(supported.size() > 1 ? "one of " : "",
                                          absl::StrJoin(supported, ", ")));
  }
  return std::string();
}

absl::StatusOr<bool> NamesNoHead(const JsonFile& config) {
  if (!config.Has("architectures")) return false;
  ASSIGN_OR_RETURN(const std::vector<std::string> names,
                   config.Strings("architectures"));
  return !names.empty() &&
         std::all_of(names.begin(), names.end(), [](const std::string& name) {
           return absl::EndsWith(name, "Model") && HeadName(name).empty() &&
                  !absl::EndsWith(name, "HeadsModel");
         });
}

absl::Status CheckDecoderOf(const JsonFile& config,
                            absl::string_view supported) {
  RETURN_IF_ERROR(Architecture(config, {supported}).status());
  RETURN_IF_ERROR(ExpectFlags(config, {"is_causal"}, true));
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
