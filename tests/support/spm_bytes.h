#ifndef ATTEND_TESTS_SUPPORT_SPM_BYTES_H_
#define ATTEND_TESTS_SUPPORT_SPM_BYTES_H_

#include <cstring>
#include <string>

namespace attend {

// The bytes of SentencePiece model files, by hand.

// A field of a protocol buffer that is a message or a string.
inline std::string SpmField(int number, const std::string& bytes) {
  std::string field(1, static_cast<char>(number << 3 | 2));
  for (size_t n = bytes.size(); true; n >>= 7) {
    field.push_back(static_cast<char>((n & 0x7f) | (n > 0x7f ? 0x80 : 0)));
    if (n <= 0x7f) break;
  }
  return field + bytes;
}

// `type` as in SpmFile::Type.
inline std::string SpmPiece(const std::string& text, int type,
                            float score = 0) {
  char bytes[4];
  std::memcpy(bytes, &score, sizeof(bytes));
  return SpmField(1, SpmField(1, text) + "\x15" + std::string(bytes, 4) +
                         "\x18" + static_cast<char>(type));
}

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_SPM_BYTES_H_
