#ifndef ATTEND_SERVER_GRPC_HPACK_STRINGS_H_
#define ATTEND_SERVER_GRPC_HPACK_STRINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace attend {

// Copies header blocks in HPACK (RFC 7541), and shortens strings that no call
// may have. A decoder treats a string of more than 64 KiB as an error of the
// connection, although only the call that has the string is wrong, and would
// need memory for it. A shortened string has the same effect on the decoder's
// table: an entry that is larger than the table empties it (section 4.4).
class HpackStrings {
 public:
  // Longer strings, as they are encoded, become strings of kShortened bytes.
  static constexpr uint32_t kMaxString = 16 << 10;
  // More than the table has, which is 4,096 bytes as long as the server does
  // not announce another size; kMaxString bytes have at least 4,369 characters.
  static constexpr size_t kShortened = 8 << 10;

  // Appends the next bytes of the connection's header blocks to `out`. Keeps at
  // most the length of a string back. INVALID_ARGUMENT if that is no length.
  absl::Status Copy(absl::string_view bytes, std::string& out);

 private:
  enum class State { kField, kIndex, kLength, kMoreLength, kString };

  void OnField(uint8_t byte);
  absl::Status OnLength(uint8_t byte, std::string& out);
  void BeginString(std::string& out);
  void EndString();

  State state_ = State::kField;
  State after_index_ = State::kField;
  bool is_name_ = false;      // the string is a name; a value follows
  bool is_huffman_ = false;   // the string is encoded so
  bool is_skipped_ = false;   // the string has been shortened
  uint64_t string_left_ = 0;  // bytes of the string, or its length so far
  int shift_ = 0;             // of the next bits of its length
};

// Appends an integer with a prefix of 7 bits (RFC 7541, section 5.1). `flag` is
// the bit before the prefix.
void AppendHpackInteger(uint64_t value, bool flag, std::string& out);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_HPACK_STRINGS_H_
