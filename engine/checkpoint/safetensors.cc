#include "engine/checkpoint/safetensors.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/json/json_parse.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxDims = 8;

struct DtypeSize {
  absl::string_view name;
  size_t bytes;
};
constexpr DtypeSize kDtypes[] = {
    {"F64", 8},     {"I64", 8},     {"U64", 8},  {"F32", 4}, {"I32", 4},
    {"U32", 4},     {"F16", 2},     {"BF16", 2}, {"I16", 2}, {"U16", 2},
    {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"I8", 1},   {"U8", 1},  {"BOOL", 1},
};

// The value if it is a whole number in [0, 2^63), else -1.
int64_t Natural(const Json& value) {
  if (!value.is_number_unsigned()) return -1;
  const uint64_t number = value.get<uint64_t>();
  if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return -1;
  }
  return static_cast<int64_t>(number);
}

// The member `key` of an object, or null.
const Json& Member(const Json& object, const char* key) {
  static const Json null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

// `prefix` begins every error; the tensors' bytes are file[data_begin, size).
absl::StatusOr<SafetensorsEntry> ParseEntry(const std::string& prefix,
                                            const Json& value,
                                            size_t data_bytes) {
  const auto error = [&](const char* key, absl::string_view expected) {
    return absl::InvalidArgumentError(absl::StrCat(prefix, key, " is ",
                                                   JsonText(Member(value, key)),
                                                   ", expected ", expected));
  };
  if (!value.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(prefix, "is ", JsonText(value), ", expected an object"));
  }
  SafetensorsEntry entry;
  const Json& dtype = Member(value, "dtype");
  if (dtype.is_string()) entry.dtype = dtype.get<std::string>();
  const auto* size =
      std::find_if(std::begin(kDtypes), std::end(kDtypes),
                   [&](const DtypeSize& d) { return d.name == entry.dtype; });
  if (size == std::end(kDtypes)) return error("dtype", "F64, F32, F16 or BF16");

  const Json& shape = Member(value, "shape");
  if (!shape.is_array() || shape.size() > kMaxDims) {
    return error("shape", absl::StrCat("at most ", kMaxDims, " numbers"));
  }
  size_t bytes = size->bytes;
  for (const Json& dim : shape) {
    entry.shape.push_back(Natural(dim));
    if (entry.shape.back() < 0) return error("shape", "numbers from 0 up");
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(entry.shape.back()),
                               &bytes)) {
      return error("shape", "a product below 2^64 bytes");
    }
  }

  const Json& offsets = Member(value, "data_offsets");
  if (!offsets.is_array() || offsets.size() != 2 || Natural(offsets[0]) < 0 ||
      Natural(offsets[1]) < Natural(offsets[0]) ||
      static_cast<size_t>(Natural(offsets[1])) > data_bytes) {
    return error("data_offsets",
                 absl::StrCat("a begin and an end in [0, ", data_bytes,
                              "], the bytes after the header (is the file "
                              "cut?)"));
  }
  entry.begin = static_cast<size_t>(Natural(offsets[0]));
  entry.end = static_cast<size_t>(Natural(offsets[1]));
  if (entry.end - entry.begin != bytes) {
    return error("data_offsets", absl::StrCat(bytes, " bytes for ", entry.dtype,
                                              " of shape ", JsonText(shape)));
  }
  return entry;
}

// Tensors must lie one after the other and fill the file: a gap or an overlap
// means that some offset is not what its writer meant.
absl::Status CheckLayout(const std::string& path,
                         const std::map<std::string, SafetensorsEntry>& entries,
                         size_t data_bytes) {
  std::vector<std::pair<const SafetensorsEntry*, const std::string*>> order;
  order.reserve(entries.size());
  for (const auto& [name, entry] : entries) order.emplace_back(&entry, &name);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first->begin, a.first->end) <
           std::pair(b.first->begin, b.first->end);
  });
  size_t end = 0;
  const std::string* last = nullptr;
  for (const auto& [entry, name] : order) {
    if (entry->begin != end) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": tensor ", *name, " begins at ", entry->begin, ", expected ",
          end, entry->begin < end ? ", since it overlaps " : ", the end of ",
          last == nullptr ? "the header" : *last));
    }
    end = entry->end;
    last = name;
  }
  if (end != data_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": has ", data_bytes,
        " bytes after the header, but its tensors end at byte ", end));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::map<std::string, SafetensorsEntry>> ReadSafetensorsHeader(
    const std::string& path, absl::Span<const uint8_t> bytes) {
  if (bytes.size() < 8) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": ", bytes.size(), " bytes, too short for a safetensors file"));
  }
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | bytes[i];
  if (length > bytes.size() - 8) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": header length is ", length, ", but only ",
                     bytes.size() - 8, " bytes follow it"));
  }
  const absl::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8,
                               length);
  const size_t data_begin = 8 + length;
  const size_t data_bytes = bytes.size() - data_begin;

  ASSIGN_OR_RETURN(const Json header,
                   ParseJsonObject(absl::StrCat(path, ": header"), text));
  std::map<std::string, SafetensorsEntry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") continue;
    ASSIGN_OR_RETURN(entries[name],
                     ParseEntry(absl::StrCat(path, ": tensor ", name, ": "),
                                value, data_bytes));
  }
  RETURN_IF_ERROR(CheckLayout(path, entries, data_bytes));
  for (auto& [name, entry] : entries) {
    entry.begin += data_begin;
    entry.end += data_begin;
  }
  return entries;
}

}  // namespace attend
