#include "engine/checkpoint/torch/torch_names.h"

namespace attend {
namespace {

constexpr auto kStorage = TorchNameKind::kStorageType;
constexpr auto kDtype = TorchNameKind::kDtype;
constexpr TorchName kNames[] = {
    {"collections", "OrderedDict", TorchNameKind::kOrderedDict},
    {"torch", "Size", TorchNameKind::kSize},
    {"torch._utils", "_rebuild_tensor_v2", TorchNameKind::kRebuildTensor},
    {"torch._utils", "_rebuild_tensor", TorchNameKind::kRebuildTensor},
    {"torch._utils", "_rebuild_parameter", TorchNameKind::kRebuildParameter},
    {"torch._utils", "_rebuild_parameter_with_state",
     TorchNameKind::kRebuildParameter},
    {"torch", "FloatStorage", kStorage, "F32", 4},
    {"torch", "HalfStorage", kStorage, "F16", 2},
    {"torch", "BFloat16Storage", kStorage, "BF16", 2},
    {"torch", "DoubleStorage", kStorage, "F64", 8},
    {"torch", "LongStorage", kStorage, "I64", 8},
    {"torch", "IntStorage", kStorage, "I32", 4},
    {"torch", "ShortStorage", kStorage, "I16", 2},
    {"torch", "CharStorage", kStorage, "I8", 1},
    {"torch", "ByteStorage", kStorage, "U8", 1},
    {"torch", "BoolStorage", kStorage, "BOOL", 1},
    {"torch", "float32", kDtype},
    {"torch", "float16", kDtype},
    {"torch", "bfloat16", kDtype},
    {"torch", "float64", kDtype},
};

}  // namespace

absl::Span<const TorchName> TorchNames() { return kNames; }

}  // namespace attend
