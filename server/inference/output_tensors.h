#ifndef ATTEND_SERVER_INFERENCE_OUTPUT_TENSORS_H_
#define ATTEND_SERVER_INFERENCE_OUTPUT_TENSORS_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "inference/grpc_service.pb.h"

namespace attend {

using Shape = std::vector<int64_t>;

// Adds the output tensors of a response, those that the request wants. Contents
// are raw: that is the form that all clients read.
class OutputTensors {
 public:
  // `wanted` are names of tensors; both arguments must outlive the
  // OutputTensors.
  OutputTensors(const std::vector<std::string>& wanted,
                inference::ModelInferResponse& response)
      : wanted_(wanted), response_(response) {}

  bool Wants(absl::string_view name) const;

  // The values are in row-major order, as many as the shape says.
  template <class T>
  void Add(absl::string_view name, Shape shape, const std::vector<T>& values) {
    AddRaw(name, NameOf<T>(), std::move(shape),
           std::string(reinterpret_cast<const char*>(values.data()),
                       values.size() * sizeof(T)));
  }
  void Add(absl::string_view name, Shape shape,
           const std::vector<std::string>& texts);
  // `raw`: contents in the form of raw_output_contents.
  void AddRaw(absl::string_view name, absl::string_view datatype, Shape shape,
              std::string raw);

 private:
  template <class T>
  static constexpr absl::string_view NameOf() {
    if constexpr (std::is_same_v<T, uint8_t>) return "BOOL";
    if constexpr (std::is_same_v<T, int32_t>) return "INT32";
    if constexpr (std::is_same_v<T, uint64_t>) return "UINT64";
    if constexpr (std::is_same_v<T, float>) return "FP32";
    if constexpr (std::is_same_v<T, double>) return "FP64";
  }

  const std::vector<std::string>& wanted_;
  inference::ModelInferResponse& response_;
};

// An array of rows of different lengths, filled up to the longest. Of rows that
// are themselves lists of rows, `At` has the place of each.
template <class T>
class PaddedRows {
 public:
  // [rows, width] of `fill`.
  PaddedRows(size_t rows, size_t width, T fill)
      : width_(width), values_(rows * width, std::move(fill)) {}

  T& At(size_t row, size_t column) { return values_[row * width_ + column]; }
  const std::vector<T>& values() const { return values_; }

 private:
  const size_t width_;
  std::vector<T> values_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_OUTPUT_TENSORS_H_
