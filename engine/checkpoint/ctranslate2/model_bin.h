#ifndef ATTEND_ENGINE_CHECKPOINT_CTRANSLATE2_MODEL_BIN_H_
#define ATTEND_ENGINE_CHECKPOINT_CTRANSLATE2_MODEL_BIN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace attend {

// The types of numbers in a model.bin, with the ids that the file has.
enum class Ct2Type : uint8_t {
  kFloat32 = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kFloat16 = 4,
  kBfloat16 = 5,
};
// Bytes of one number.
int BytesOf(Ct2Type type);

// A variable in a model.bin.
struct Ct2Variable {
  Ct2Type type = Ct2Type::kFloat32;
  std::vector<int64_t> shape;  // empty: an attribute, which is one number
  // The variable's bytes are [begin, end), counted from the start of the file.
  size_t begin = 0;
  size_t end = 0;
};

// What a model.bin of CTranslate2 has (versions 5 and 6).
struct ModelBin {
  int version = 0;
  std::string spec;  // "TransformerSpec"
  int revision = 0;  // of the spec
  std::map<std::string, Ct2Variable, std::less<>> variables;
  // Other names of variables; each value is in `variables`.
  std::map<std::string, std::string, std::less<>> aliases;
};

// Reads all but the numbers; `bytes` is the whole file, little-endian:
//
//   u32 version, string spec, u32 revision
//   u32 count, then for each variable: string name, u8 rank, u32 dims[rank],
//     u8 type, u32 bytes, the numbers in row-major order
//   u32 count, then for each alias: string name, string variable
//
// A string is a u16, its length with a zero at the end, and that many bytes.
// INVALID_ARGUMENT names `path`, the variable, the field, its value and what is
// expected, if anything is not so, or if bytes follow.
absl::StatusOr<ModelBin> ReadModelBin(const std::string& path,
                                      absl::Span<const uint8_t> bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_CTRANSLATE2_MODEL_BIN_H_
