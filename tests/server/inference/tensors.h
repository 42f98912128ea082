#ifndef ATTEND_TESTS_SERVER_INFERENCE_TENSORS_H_
#define ATTEND_TESTS_SERVER_INFERENCE_TENSORS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "inference/grpc_service.pb.h"

namespace attend {

// Tensors as a client writes and reads them, byte by byte.

using InferRequest = inference::ModelInferRequest;
using InferResponse = inference::ModelInferResponse;

template <class T>
std::string RawNumbers(const std::vector<T>& numbers) {
  std::string raw;
  for (const T& number : numbers) {
    raw.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  return raw;
}

inline std::string RawTexts(const std::vector<std::string>& texts) {
  std::string raw;
  for (const std::string& text : texts) {
    raw += RawNumbers<uint32_t>({static_cast<uint32_t>(text.size())}) + text;
  }
  return raw;
}

inline void AddRaw(InferRequest& request, const std::string& name,
                   const std::string& datatype,
                   const std::vector<int64_t>& shape, const std::string& raw) {
  auto& tensor = *request.add_inputs();
  tensor.set_name(name);
  tensor.set_datatype(datatype);
  tensor.mutable_shape()->Add(shape.begin(), shape.end());
  request.add_raw_input_contents(raw);
}

inline void AddTexts(InferRequest& request, const std::string& name,
                     const std::vector<std::string>& texts) {
  AddRaw(request, name, "BYTES", {static_cast<int64_t>(texts.size())},
         RawTexts(texts));
}

inline InferRequest OfTexts(const std::vector<std::string>& texts) {
  InferRequest request;
  AddTexts(request, "text_input", texts);
  return request;
}

// An output of a response; fails where there is none.
struct Output {
  std::string datatype;
  std::vector<int64_t> shape;
  std::string raw;

  template <class T>
  std::vector<T> numbers() const {
    std::vector<T> all(raw.size() / sizeof(T));
    std::memcpy(all.data(), raw.data(), all.size() * sizeof(T));
    return all;
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (size_t at = 0; at + 4 <= raw.size();) {
      uint32_t length;
      std::memcpy(&length, raw.data() + at, sizeof(length));
      all.push_back(raw.substr(at + 4, length));
      at += 4 + length;
    }
    return all;
  }
};

inline Output OutputOf(const InferResponse& response, const std::string& name) {
  EXPECT_EQ(response.outputs_size(), response.raw_output_contents_size());
  for (int i = 0; i < response.outputs_size(); ++i) {
    const auto& tensor = response.outputs(i);
    if (tensor.name() != name) continue;
    return {tensor.datatype(),
            {tensor.shape().begin(), tensor.shape().end()},
            response.raw_output_contents(i)};
  }
  ADD_FAILURE() << "no output " << name;
  return {};
}

inline std::vector<std::string> OutputNames(const InferResponse& response) {
  std::vector<std::string> names;
  for (const auto& tensor : response.outputs()) names.push_back(tensor.name());
  return names;
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_INFERENCE_TENSORS_H_
