#include "engine/tokenizer/spm/spm_file.h"

#include <cmath>
#include <cstddef>
#include <unordered_set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/spm/spm_model.pb.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

// Published models have at most 5 MB. A file of nothing but empty pieces takes
// 28 times its size in memory.
constexpr size_t kMaxBytes = size_t{16} << 20;
constexpr int kMaxPieces = 1 << 22;

absl::Status CheckPiece(const std::string& what, const SpmFile::Piece& piece) {
  if (piece.text.empty() ||
      FindInvalidUtf8(piece.text) != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " is empty or not UTF-8"));
  }
  if (std::isfinite(piece.score)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " has score ", piece.score, ", expected a number"));
}

absl::Status ReadPiece(const std::string& what, const spm::Model::Piece& read,
                       SpmFile::Piece& piece) {
  if (read.type() < 1 || read.type() > 6) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " has type ", read.type(), ", expected 1 to 6"));
  }
  piece = {.text = read.piece(),
           .score = read.score(),
           .type = static_cast<SpmFile::Type>(read.type())};
  return absl::OkStatus();
}

absl::Status ReadTrainer(const std::string& path,
                         const spm::Model::Trainer& read, SpmFile& file) {
  if (read.model_type() != 1 && read.model_type() != 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": model_type is ", read.model_type(),
        ", expected 1 (unigram) or 2 (bpe); others are not supported"));
  }
  for (const auto& [name, text] :
       {std::pair("unk_surface", &read.unk_surface()),
        std::pair("bos_piece", &read.bos_piece()),
        std::pair("eos_piece", &read.eos_piece())}) {
    if (FindInvalidUtf8(*text) == absl::string_view::npos) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", name, " is not UTF-8"));
  }
  if (read.bos_id() >= 0) file.bos = read.bos_piece();
  if (read.eos_id() >= 0) file.eos = read.eos_piece();
  file.model = static_cast<SpmFile::Model>(read.model_type());
  file.space_is_suffix = read.treat_whitespace_as_suffix();
  file.byte_fallback = read.byte_fallback();
  file.unknown_surface = read.unk_surface();
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSpmPieces(const std::string& path, SpmFile& file) {
  std::unordered_set<std::string> seen;
  int unknown = 0;
  int bytes = 0;
  for (size_t i = 0; i < file.pieces.size(); ++i) {
    const SpmFile::Piece& piece = file.pieces[i];
    RETURN_IF_ERROR(CheckPiece(absl::StrCat(path, ": piece ", i), piece));
    if (!seen.insert(piece.text).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": piece \"", piece.text, "\" occurs twice"));
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

absl::StatusOr<SpmFile> ParseSpmFile(const std::string& path,
                                     absl::string_view bytes) {
  if (bytes.size() > kMaxBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", bytes.size(), " bytes, limit is ", kMaxBytes));
  }
  spm::Model model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a sentencepiece model, or truncated"));
  }
  if (model.pieces_size() == 0 || model.pieces_size() > kMaxPieces) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", model.pieces_size(), " pieces, expected 1 to ",
                     kMaxPieces));
  }
  if (!model.denormalizer_spec().precompiled_charsmap().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": denormalizer_spec has rules, which is not supported"));
  }
  SpmFile file;
  file.pieces.resize(model.pieces_size());
  for (int i = 0; i < model.pieces_size(); ++i) {
    RETURN_IF_ERROR(ReadPiece(absl::StrCat(path, ": piece ", i),
                              model.pieces(i), file.pieces[i]));
  }
  RETURN_IF_ERROR(ReadTrainer(path, model.trainer_spec(), file));
  RETURN_IF_ERROR(CheckSpmPieces(path, file));
  const spm::Model::Normalizer& normalizer = model.normalizer_spec();
  file.charsmap = normalizer.precompiled_charsmap();
  file.add_dummy_prefix = normalizer.add_dummy_prefix();
  file.remove_extra_spaces = normalizer.remove_extra_whitespaces();
  file.escape_spaces = normalizer.escape_whitespaces();
  return file;
}

}  // namespace attend
