#include "server/inference/input_tensor.h"

#include <cstring>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"
#include "server/inference/quoted.h"

namespace attend {
namespace {

using Kind = Datatype::Kind;
using Contents = inference::InferTensorContents;

// Of BYTES: before each element.
constexpr size_t kLengthBytes = 4;

template <class T>
T Load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

int64_t LoadInt(const char* from, size_t bytes) {
  switch (bytes) {
    case 1:
      return Load<int8_t>(from);
    case 2:
      return Load<int16_t>(from);
    case 4:
      return Load<int32_t>(from);
    default:
      return Load<int64_t>(from);
  }
}

uint64_t LoadUint(const char* from, size_t bytes) {
  switch (bytes) {
    case 1:
      return Load<uint8_t>(from);
    case 2:
      return Load<uint16_t>(from);
    case 4:
      return Load<uint32_t>(from);
    default:
      return Load<uint64_t>(from);
  }
}

// The number of elements of a shape. INVALID_ARGUMENT if a dimension is
// negative, or the product is no int64.
absl::StatusOr<int64_t> CountElements(const InputTensor::Message& tensor) {
  int64_t count = 1;
  for (int64_t dim : tensor.shape()) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "input %s: shape is [%s], must have sizes of 0 or more whose product "
          "is below 2^63",
          Quoted(tensor.name()), absl::StrJoin(tensor.shape(), ", ")));
    }
  }
  return count;
}

// KServe's client tells the size of raw contents. It must be right; nothing
// else is told beside a tensor.
absl::Status CheckParameters(const InputTensor::Message& tensor,
                             const std::string* raw) {
  for (const auto& [name, value] : tensor.parameters()) {
    if (name == "binary_data_size" && raw != nullptr) {
      const auto size = static_cast<int64_t>(raw->size());
      if (value.int64_param() == size) continue;
      return absl::InvalidArgumentError(absl::StrFormat(
          "input %s: parameter 'binary_data_size' is %d, but its raw contents "
          "have %d bytes",
          Quoted(tensor.name()), value.int64_param(), size));
    }
    return absl::InvalidArgumentError(absl::StrFormat(
        "input %s: parameter %s is set, but is not supported (shared memory "
        "is not)",
        Quoted(tensor.name()), Quoted(name)));
  }
  return absl::OkStatus();
}

// The number of typed elements in the field of `datatype`; -1: it has none.
int TypedSize(const Contents& contents, const Datatype& datatype) {
  switch (datatype.kind) {
    case Kind::kBool:
      return contents.bool_contents_size();
    case Kind::kInt:
      return datatype.bytes == 8 ? contents.int64_contents_size()
                                 : contents.int_contents_size();
    case Kind::kUint:
      return datatype.bytes == 8 ? contents.uint64_contents_size()
                                 : contents.uint_contents_size();
    case Kind::kFloat:
      return datatype.bytes == 8 ? contents.fp64_contents_size()
                                 : contents.fp32_contents_size();
    case Kind::kBytes:
      return contents.bytes_contents_size();
    case Kind::kHalf:
      break;
  }
  return -1;
}

int64_t TypedSize(const Contents& contents) {
  return int64_t{contents.bool_contents_size()} + contents.int_contents_size() +
         contents.int64_contents_size() + contents.uint_contents_size() +
         contents.uint64_contents_size() + contents.fp32_contents_size() +
         contents.fp64_contents_size() + contents.bytes_contents_size();
}

}  // namespace

absl::string_view KindOf(const Value& value) {
  constexpr absl::string_view kKinds[] = {"a boolean", "an integer",
                                          "an integer", "a number", "a string"};
  return kKinds[value.index()];
}

absl::StatusOr<InputTensor> InputTensor::Read(const Message& tensor,
                                              const std::string* raw) {
  const Datatype* const datatype = FindDatatype(tensor.datatype());
  if (datatype == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrFormat("input %s: datatype is %s, which is none of the "
                        "protocol's",
                        Quoted(tensor.name()), Quoted(tensor.datatype())));
  }
  RETURN_IF_ERROR(CheckParameters(tensor, raw));
  ASSIGN_OR_RETURN(const int64_t size, CountElements(tensor));
  InputTensor read(tensor, *datatype, size);
  if (raw == nullptr) {
    RETURN_IF_ERROR(read.CheckTyped());
  } else {
    RETURN_IF_ERROR(read.TakeRaw(*raw));
  }
  return read;
}

absl::Status InputTensor::Error(absl::string_view what) const {
  return absl::InvalidArgumentError(
      absl::StrCat("input ", Quoted(name()), ": ", what));
}

absl::Status InputTensor::CheckBytes() const {
  if (datatype_->kind == Kind::kBytes) return absl::OkStatus();
  return Error(
      absl::StrCat("datatype is ", datatype_->name, ", must be BYTES"));
}

absl::Status InputTensor::CheckIntegers() const {
  if (datatype_->is_integer()) return absl::OkStatus();
  return Error(absl::StrCat("datatype is ", datatype_->name,
                            ", must be INT32, INT64 or another integer"));
}

absl::Status InputTensor::TakeRaw(const std::string& raw) {
  if (datatype_->kind == Kind::kBytes) return TakeRawBytes(raw);
  if (raw.size() % datatype_->bytes != 0 ||
      static_cast<int64_t>(raw.size() / datatype_->bytes) != size_) {
    return Error(absl::StrFormat(
        "raw contents have %d bytes, must have %d elements of %d bytes",
        raw.size(), size_, datatype_->bytes));
  }
  raw_ = raw.data();
  return absl::OkStatus();
}

absl::Status InputTensor::TakeRawBytes(const std::string& raw) {
  absl::string_view rest = raw;
  while (!rest.empty()) {
    size_t length = std::numeric_limits<size_t>::max();
    if (rest.size() >= kLengthBytes) {
      length = Load<uint32_t>(rest.data());
      rest.remove_prefix(kLengthBytes);
    }
    if (length > rest.size()) {
      return Error(
          absl::StrFormat("raw contents end inside element %d", texts_.size()));
    }
    if (static_cast<int64_t>(texts_.size()) == size_) {
      return Error(absl::StrFormat(
          "raw contents have more than the %d elements of the shape", size_));
    }
    texts_.push_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  if (static_cast<int64_t>(texts_.size()) == size_) return absl::OkStatus();
  return Error(absl::StrFormat(
      "raw contents have %d elements, must have %d as the shape says",
      texts_.size(), size_));
}

absl::Status InputTensor::CheckTyped() const {
  const int count = TypedSize(tensor_->contents(), *datatype_);
  if (count < 0) {
    return Error(absl::StrCat("datatype is ", datatype_->name,
                              ", whose contents must be raw"));
  }
  if (count != size_) {
    return Error(absl::StrFormat(
        "contents have %d elements of %s, must have %d as the shape says",
        count, std::string(datatype_->name), size_));
  }
  if (TypedSize(tensor_->contents()) == count) return absl::OkStatus();
  return Error(absl::StrCat("contents have elements of other datatypes than ",
                            datatype_->name));
}

Value InputTensor::at(int64_t index) const {
  ATTEND_CHECK(index >= 0 && index < size_);
  ATTEND_CHECK(datatype_->kind != Kind::kHalf);
  if (raw_ != nullptr) return RawAt(index);
  if (!texts_.empty()) return texts_[index];
  return TypedAt(static_cast<int>(index));
}

Value InputTensor::RawAt(int64_t index) const {
  const char* const from = raw_ + index * datatype_->bytes;
  switch (datatype_->kind) {
    case Kind::kBool:
      return *from != 0;
    case Kind::kInt:
      return LoadInt(from, datatype_->bytes);
    case Kind::kUint:
      return LoadUint(from, datatype_->bytes);
    case Kind::kFloat:
      return datatype_->bytes == 8 ? Load<double>(from) : Load<float>(from);
    case Kind::kHalf:
    case Kind::kBytes:
      break;
  }
  return false;
}

Value InputTensor::TypedAt(int index) const {
  const Contents& contents = tensor_->contents();
  const bool wide = datatype_->bytes == 8;
  switch (datatype_->kind) {
    case Kind::kBool:
      return contents.bool_contents(index);
    case Kind::kInt:
      return wide ? contents.int64_contents(index)
                  : int64_t{contents.int_contents(index)};
    case Kind::kUint:
      return wide ? contents.uint64_contents(index)
                  : uint64_t{contents.uint_contents(index)};
    case Kind::kFloat:
      return wide ? contents.fp64_contents(index)
                  : double{contents.fp32_contents(index)};
    case Kind::kHalf:
    case Kind::kBytes:
      break;
  }
  return absl::string_view(contents.bytes_contents(index));
}

absl::StatusOr<std::vector<InputTensor>> ReadTensors(
    const inference::ModelInferRequest& request) {
  const bool raw = request.raw_input_contents_size() > 0;
  if (raw && request.raw_input_contents_size() != request.inputs_size()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "raw_input_contents has %d entries, must have one for each of %d "
        "inputs, or none",
        request.raw_input_contents_size(), request.inputs_size()));
  }
  std::vector<InputTensor> tensors;
  std::set<absl::string_view> names;
  for (int i = 0; i < request.inputs_size(); ++i) {
    const InputTensor::Message& message = request.inputs(i);
    if (raw && message.has_contents()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("input %s: contents are set, must be unset where "
                          "raw_input_contents is used",
                          Quoted(message.name())));
    }
    if (!names.insert(message.name()).second) {
      return absl::InvalidArgumentError(
          absl::StrFormat("input %s is there twice", Quoted(message.name())));
    }
    ASSIGN_OR_RETURN(
        InputTensor tensor,
        InputTensor::Read(message,
                          raw ? &request.raw_input_contents(i) : nullptr));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace attend
