#ifndef ATTEND_TESTS_ENGINE_TRANSFORMER_SPEC_FIELDS_H_
#define ATTEND_TESTS_ENGINE_TRANSFORMER_SPEC_FIELDS_H_

#include <string>
#include <vector>

#include "engine/transformer/spec.h"

namespace attend {

// A spec that differs from its base in a field, or in one and what that needs.
struct SpecCase {
  // "<way to the field>", and " <value>" where a field has several cases;
  // layers[*] are all layers of a stack.
  std::string name;
  std::string field;  // the last word of the way
  bool shows;         // false: results may be those of the base
  TransformerSpec spec;
};

enum class Base { kEncoder, kMaskedLm, kEncoderDecoder, kDecoder };

// Of two layers a stack, with all that a spec has besides.
TransformerSpec BaseSpec(Base base);

// Every field of every part of the spec, one after the other.
std::vector<SpecCase> SpecCases(Base base);

// "<struct>.<field>" of those that no case sets.
std::vector<std::string> FieldsWithoutCases();

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TRANSFORMER_SPEC_FIELDS_H_
