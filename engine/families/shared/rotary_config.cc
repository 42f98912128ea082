#include "engine/families/shared/rotary_config.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/families/shared/config_fields.h"
#include "engine/ops/attention/rotate.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr FloatRange kFactor = {1, 1e6};

constexpr char kOriginal[] = "original_max_position_embeddings";
constexpr char kFraction[] = "partial_rotary_factor";

absl::StatusOr<int> OriginalPositions(const JsonFile& rope,
                                      const RotaryDefaults& defaults) {
  if (defaults.original_positions > 0) return defaults.original_positions;
  return NumberOr(rope, kOriginal, defaults.max_positions, kComputedPositions);
}

absl::Status ScaleLinear(const JsonFile& rope, RotarySpec& spec) {
  ASSIGN_OR_RETURN(const double factor, rope.Float("factor", kFactor));
  for (float& frequency : spec.frequencies) {
    frequency /= static_cast<float>(factor);
  }
  return absl::OkStatus();
}

// Peng et al. 2023, sections 3.2 to 3.4. A frequency that makes at least
// `beta_fast` turns within the original length stays; one that makes at most
// `beta_slow` turns is divided by `factor`; between them it is interpolated.
absl::Status ScaleYarn(const JsonFile& rope, const RotaryDefaults& defaults,
                       double theta, RotarySpec& spec) {
  ASSIGN_OR_RETURN(const int original, OriginalPositions(rope, defaults));
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
  // The index of the frequency that makes `turns` turns within the original
  // length.
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

absl::Status ReadLlama3(const JsonFile& rope, const RotaryDefaults& defaults,
                        RotarySpec& spec) {
  Llama3Scaling scaling;
  ASSIGN_OR_RETURN(scaling.original_positions,
                   OriginalPositions(rope, defaults));
  ASSIGN_OR_RETURN(scaling.factor, rope.Float("factor", kFactor));
  ASSIGN_OR_RETURN(scaling.low_freq_factor,
                   rope.Float("low_freq_factor", kFactor));
  ASSIGN_OR_RETURN(
      scaling.high_freq_factor,
      rope.Float("high_freq_factor", {scaling.low_freq_factor + 1e-3, 1e6}));
  ScaleLlama3(scaling, spec.frequencies);
  return absl::OkStatus();
}

// The original length is max_position_embeddings of the file.
absl::Status ScaleDynamic(const JsonFile& rope, const RotaryDefaults& defaults,
                          double theta, RotarySpec& spec) {
  if (spec.dims() <= 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(rope.path(), ": ", spec.dims(),
                     " of a head's numbers are rotated, expected 4 or more "
                     "with rope_type dynamic"));
  }
  ASSIGN_OR_RETURN(const double factor, rope.Float("factor", kFactor));
  spec.original_positions = defaults.max_positions;
  spec.theta = static_cast<float>(theta);
  spec.factor = static_cast<float>(factor);
  return absl::OkStatus();
}

// Ding et al. 2024. Each frequency has two divisors: for short and for long
// sequences.
absl::Status ScaleLong(const JsonFile& rope, const RotaryDefaults& defaults,
                       double theta, RotarySpec& spec) {
  constexpr FloatRange kDivisor = {1e-3, 1e6};
  ASSIGN_OR_RETURN(spec.original_positions, OriginalPositions(rope, defaults));
  spec.recomputes = defaults.recomputes;
  const size_t count = spec.frequencies.size();
  const auto divided =
      [&](const char* key) -> absl::StatusOr<std::vector<float>> {
    ASSIGN_OR_RETURN(std::vector<float> values,
                     rope.Floats(key, count, kDivisor));
    for (size_t i = 0; i < count; ++i) {
      const float exponent =
          static_cast<float>(2 * i) / static_cast<float>(spec.dims());
      const float period = static_cast<float>(
          std::pow(static_cast<float>(theta), static_cast<double>(exponent)));
      values[i] = 1 / (values[i] * period);
    }
    return values;
  };
  ASSIGN_OR_RETURN(spec.long_frequencies, divided("long_factor"));
  ASSIGN_OR_RETURN(spec.frequencies, divided("short_factor"));
  const double original = spec.original_positions;
  ASSIGN_OR_RETURN(
      const double factor,
      rope.FloatOr("factor", defaults.max_positions / original, kFactor));
  const double magnitude =
      factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(original));
  ASSIGN_OR_RETURN(const double given,
                   rope.FloatOr("attention_factor", magnitude, {1e-3, 1e3}));
  spec.magnitude = static_cast<float>(given);
  return absl::OkStatus();
}

absl::Status Scale(const JsonFile& rope, const RotaryDefaults& defaults,
                   double theta, RotarySpec& spec) {
  const char* const key = rope.Has("rope_type") ? "rope_type" : "type";
  ASSIGN_OR_RETURN(const std::string kind, rope.StringOr(key, "default"));
  // Positions of images have a section for each direction ("mrope"); those of a
  // text are the same in all sections.
  if (kind == "default" || kind == "mrope") return absl::OkStatus();
  if (!defaults.partial) {
    // transformers makes angles for a part of the head, and rotates all of it.
    RETURN_IF_ERROR(rope.FloatOr(kFraction, 1, {1, 1}).status());
  }
  if (kind == "linear") return ScaleLinear(rope, spec);
  if (kind == "dynamic") return ScaleDynamic(rope, defaults, theta, spec);
  // "su" is the name of longrope in the first files of Phi-3.
  if (kind == "longrope" || kind == "su") {
    return ScaleLong(rope, defaults, theta, spec);
  }
  if (kind == "yarn") return ScaleYarn(rope, defaults, theta, spec);
  if (kind == "llama3") return ReadLlama3(rope, defaults, spec);
  return rope.Unexpected(
      key, "one of default, linear, dynamic, yarn, longrope, llama3");
}

}  // namespace

void ScaleLlama3(const Llama3Scaling& scaling,
                 std::vector<float>& frequencies) {
  const auto factor = static_cast<float>(scaling.factor);
  const double low = scaling.low_freq_factor;
  const double high = scaling.high_freq_factor;
  for (float& frequency : frequencies) {
    const float wavelength = static_cast<float>(2 * M_PI / frequency);
    if (wavelength < scaling.original_positions / high) continue;
    if (wavelength > scaling.original_positions / low) {
      frequency /= factor;
      continue;
    }
    const float smooth = static_cast<float>(
        (scaling.original_positions / wavelength - low) / (high - low));
    frequency = (1 - smooth) * frequency / factor + smooth * frequency;
  }
}

absl::StatusOr<RotarySpec> ReadRotary(const JsonFile& rope,
                                      const RotaryDefaults& defaults) {
  ASSIGN_OR_RETURN(const double theta,
                   rope.FloatOr("rope_theta", defaults.theta, kRotaryTheta));
  double fraction = defaults.fraction;
  if (defaults.partial) {
    ASSIGN_OR_RETURN(fraction, rope.FloatOr(kFraction, fraction, {0, 1}));
  }
  const int dims = static_cast<int>(defaults.head_dim * fraction);
  constexpr int kMaxDims = kMaxRotaryDims;
  if (dims < 2 || dims > kMaxDims || dims % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        rope.path(), ": ", dims, " of a head's ", defaults.head_dim,
        " numbers are rotated, expected an even number, at most ", kMaxDims));
  }
  RotarySpec spec = {RotaryFrequencies(static_cast<float>(theta), dims)};
  RETURN_IF_ERROR(Scale(rope, defaults, theta, spec));
  return spec;
}

absl::StatusOr<RotarySpec> ReadRotaryOf(const JsonFile& config,
                                        RotaryDefaults defaults) {
  ASSIGN_OR_RETURN(defaults.theta,
                   config.FloatOr("rope_theta", defaults.theta, kRotaryTheta));
  if (defaults.partial) {
    ASSIGN_OR_RETURN(defaults.fraction,
                     config.FloatOr(kFraction, defaults.fraction, {0, 1}));
  }
  ASSIGN_OR_RETURN(defaults.original_positions,
                   NumberOr(config, kOriginal, defaults.original_positions,
                            kComputedPositions));
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    if (!config.Has(key)) continue;
    ASSIGN_OR_RETURN(const JsonFile rope, config.Object(key));
    return ReadRotary(rope, defaults);
  }
  return ReadRotary(config, defaults);
}

absl::StatusOr<int> RotaryPositions(const JsonFile& config,
                                    const RotarySpec& spec, int max_positions) {
  if (!spec.by_length() || !spec.long_frequencies.empty()) {
    return max_positions;
  }
  const double stretched = double{spec.factor} * max_positions;
  if (stretched <= kComputedPositions.max) return static_cast<int>(stretched);
  return absl::InvalidArgumentError(
      absl::StrCat(config.path(),
                   ": max_position_embeddings times the factor of rope_type "
                   "dynamic is ",
                   stretched, ", limit is ", kComputedPositions.max));
}

}  // namespace attend
