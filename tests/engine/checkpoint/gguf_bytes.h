#ifndef ATTEND_TESTS_ENGINE_CHECKPOINT_GGUF_BYTES_H_
#define ATTEND_TESTS_ENGINE_CHECKPOINT_GGUF_BYTES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace attend {

// Parts of a GGUF file, as the bytes that they are.
template <typename Number>
std::string Raw(Number number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
}
inline std::string Text(const std::string& text) {
  return Raw<uint64_t>(text.size()) + text;
}

// A key and its value: the type, and the bytes.
inline std::string Key(const std::string& key, uint32_t type,
                       const std::string& value) {
  return Text(key) + Raw(type) + value;
}
inline std::string StringKey(const std::string& key, const std::string& text) {
  return Key(key, 8, Text(text));
}
inline std::string NumberKey(const std::string& key, uint32_t number) {
  return Key(key, 4, Raw(number));
}

inline std::string TensorInfo(const std::string& name,
                              const std::vector<uint64_t>& dims, uint32_t type,
                              uint64_t offset) {
  std::string bytes = Text(name) + Raw<uint32_t>(dims.size());
  for (const uint64_t dim : dims) bytes += Raw(dim);
  return bytes + Raw(type) + Raw(offset);
}

// A file of these keys, tensors and tensors' bytes, aligned to 32.
inline std::string Gguf(const std::vector<std::string>& keys,
                        const std::vector<std::string>& tensors,
                        const std::string& data) {
  std::string bytes = "GGUF" + Raw<uint32_t>(3) +
                      Raw<uint64_t>(tensors.size()) +
                      Raw<uint64_t>(keys.size());
  for (const std::string& key : keys) bytes += key;
  for (const std::string& tensor : tensors) bytes += tensor;
  bytes.resize((bytes.size() + 31) / 32 * 32);
  return bytes + data;
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_CHECKPOINT_GGUF_BYTES_H_
