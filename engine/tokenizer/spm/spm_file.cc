#include "engine/tokenizer/spm/spm_file.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

constexpr size_t kMaxPieces = 1 << 22;

// One field of a protocol buffer message (encoding of protobuf.dev).
struct Field {
  uint32_t number = 0;
  int wire_type = 0;        // 0: varint, 1: 64 bits, 2: bytes, 5: 32 bits
  uint64_t value = 0;       // of the other wire types
  absl::string_view bytes;  // of wire type 2
};

bool TakeVarint(absl::string_view& message, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !message.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(message[0]);
    message.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool TakeFixed(absl::string_view& message, size_t size, uint64_t& value) {
  if (message.size() < size) return false;
  value = 0;
  for (size_t i = size; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(message[i]);
  }
  message.remove_prefix(size);
  return true;
}

// False if `message` does not begin with a whole field.
bool TakeField(absl::string_view& message, Field& field) {
  uint64_t tag = 0;
  if (!TakeVarint(message, tag) || tag >> 3 == 0 || tag >> 32 != 0) {
    return false;
  }
  field.number = static_cast<uint32_t>(tag >> 3);
  field.wire_type = static_cast<int>(tag & 7);
  switch (field.wire_type) {
    case 0:
      return TakeVarint(message, field.value);
    case 1:
      return TakeFixed(message, 8, field.value);
    case 2:
      if (!TakeVarint(message, field.value) || field.value > message.size()) {
        return false;
      }
      field.bytes = message.substr(0, field.value);
      message.remove_prefix(field.value);
      return true;
    case 5:
      return TakeFixed(message, 4, field.value);
    default:
      return false;
  }
}

// What a message declares of the fields that it has; others may follow it.
struct Expected {
  uint32_t number;
  int wire_type;
};

// Calls `use` for each field; a known number of another wire type is an error.
absl::Status ForEachField(const std::string& what, absl::string_view message,
                          std::initializer_list<Expected> known,
                          absl::FunctionRef<void(const Field&)> use) {
  Field field;
  while (!message.empty()) {
    if (!TakeField(message, field)) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": not a sentencepiece model, or cut"));
    }
    for (const Expected& e : known) {
      if (e.number != field.number) continue;
      if (e.wire_type != field.wire_type) {
        return absl::InvalidArgumentError(
            absl::StrCat(what, ": field ", e.number, " has wire type ",
                         field.wire_type, ", expected ", e.wire_type));
      }
      use(field);
    }
  }
  return absl::OkStatus();
}

absl::Status ParsePiece(const std::string& what, absl::string_view message,
                        SpmFile::Piece& piece) {
  uint64_t type = 1;
  RETURN_IF_ERROR(ForEachField(
      what, message, {{1, 2}, {2, 5}, {3, 0}}, [&](const Field& field) {
        if (field.number == 1) piece.text = std::string(field.bytes);
        if (field.number == 2) {
          piece.score =
              std::bit_cast<float>(static_cast<uint32_t>(field.value));
        }
        if (field.number == 3) type = field.value;
      }));
  if (piece.text.empty() ||
      FindInvalidUtf8(piece.text) != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " is empty or not UTF-8"));
  }
  if (!std::isfinite(piece.score)) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " has score ", piece.score, ", expected a number"));
  }
  if (type < 1 || type > 6) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " has type ", type, ", expected 1 to 6"));
  }
  piece.type = static_cast<SpmFile::Type>(type);
  return absl::OkStatus();
}

absl::Status ParseTrainer(const std::string& path, absl::string_view message,
                          SpmFile& file) {
  uint64_t model_type = 1;
  RETURN_IF_ERROR(ForEachField(
      path + ": trainer_spec", message, {{3, 0}, {24, 0}, {35, 0}, {44, 2}},
      [&](const Field& field) {
        if (field.number == 3) model_type = field.value;
        if (field.number == 24) file.space_is_suffix = field.value != 0;
        if (field.number == 35) file.byte_fallback = field.value != 0;
        if (field.number == 44) file.unknown_surface = std::string(field.bytes);
      }));
  if (model_type != 1 && model_type != 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": model_type is ", model_type,
        ", expected 1 (unigram) or 2 (bpe); others are not supported"));
  }
  file.model = static_cast<SpmFile::Model>(model_type);
  if (FindInvalidUtf8(file.unknown_surface) != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": unk_surface is not UTF-8"));
  }
  return absl::OkStatus();
}

absl::Status ParseNormalizer(const std::string& path, absl::string_view message,
                             SpmFile& file) {
  return ForEachField(path + ": normalizer_spec", message,
                      {{2, 2}, {3, 0}, {4, 0}, {5, 0}},
                      [&](const Field& field) {
                        if (field.number == 2)
                          file.charsmap = std::string(field.bytes);
                        if (field.number == 3)
                          file.add_dummy_prefix = field.value != 0;
                        if (field.number == 4)
                          file.remove_extra_spaces = field.value != 0;
                        if (field.number == 5)
                          file.escape_spaces = field.value != 0;
                      });
}

// The rules that hold between pieces; finds the unknown one.
absl::Status CheckPieces(const std::string& path, SpmFile& file) {
  std::unordered_set<std::string> seen;
  int unknown = 0;
  int bytes = 0;
  for (size_t i = 0; i < file.pieces.size(); ++i) {
    const SpmFile::Piece& piece = file.pieces[i];
    if (!seen.insert(piece.text).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": piece \"", piece.text, "\" twice"));
    }
    if (piece.type == SpmFile::Type::kUnknown) {
      ++unknown;
      file.unknown_id = static_cast<int>(i);
    }
    if (piece.type == SpmFile::Type::kByte) ++bytes;
  }
  if (unknown != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", unknown, " unknown pieces, expected 1"));
  }
  if (bytes == 0 && !file.byte_fallback) return absl::OkStatus();
  for (int byte = 0; byte < 256; ++byte) {
    if (bytes != 256 || seen.count(absl::StrFormat("<0x%02X>", byte)) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": ", bytes, " byte pieces, expected <0x00> to <0xFF>"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SpmFile> ParseSpmFile(const std::string& path,
                                     absl::string_view bytes) {
  SpmFile file;
  std::vector<absl::string_view> pieces;
  absl::string_view trainer;
  absl::string_view normalizer;
  absl::string_view denormalizer;
  RETURN_IF_ERROR(ForEachField(path, bytes, {{1, 2}, {2, 2}, {3, 2}, {5, 2}},
                               [&](const Field& field) {
                                 if (field.number == 1)
                                   pieces.push_back(field.bytes);
                                 if (field.number == 2) trainer = field.bytes;
                                 if (field.number == 3)
                                   normalizer = field.bytes;
                                 if (field.number == 5)
                                   denormalizer = field.bytes;
                               }));
  if (pieces.empty() || pieces.size() > kMaxPieces) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": ", pieces.size(), " pieces, expected 1 to ", kMaxPieces));
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    RETURN_IF_ERROR(ParsePiece(absl::StrCat(path, ": piece ", i), pieces[i],
                               file.pieces.emplace_back()));
  }
  RETURN_IF_ERROR(ParseTrainer(path, trainer, file));
  RETURN_IF_ERROR(ParseNormalizer(path, normalizer, file));
  SpmFile other;
  RETURN_IF_ERROR(ParseNormalizer(path, denormalizer, other));
  if (!other.charsmap.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     ": denormalizer_spec has rules, which is not "
                     "supported"));
  }
  RETURN_IF_ERROR(CheckPieces(path, file));
  return file;
}

}  // namespace attend
