#ifndef ATTEND_TESTS_ENGINE_TRANSFORMER_SPEC_FIELDS_H_
#define ATTEND_TESTS_ENGINE_TRANSFORMER_SPEC_FIELDS_H_

#include <string>
#include <vector>

#include "engine/transformer/spec.h"

namespace attend {

// A spec that differs from its base in one field, and in other fields that this
// one needs.
struct SpecCase {
  // The path of the field, and " <value>" if the field has several cases.
  // layers[*] are all layers of a stack.
  std::string name;
  std::string field;  // the last word of the way
  bool shows;         // false: results may be those of the base
  TransformerSpec spec;
};

enum class Base { kEncoder, kMaskedLm, kEncoderDecoder, kDecoder };

// A spec with two layers a stack.
TransformerSpec BaseSpec(Base base);

// A case, or several, for every field of a spec and of the specs inside it.
std::vector<SpecCase> SpecCases(Base base);

// The names "<struct>.<field>" of fields that no case sets.
std::vector<std::string> FieldsWithoutCases();

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TRANSFORMER_SPEC_FIELDS_H_
