#include "engine/checkpoint/torch/zip_directory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/checkpoint/torch/byte_cursor.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr uint64_t kLocalHeader = 0x04034b50;
constexpr uint64_t kDirectoryHeader = 0x02014b50;
constexpr uint64_t kZip64End = 0x06064b50;
constexpr uint64_t kZip64Locator = 0x07064b50;
constexpr uint64_t kEnd = 0x06054b50;
constexpr size_t kEndBytes = 22;
constexpr size_t kLocatorBytes = 20;
constexpr size_t kMaxComment = 0xffff;
// In the place of a number that zip64 has elsewhere.
constexpr uint64_t kElsewhere = 0xffffffff;
constexpr uint64_t kZip64Field = 1;
constexpr uint64_t kEncrypted = 1;

// Where an archive lists its files.
struct Directory {
  uint64_t entries = 0;
  uint64_t begin = 0;
};

// A file as the directory lists it.
struct Listed {
  absl::string_view name;
  uint64_t flags = 0;
  uint64_t method = 0;
  uint64_t packed = 0;  // bytes in the archive
  uint64_t size = 0;
  uint64_t header = 0;  // where its own header is
};

class ZipReader {
 public:
  ZipReader(const std::string& path, absl::Span<const uint8_t> bytes)
      : path_(path), bytes_(bytes) {}

  absl::StatusOr<std::map<std::string, ZipEntry>> Read() const;

 private:
  absl::Status Error(absl::string_view text) const {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": ", text));
  }
  absl::StatusOr<Directory> FindDirectory() const;
  absl::StatusOr<Directory> FindZip64(size_t end) const;
  absl::StatusOr<Listed> ReadListed(ByteCursor& cursor) const;
  absl::StatusOr<ZipEntry> Locate(const Listed& file) const;

  const std::string& path_;
  const absl::Span<const uint8_t> bytes_;
};

absl::StatusOr<Directory> ZipReader::FindDirectory() const {
  if (bytes_.size() >= kEndBytes) {
    const size_t last = bytes_.size() - kEndBytes;
    const size_t first = last - std::min(last, kMaxComment);
    for (size_t at = last + 1; at > first; --at) {
      ByteCursor cursor(bytes_, at - 1);
      if (cursor.Number(4) != kEnd) continue;
      cursor.Take(6);
      Directory directory;
      directory.entries = cursor.Number(2);
      const uint64_t size = cursor.Number(4);
      directory.begin = cursor.Number(4);
      if (directory.entries == 0xffff || size == kElsewhere ||
          directory.begin == kElsewhere) {
        return FindZip64(at - 1);
      }
      return directory;
    }
  }
  return Error("a zip archive without a directory at its end (is it cut?)");
}

// `end`: where the record at the end is; before it zip64 has two more.
absl::StatusOr<Directory> ZipReader::FindZip64(size_t end) const {
  if (end >= kLocatorBytes) {
    ByteCursor locator(bytes_, end - kLocatorBytes);
    if (locator.Number(4) == kZip64Locator) {
      locator.Take(4);
      ByteCursor cursor(bytes_, locator.Number(8));
      if (cursor.Number(4) == kZip64End) {
        cursor.Take(28);
        Directory directory;
        directory.entries = cursor.Number(8);
        cursor.Take(8);
        directory.begin = cursor.Number(8);
        if (cursor.ok()) return directory;
      }
    }
  }
  return Error("a zip64 archive without a directory at its end");
}

absl::StatusOr<Listed> ZipReader::ReadListed(ByteCursor& cursor) const {
  if (cursor.Number(4) != kDirectoryHeader) {
    return Error("the directory of the zip archive is cut or broken");
  }
  Listed file;
  cursor.Take(4);
  file.flags = cursor.Number(2);
  file.method = cursor.Number(2);
  cursor.Take(8);
  file.packed = cursor.Number(4);
  file.size = cursor.Number(4);
  const uint64_t name = cursor.Number(2);
  const uint64_t extra = cursor.Number(2);
  const uint64_t comment = cursor.Number(2);
  cursor.Take(8);
  file.header = cursor.Number(4);
  file.name = cursor.Text(name);
  const absl::Span<const uint8_t> fields = cursor.Take(extra);
  cursor.Take(comment);
  if (!cursor.ok()) return Error("the directory of the zip archive is cut");
  for (ByteCursor field(fields); field.ok();) {
    const uint64_t id = field.Number(2);
    ByteCursor value(field.Take(field.Number(2)));
    if (!field.ok() || id != kZip64Field) continue;
    for (uint64_t* number : {&file.size, &file.packed, &file.header}) {
      if (*number == kElsewhere) *number = value.Number(8);
    }
    if (!value.ok())
      return Error("the directory has a zip64 field that is cut");
  }
  return file;
}

absl::StatusOr<ZipEntry> ZipReader::Locate(const Listed& file) const {
  const auto error = [&](absl::string_view text) {
    return Error(absl::StrCat("file ", file.name, " in it ", text));
  };
  ByteCursor cursor(bytes_, file.header);
  if (cursor.Number(4) != kLocalHeader) return error("has no header");
  cursor.Take(22);
  const uint64_t name = cursor.Number(2);
  const uint64_t extra = cursor.Number(2);
  if (cursor.Text(name) != file.name) {
    return error("has a header with another name");
  }
  cursor.Take(extra);
  ZipEntry entry;
  entry.begin = cursor.at();
  cursor.Take(file.packed);
  entry.packed = file.method != 0 || file.packed != file.size ||
                 (file.flags & kEncrypted) != 0;
  entry.end = cursor.at();
  if (!cursor.ok()) return error("ends after the end of the archive");
  return entry;
}

absl::StatusOr<std::map<std::string, ZipEntry>> ZipReader::Read() const {
  ASSIGN_OR_RETURN(const Directory directory, FindDirectory());
  std::map<std::string, ZipEntry> entries;
  std::vector<std::pair<size_t, size_t>> spans;  // with headers
  ByteCursor cursor(bytes_, directory.begin);
  // Each takes bytes, so an error comes before a wrong count does harm.
  for (uint64_t i = 0; i < directory.entries; ++i) {
    ASSIGN_OR_RETURN(const Listed file, ReadListed(cursor));
    ASSIGN_OR_RETURN(const ZipEntry entry, Locate(file));
    if (!entries.emplace(file.name, entry).second) {
      return Error(absl::StrCat("file ", file.name, " is in it twice"));
    }
    spans.emplace_back(file.header, entry.end);
  }
  spans.emplace_back(directory.begin, bytes_.size());
  std::sort(spans.begin(), spans.end());
  for (size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].first < spans[i - 1].second) {
      return Error(
          absl::StrCat("files in it overlap at byte ", spans[i].first));
    }
  }
  return entries;
}

}  // namespace

bool IsZip(absl::Span<const uint8_t> bytes) {
  return ByteCursor(bytes).Number(4) == kLocalHeader;
}

absl::StatusOr<std::map<std::string, ZipEntry>> ReadZipDirectory(
    const std::string& path, absl::Span<const uint8_t> bytes) {
  return ZipReader(path, bytes).Read();
}

}  // namespace attend
