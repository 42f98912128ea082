// Fields of transformers' GenerationConfig that have no counterpart here, and
// the requests whose results they would change, as generate() of transformers
// 5.23 reads them.

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/families/shared/default_reader.h"

namespace attend {
namespace {

using When = MissingDefault::When;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A number that changes the result if it is in the open interval (above,
// below) and is not `neutral`.
struct NumberField {
  const char* name;
  When when;
  double above;
  double below;
  double neutral;
};
constexpr NumberField kNumbers[] = {
    {"typical_p", When::kSampling, -kInfinity, 1, 1},
    {"epsilon_cutoff", When::kSampling, 0, 1, 0},
    {"eta_cutoff", When::kSampling, 0, 1, 0},
    {"top_h", When::kSampling, -kInfinity, kInfinity, 1},
    {"num_beam_groups", When::kBeams, 1, kInfinity, 1},
    {"encoder_repetition_penalty", When::kAlways, -kInfinity, kInfinity, 1},
    {"guidance_scale", When::kAlways, -kInfinity, kInfinity, 1},
};

// A field that changes the result if it is there, and is neither false nor
// empty.
struct PresentField {
  const char* name;
  When when;
  const char* request_field = "";
};
constexpr PresentField kPresent[] = {
    {"dola_layers", When::kNoBeams},
    {"constraints", When::kAlways},
    {"force_words_ids", When::kAlways, "force_words"},
    {"exponential_decay_length_penalty", When::kAlways},
    {"watermarking_config", When::kAlways},
    {"token_healing", When::kAlways},
};

void Drop(const char* name, const char* request_field, When when,
          DefaultReader& reader) {
  reader.Drop(request_field,
              reader.file().Unexpected(name, "no value: it is not supported"),
              when);
}

void DropNumbers(DefaultReader& reader) {
  for (const NumberField& field : kNumbers) {
    const auto number = reader.Number(field.name, field.neutral);
    const bool neutral =
        number.ok() && (*number <= field.above || *number >= field.below ||
                        *number == field.neutral);
    if (!neutral) Drop(field.name, "", field.when, reader);
  }
}

// Contrastive search: only greedy, with a choice of tokens.
void DropPenaltyAlpha(DefaultReader& reader) {
  constexpr char kAlpha[] = "penalty_alpha";
  const auto alpha = reader.Number(kAlpha, 0);
  const auto top_k = reader.Int("top_k", 50);
  if (alpha.ok() && (*alpha <= 0 || (top_k.ok() && *top_k <= 1))) return;
  Drop(kAlpha, "", When::kGreedy, reader);
}

}  // namespace

void DropUnsupportedDefaults(DefaultReader& reader) {
  DropNumbers(reader);
  DropPenaltyAlpha(reader);
  for (const PresentField& field : kPresent) {
    if (!reader.IsTrue(field.name)) continue;
    Drop(field.name, field.request_field, field.when, reader);
  }
  // Results would depend on the machine.
  if (reader.Has("max_time")) {
    reader.Warn(absl::StrCat(reader.file().path(),
                             ": max_time is ignored; requests have deadlines"));
  }
}

}  // namespace attend
