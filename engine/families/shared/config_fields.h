#ifndef ATTEND_ENGINE_FAMILIES_SHARED_CONFIG_FIELDS_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_CONFIG_FIELDS_H_

#include <initializer_list>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/json/json_file.h"
#include "engine/transformer/spec.h"

namespace attend {

// Fields of config.json that families share, checked. Every error is
// INVALID_ARGUMENT and names the file, the field, its value and what is
// expected.

// Ranges of sizes: far above every model that exists, far below what would
// overflow an int or allocate without bound.
inline constexpr IntRange kVocab = {1, 1 << 22};
inline constexpr IntRange kHidden = {2, 1 << 14};
inline constexpr IntRange kHeads = {1, 256};
inline constexpr IntRange kHeadDim = {1, 1 << 12};
inline constexpr IntRange kWidth = {1, 1 << 17};
inline constexpr IntRange kLayers = {1, 128};
inline constexpr IntRange kExperts = {1, 1 << 10};
inline constexpr IntRange kPositions = {2, 1 << 18};
// Positions that take no table of the model: memory limits them.
inline constexpr IntRange kComputedPositions = {2, 1 << 24};
inline constexpr IntRange kWindow = {1, 1 << 20};
inline constexpr IntRange kTokenId = {0, (1 << 22) - 1};
inline constexpr IntRange kTokenTypes = {0, 1 << 10};

// A number whose field has several names in transformers. If the file has more
// than one of `keys`, their values must agree; if it has none, that is an
// error.
absl::StatusOr<int> Number(const JsonFile& config,
                           std::initializer_list<absl::string_view> keys,
                           IntRange range);
// A number; `fallback` (unchecked) if the key is absent.
absl::StatusOr<int> NumberOr(const JsonFile& config, absl::string_view key,
                             int fallback, IntRange range);

// The epsilon of a norm; `fallback` if the key is absent.
absl::StatusOr<float> EpsilonOr(const JsonFile& config, absl::string_view key,
                                float fallback);

// The activation that transformers calls `name`. Several names mean the same
// function. `key` is named in the error. The second function reads the name
// from `key`; `fallback` is the name if the key is absent.
absl::StatusOr<Activation> ActivationNamed(const JsonFile& config,
                                           absl::string_view key,
                                           absl::string_view name);
absl::StatusOr<Activation> ActivationOr(const JsonFile& config,
                                        absl::string_view key,
                                        absl::string_view fallback);

// Attention with head_dim = hidden / heads and scores scaled by
// 1 / sqrt(head_dim). `key`, the field with the number of heads, is named in
// the error if the division leaves a rest.
absl::StatusOr<AttentionSpec> DividedHeads(const JsonFile& config,
                                           absl::string_view key, int heads,
                                           int hidden);

// The class of "architectures" that says what the model computes. The family is
// that of model_type; a class only says which head there is. So a class of
// another or older name stands for the class of `supported` with the same head
// ("MPTForCausalLM" for "MptForCausalLM"), and a class without a head adds
// nothing. Returns the first of `supported` that the file names, "" if it names
// no head. INVALID_ARGUMENT if a head is named that `supported` has not.
absl::StatusOr<std::string> Architecture(
    const JsonFile& config, absl::Span<const absl::string_view> supported);

// Returns true if "architectures" names classes, none of which has a head
// ("LlamaModel").
absl::StatusOr<bool> NamesNoHead(const JsonFile& config);

// Checks that a decoder-only family's file names no head but that of
// `supported`, and that its decoder is causal and has no cross-attention.
absl::Status CheckDecoderOf(const JsonFile& config,
                            absl::string_view supported);

// Checks that each key is absent or has the value `expected`.
absl::Status ExpectFlags(const JsonFile& config,
                         absl::Span<const absl::string_view> keys,
                         bool expected);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_CONFIG_FIELDS_H_
