#include "engine/tokenizer/files/byte_characters.h"

#include <array>

namespace attend {
namespace {

// U+0000 to U+07FF.
std::string Utf8Of(int character) {
  if (character < 0x80) return std::string(1, static_cast<char>(character));
  return {static_cast<char>(0xC0 | (character >> 6)),
          static_cast<char>(0x80 | (character & 0x3F))};
}

// The character that stands for each byte in GPT-2's vocabularies: the byte
// itself if it can be seen in Latin-1, else one from U+0100 on.
std::array<std::string, 256> ByteCharacters() {
  std::array<std::string, 256> characters;
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool seen =
        (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    characters[byte] = Utf8Of(seen ? byte : next++);
  }
  return characters;
}

}  // namespace

std::string SpellBytes(absl::string_view bytes) {
  static const auto* characters =
      new std::array<std::string, 256>(ByteCharacters());
  std::string spelled;
  for (const char byte : bytes) {
    spelled += (*characters)[static_cast<unsigned char>(byte)];
  }
  return spelled;
}

}  // namespace attend
