#ifndef ATTEND_SERVER_INFERENCE_DATATYPE_H_
#define ATTEND_SERVER_INFERENCE_DATATYPE_H_

#include <bit>
#include <cstddef>

#include "absl/strings/string_view.h"
#include "inference/model_config.pb.h"

namespace attend {

// Raw contents are little-endian; they are copied as they are.
static_assert(std::endian::native == std::endian::little);

// A datatype of the protocol's tensors.
struct Datatype {
  // How an element is read, and which field of InferTensorContents has it.
  enum class Kind { kBool, kInt, kUint, kFloat, kHalf, kBytes };

  absl::string_view name;
  Kind kind;
  size_t bytes;  // of an element; 0: they differ
  inference::DataType config;

  bool is_integer() const { return kind == Kind::kInt || kind == Kind::kUint; }
};

// Null: the protocol has no datatype of that name.
const Datatype* FindDatatype(absl::string_view name);

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_DATATYPE_H_
