#ifndef ATTEND_ENGINE_OPS_ATTENTION_KV_TYPE_H_
#define ATTEND_ENGINE_OPS_ATTENTION_KV_TYPE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace attend {

// The type of keys and values in memory, whatever the dtype of the matmuls.
// bf16 is the upper half of an f32; int8 has a scale a token and head, see
// KvLayout.
enum class KvType { kF32, kBf16, kInt8 };

// The name: "f32", "bf16" or "int8".
constexpr absl::string_view TypeName(KvType type) {
  switch (type) {
    case KvType::kF32:
      return "f32";
    case KvType::kBf16:
      return "bf16";
    case KvType::kInt8:
      return "int8";
  }
  return "";
}

// INVALID_ARGUMENT lists the names.
inline absl::StatusOr<KvType> ParseKvType(absl::string_view name) {
  for (const KvType type : {KvType::kF32, KvType::kBf16, KvType::kInt8}) {
    if (TypeName(type) == name) return type;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", name.substr(0, 100), "' is not f32, bf16 or int8"));
}

// Bytes of one number.
constexpr int BytesOf(KvType type) {
  return type == KvType::kF32 ? 4 : type == KvType::kBf16 ? 2 : 1;
}

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_KV_TYPE_H_
