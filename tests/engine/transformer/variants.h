#ifndef ATTEND_TESTS_ENGINE_TRANSFORMER_VARIANTS_H_
#define ATTEND_TESTS_ENGINE_TRANSFORMER_VARIANTS_H_

#include <string>
#include <vector>

#include "engine/transformer/spec.h"

namespace attend {

// The table of transformers that are tested: all combinations of norm, place of
// the norm and positions, with activations, gates, experts, biases, heads and
// widths in turn.

// How a transformer knows positions.
// kDistances: in the encoder; the decoder knows none.
enum class Place {
  kSinusoidal,
  kToEnd,
  kLearned,
  kRelative,
  kRotary,
  kWindow,
  kDistances
};

// A row of the table. Its number decides activation, gate, biases, heads and
// widths, so that each value occurs with each other value in some row.
struct Variant {
  NormKind norm;
  NormPlace norm_place;
  Place place;
  int index;

  int Cycle(int of, int slower = 1) const { return index / slower % of; }
  bool biases() const { return Cycle(2, 3) == 0; }
};

std::string NameOf(const Variant& variant);
std::vector<Variant> Variants();

// The spec of a variant. Its encoder and decoder differ in layers, heads and
// head_dim.
TransformerSpec SpecOf(const Variant& variant);

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TRANSFORMER_VARIANTS_H_
