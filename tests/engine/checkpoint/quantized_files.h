#ifndef ATTEND_TESTS_ENGINE_CHECKPOINT_QUANTIZED_FILES_H_
#define ATTEND_TESTS_ENGINE_CHECKPOINT_QUANTIZED_FILES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/quantized_checkpoint.h"
#include "tests/engine/checkpoint/files.h"

namespace attend {

// The parts of a quantised matrix "m.weight", as files have them.
struct StoredTensor {
  std::string dtype;
  std::vector<int> shape;
  std::string bytes;
};
using Tensors = std::map<std::string, StoredTensor>;

template <typename T>
inline std::string BytesOfAll(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(T)};
}

inline StoredTensor Words(std::vector<int> shape, std::vector<uint32_t> words) {
  return {"I32", std::move(shape), BytesOfAll(words)};
}

inline StoredTensor Scales(std::vector<int> shape, std::vector<float> scales) {
  return {"F32", std::move(shape), BytesOfAll(scales)};
}

inline std::string File(const Tensors& tensors) {
  nlohmann::json header;
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const size_t end = data.size() + tensor.bytes.size();
    header[name] = {{"dtype", tensor.dtype},
                    {"shape", tensor.shape},
                    {"data_offsets", {data.size(), end}}};
    data += tensor.bytes;
  }
  return Safetensors(header.dump(), data);
}

class QuantizedCheckpointTest : public testing::Test {
 protected:
  QuantizedCheckpoint Open(const Tensors& tensors,
                           const Quantization& quantization) {
    directory_.Write("model.safetensors", File(tensors));
    return QuantizedCheckpoint(*Checkpoint::Open(directory_.path()),
                               quantization);
  }
  std::vector<std::vector<float>> Rows(const Tensors& tensors,
                                       const Quantization& quantization) {
    const QuantizedCheckpoint checkpoint = Open(tensors, quantization);
    const auto view = checkpoint.Find("m.weight");
    EXPECT_TRUE(view.ok()) << view.status();
    if (!view.ok()) return {};
    std::vector<std::vector<float>> rows(view->shape[0]);
    for (size_t r = 0; r < rows.size(); ++r) {
      rows[r].resize(view->shape[1]);
      view->rows->Read(static_cast<int>(r),
                       {rows[r].data(), 1, view->rows->cols()});
    }
    return rows;
  }
  std::string Error(const Tensors& tensors, const Quantization& quantization) {
    const auto view = Open(tensors, quantization).Find("m.weight");
    EXPECT_FALSE(view.ok());
    return std::string(view.status().message());
  }

  const TestDirectory directory_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_CHECKPOINT_QUANTIZED_FILES_H_
