#include "engine/families/rotary.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/families/fields.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr FloatRange kFactor = {1, 1e6};

absl::StatusOr<int> OriginalPositions(const JsonFile& rope, int fallback) {
  return NumberOr(rope, "original_max_position_embeddings", fallback,
                  kPositions);
}

// Peng et al. 2023, sections 3.2 to 3.4: frequencies that turn often within the
// original length stay, those that never turn once are divided by `factor`.
absl::Status ScaleYarn(const JsonFile& rope, const RotaryDefaults& defaults,
                       double theta, RotarySpec& spec) {
  ASSIGN_OR_RETURN(const int original,
                   OriginalPositions(rope, defaults.max_positions));
  const double stretch = 1.0 * defaults.max_positions / original;
  ASSIGN_OR_RETURN(const double factor,
                   rope.FloatOr("factor", stretch, kFactor));
  ASSIGN_OR_RETURN(const double fast, rope.FloatOr("beta_fast", 32, kFactor));
  ASSIGN_OR_RETURN(const double slow,
                   rope.FloatOr("beta_slow", 1, {1e-3, 1e6}));
  ASSIGN_OR_RETURN(const bool truncate, rope.BoolOr("truncate", true));
  ASSIGN_OR_RETURN(const double mscale, rope.FloatOr("mscale", 0, {0, 1e3}));
  ASSIGN_OR_RETURN(const double mscale_all,
                   rope.FloatOr("mscale_all_dim", 0, {0, 1e3}));
  const auto scale = [&](double m) {
    return factor <= 1 ? 1 : 0.1 * m * std::log(factor) + 1;
  };
  const double magnitude = mscale > 0 && mscale_all > 0
                               ? scale(mscale) / scale(mscale_all)
                               : scale(1);
  ASSIGN_OR_RETURN(const double given,
                   rope.FloatOr("attention_factor", magnitude, {1e-3, 1e3}));
  spec.magnitude = static_cast<float>(given);

  const int count = static_cast<int>(spec.frequencies.size());
  // The index whose angle makes so many turns within the original length.
  const auto index = [&](double turns) {
    return 2 * count * std::log(original / (turns * 2 * M_PI)) /
           (2 * std::log(theta));
  };
  double low = index(fast);
  double high = index(slow);
  if (truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, 2.0 * count - 1);
  if (low == high) high += 0.001;
  for (int i = 0; i < count; ++i) {
    const float ramp = std::clamp(
        static_cast<float>((static_cast<float>(i) - low) / (high - low)), 0.0f,
        1.0f);
    const float stays = 1 - ramp;
    const float period = 1 / spec.frequencies[i];
    const float divided = 1 / static_cast<float>(factor * period);
    spec.frequencies[i] = divided * (1 - stays) + spec.frequencies[i] * stays;
  }
  return absl::OkStatus();
}

// Long wavelengths are divided by `factor`, short ones stay, and between them
// it is interpolated.
absl::Status ScaleLlama3(const JsonFile& rope, const RotaryDefaults& defaults,
                         RotarySpec& spec) {
  ASSIGN_OR_RETURN(const int original,
                   OriginalPositions(rope, defaults.max_positions));
  ASSIGN_OR_RETURN(const double factor, rope.Float("factor", kFactor));
  ASSIGN_OR_RETURN(const double low, rope.Float("low_freq_factor", kFactor));
  ASSIGN_OR_RETURN(const double high,
                   rope.Float("high_freq_factor", {low + 1e-3, 1e6}));
  for (float& frequency : spec.frequencies) {
    const float wavelength = static_cast<float>(2 * M_PI / frequency);
    if (wavelength < original / high) continue;
    if (wavelength > original / low) {
      frequency /= static_cast<float>(factor);
      continue;
    }
    const float smooth =
        static_cast<float>((original / wavelength - low) / (high - low));
    frequency = (1 - smooth) * frequency / static_cast<float>(factor) +
                smooth * frequency;
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<float> RotaryFrequencies(float theta, int dims) {
  std::vector<float> frequencies;
  for (int i = 0; i < dims; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(dims);
    const float power = static_cast<float>(
        std::pow(static_cast<double>(theta), static_cast<double>(exponent)));
    frequencies.push_back(1.0f / power);
  }
  return frequencies;
}

absl::StatusOr<RotarySpec> ReadRotary(const JsonFile& rope,
                                      const RotaryDefaults& defaults) {
  ASSIGN_OR_RETURN(const double theta,
                   rope.FloatOr("rope_theta", defaults.theta, kRotaryTheta));
  ASSIGN_OR_RETURN(const double part, rope.FloatOr("partial_rotary_factor",
                                                   defaults.part, {0, 1}));
  const int dims = static_cast<int>(defaults.head_dim * part);
  constexpr int kMaxDims = 1024;
  if (dims < 2 || dims > kMaxDims || dims % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        rope.path(), ": ", dims, " of a head's ", defaults.head_dim,
        " numbers are rotated, expected an even number, at most ", kMaxDims));
  }
  RotarySpec spec = {RotaryFrequencies(static_cast<float>(theta), dims)};
  const char* const key = rope.Has("rope_type") ? "rope_type" : "type";
  ASSIGN_OR_RETURN(const std::string kind, rope.StringOr(key, "default"));
  if (kind == "default") return spec;
  if (kind == "linear") {
    ASSIGN_OR_RETURN(const double factor, rope.Float("factor", kFactor));
    for (float& frequency : spec.frequencies) {
      frequency /= static_cast<float>(factor);
    }
    return spec;
  }
  if (kind == "yarn") {
    RETURN_IF_ERROR(ScaleYarn(rope, defaults, theta, spec));
    return spec;
  }
  if (kind == "llama3") {
    RETURN_IF_ERROR(ScaleLlama3(rope, defaults, spec));
    return spec;
  }
  return rope.Unexpected(key, "one of default, linear, yarn, llama3");
}

absl::StatusOr<RotarySpec> ReadRotaryOf(const JsonFile& config,
                                        RotaryDefaults defaults) {
  ASSIGN_OR_RETURN(defaults.theta,
                   config.FloatOr("rope_theta", defaults.theta, kRotaryTheta));
  ASSIGN_OR_RETURN(defaults.part, config.FloatOr("partial_rotary_factor",
                                                 defaults.part, {0, 1}));
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    if (!config.Has(key)) continue;
    ASSIGN_OR_RETURN(const JsonFile rope, config.Object(key));
    return ReadRotary(rope, defaults);
  }
  return ReadRotary(config, defaults);
}

}  // namespace attend
