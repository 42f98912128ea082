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

// Far above every model that exists; far below what would overflow an int or
// allocate without bound.
inline constexpr IntRange kVocab = {1, 1 << 22};
inline constexpr IntRange kHidden = {2, 1 << 14};
inline constexpr IntRange kHeads = {1, 256};
inline constexpr IntRange kHeadDim = {1, 1 << 12};
inline constexpr IntRange kWidth = {1, 1 << 17};
inline constexpr IntRange kLayers = {1, 128};
inline constexpr IntRange kPositions = {2, 1 << 18};
inline constexpr IntRange kWindow = {1, 1 << 20};
inline constexpr IntRange kTokenId = {0, (1 << 22) - 1};
inline constexpr IntRange kTokenTypes = {0, 1 << 10};

// A number that may be spelled in several ways, all of which transformers takes
// for one field. Where more than one is there they must agree; where none is,
// it is missing.
absl::StatusOr<int> Number(const JsonFile& config,
                           std::initializer_list<absl::string_view> keys,
                           IntRange range);
// `fallback` (unchecked) where the key is absent.
absl::StatusOr<int> NumberOr(const JsonFile& config, absl::string_view key,
                             int fallback, IntRange range);

// Of a norm; `fallback` where the key is absent.
absl::StatusOr<float> EpsilonOr(const JsonFile& config, absl::string_view key,
                                float fallback);

// By the name that transformers has for it, of which several are one function.
// The second reads a field, with the default `fallback`.
absl::StatusOr<Activation> ActivationNamed(const JsonFile& config,
                                           absl::string_view key,
                                           absl::string_view name);
absl::StatusOr<Activation> ActivationOr(const JsonFile& config,
                                        absl::string_view key,
                                        absl::string_view fallback);

// Attention whose heads divide `hidden`, scores scaled by 1 / sqrt(head_dim).
// `key` is the field that has the number of heads, for the error.
absl::StatusOr<AttentionSpec> DividedHeads(const JsonFile& config,
                                           absl::string_view key, int heads,
                                           int hidden);

// The model's class, which must be one of `supported`; "" where the file names
// none.
absl::StatusOr<std::string> Architecture(
    const JsonFile& config, absl::Span<const absl::string_view> supported);

// The same for a decoder alone, of which one class is supported, and none that
// looks at an encoder.
absl::Status CheckDecoderOf(const JsonFile& config,
                            absl::string_view supported);

// Each key is absent or `expected`.
absl::Status ExpectFlags(const JsonFile& config,
                         absl::Span<const absl::string_view> keys,
                         bool expected);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_CONFIG_FIELDS_H_
