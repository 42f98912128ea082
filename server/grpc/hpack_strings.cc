#include "server/grpc/hpack_strings.h"

#include <algorithm>
#include <limits>

namespace attend {
namespace {

constexpr uint8_t kPrefix7 = 0x7f;

}  // namespace

void AppendHpackInteger(uint64_t value, bool flag, std::string& out) {
  const char first = flag ? '\x80' : '\0';
  if (value < kPrefix7) {
    out.push_back(static_cast<char>(first | static_cast<char>(value)));
    return;
  }
  out.push_back(static_cast<char>(first | kPrefix7));
  value -= kPrefix7;
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  }
  out.push_back(static_cast<char>(value));
}

absl::Status HpackStrings::Copy(absl::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    if (state_ == State::kString) {
      const size_t size = std::min<uint64_t>(string_left_, bytes.size());
      if (!is_skipped_) out.append(bytes.data(), size);
      bytes.remove_prefix(size);
      string_left_ -= size;
      if (string_left_ == 0) EndString();
      continue;
    }
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    if (state_ == State::kLength || state_ == State::kMoreLength) {
      const absl::Status status = OnLength(byte, out);
      if (!status.ok()) return status;
      continue;
    }
    out.push_back(static_cast<char>(byte));
    if (state_ == State::kField) {
      OnField(byte);
    } else if ((byte & 0x80) == 0) {
      state_ = after_index_;
    }
  }
  return absl::OkStatus();
}

// The first byte of a field, or of a new size of the table (section 6).
void HpackStrings::OnField(uint8_t byte) {
  int prefix_bits = 4;  // a literal that does not go into the table
  bool literal = true;
  if ((byte & 0x80) != 0) {  // an entry of the table
    prefix_bits = 7;
    literal = false;
  } else if ((byte & 0x40) != 0) {  // a literal that goes into the table
    prefix_bits = 6;
  } else if ((byte & 0x20) != 0) {  // a new size
    prefix_bits = 5;
    literal = false;
  }
  const int prefix = (1 << prefix_bits) - 1;
  const int index = byte & prefix;
  is_name_ = literal && index == 0;
  const State next = literal ? State::kLength : State::kField;
  after_index_ = next;
  state_ = index == prefix ? State::kIndex : next;
}

absl::Status HpackStrings::OnLength(uint8_t byte, std::string& out) {
  if (state_ == State::kLength) {
    is_huffman_ = (byte & 0x80) != 0;
    string_left_ = byte & kPrefix7;
    shift_ = 0;
    state_ = State::kMoreLength;
    if (string_left_ == kPrefix7) return absl::OkStatus();
  } else {
    string_left_ += static_cast<uint64_t>(byte & 0x7f) << shift_;
    shift_ += 7;
    if (string_left_ > std::numeric_limits<uint32_t>::max() || shift_ > 35) {
      return absl::InvalidArgumentError("a header has no valid length");
    }
    if ((byte & 0x80) != 0) return absl::OkStatus();
  }
  BeginString(out);
  return absl::OkStatus();
}

void HpackStrings::BeginString(std::string& out) {
  is_skipped_ = string_left_ > kMaxString;
  if (is_skipped_) {
    AppendHpackInteger(kShortened, /*flag=*/false, out);
    out.append(kShortened, 'x');
  } else {
    AppendHpackInteger(string_left_, is_huffman_, out);
  }
  state_ = State::kString;
  if (string_left_ == 0) EndString();
}

void HpackStrings::EndString() {
  state_ = is_name_ ? State::kLength : State::kField;
  is_name_ = false;
}

}  // namespace attend
