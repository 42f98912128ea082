#ifndef ATTEND_ENGINE_CHECKPOINT_TORCH_TORCH_TENSORS_H_
#define ATTEND_ENGINE_CHECKPOINT_TORCH_TORCH_TENSORS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "engine/checkpoint/torch/pickle_value.h"
#include "engine/checkpoint/torch/torch_file.h"
#include "engine/checkpoint/torch/zip_directory.h"

namespace attend {

// Bytes of storages in a file, by key.
using StorageBytes = std::map<std::string, ZipEntry, std::less<>>;

// The tensors of the dictionary that a pickle holds. `place` begins errors.
absl::StatusOr<std::map<std::string, TorchEntry>> TensorsOf(
    const std::string& place, const PickleValues& pickle,
    const StorageBytes& storages);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_TORCH_TORCH_TENSORS_H_
