#ifndef ATTEND_SERVER_INFERENCE_INPUT_TENSOR_H_
#define ATTEND_SERVER_INFERENCE_INPUT_TENSOR_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "inference/grpc_service.pb.h"
#include "server/inference/datatype.h"

namespace attend {

// A value of a parameter, or an element of a tensor. A string_view has the
// bytes of an element of BYTES, or of a string; the request owns them.
using Value = std::variant<bool, int64_t, uint64_t, double, absl::string_view>;

// "a string", "an integer" and so on.
absl::string_view KindOf(const Value& value);

// An input tensor of a request. Its contents are checked against its shape; the
// elements are read where the request has them, so the request must outlive the
// tensor.
class InputTensor {
 public:
  using Message = inference::ModelInferRequest::InferInputTensor;

  // `raw`: the raw contents; null: the contents are typed. INVALID_ARGUMENT
  // names the tensor, and what is wrong with its datatype, shape or contents.
  static absl::StatusOr<InputTensor> Read(const Message& tensor,
                                          const std::string* raw);

  const std::string& name() const { return tensor_->name(); }
  const Datatype& datatype() const { return *datatype_; }
  int rank() const { return tensor_->shape_size(); }
  int64_t dim(int axis) const { return tensor_->shape(axis); }
  // The number of elements.
  int64_t size() const { return size_; }
  // An element; `index` is in [0, size()). FP16 and BF16 are not read: nothing
  // takes them.
  Value at(int64_t index) const;

  // INVALID_ARGUMENT that begins with the name of the tensor.
  absl::Status Error(absl::string_view what) const;
  // INVALID_ARGUMENT unless the tensor has that datatype, or is of integers.
  absl::Status CheckBytes() const;
  absl::Status CheckIntegers() const;

 private:
  InputTensor(const Message& tensor, const Datatype& datatype, int64_t size)
      : tensor_(&tensor), datatype_(&datatype), size_(size) {}

  absl::Status TakeRaw(const std::string& raw);
  absl::Status TakeRawBytes(const std::string& raw);
  absl::Status CheckTyped() const;
  Value RawAt(int64_t index) const;
  Value TypedAt(int index) const;

  const Message* tensor_;
  const Datatype* datatype_;
  int64_t size_;
  const char* raw_ = nullptr;             // of numbers; null: typed, or BYTES
  std::vector<absl::string_view> texts_;  // of raw BYTES
};

// The input tensors of a request, in its order. INVALID_ARGUMENT if a tensor is
// wrong or occurs twice, or if contents are given in both forms.
absl::StatusOr<std::vector<InputTensor>> ReadTensors(
    const inference::ModelInferRequest& request);

}  // namespace attend

#endif  // ATTEND_SERVER_INFERENCE_INPUT_TENSOR_H_
