#include "server/inference/datatype.h"

namespace attend {
namespace {

using Kind = Datatype::Kind;

constexpr Datatype kDatatypes[] = {
    {"BOOL", Kind::kBool, 1, inference::TYPE_BOOL},
    {"UINT8", Kind::kUint, 1, inference::TYPE_UINT8},
    {"UINT16", Kind::kUint, 2, inference::TYPE_UINT16},
    {"UINT32", Kind::kUint, 4, inference::TYPE_UINT32},
    {"UINT64", Kind::kUint, 8, inference::TYPE_UINT64},
    {"INT8", Kind::kInt, 1, inference::TYPE_INT8},
    {"INT16", Kind::kInt, 2, inference::TYPE_INT16},
    {"INT32", Kind::kInt, 4, inference::TYPE_INT32},
    {"INT64", Kind::kInt, 8, inference::TYPE_INT64},
    {"FP16", Kind::kHalf, 2, inference::TYPE_FP16},
    {"BF16", Kind::kHalf, 2, inference::TYPE_BF16},
    {"FP32", Kind::kFloat, 4, inference::TYPE_FP32},
    {"FP64", Kind::kFloat, 8, inference::TYPE_FP64},
    {"BYTES", Kind::kBytes, 0, inference::TYPE_STRING},
};

}  // namespace

const Datatype* FindDatatype(absl::string_view name) {
  for (const Datatype& type : kDatatypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

}  // namespace attend
