#include "engine/checkpoint/torch/torch_file.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "engine/checkpoint/torch/byte_cursor.h"
#include "engine/checkpoint/torch/pickle_reader.h"
#include "engine/checkpoint/torch/torch_tensors.h"
#include "engine/checkpoint/torch/zip_directory.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

using Entries = std::map<std::string, TorchEntry>;

constexpr absl::string_view kPickle = "/data.pkl";
// The pickle of torch's magic number, after the two bytes of the protocol.
constexpr absl::string_view kMagic =
    "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

absl::Status Error(const std::string& path, absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", text));
}

absl::string_view TextOf(absl::Span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool IsOlder(absl::Span<const uint8_t> bytes) {
  absl::string_view text = TextOf(bytes);
  return absl::ConsumePrefix(&text, "\x80") && !text.empty() &&
         absl::StartsWith(text.substr(1), kMagic);
}

// The folder of the archive that has everything: that of data.pkl.
absl::StatusOr<std::string> FolderOf(
    const std::string& path, const std::map<std::string, ZipEntry>& files) {
  std::string folder;
  for (const auto& [name, entry] : files) {
    if (absl::StrContains(name, "/code/") ||
        absl::EndsWith(name, "/constants.pkl")) {
      return Error(path,
                   "a program of TorchScript, expected tensors alone; nothing "
                   "in it is run. Where the model comes from, save its "
                   "state_dict()");
    }
    absl::string_view rest = name;
    if (!absl::ConsumeSuffix(&rest, kPickle) || absl::StrContains(rest, '/')) {
      continue;
    }
    if (!folder.empty()) return Error(path, "has data.pkl twice");
    folder = std::string(rest);
  }
  if (!folder.empty()) return folder;
  return Error(path,
               "a zip archive without data.pkl, so torch.save() did not "
               "write it");
}

// Files of a folder must be in the archive as they are: they are mapped.
absl::Status CheckStored(const std::string& path, const std::string& folder,
                         const std::map<std::string, ZipEntry>& files) {
  for (const auto& [name, entry] : files) {
    if (!entry.packed || !absl::StartsWith(name, folder + "/")) continue;
    return Error(path, absl::StrCat("file ", name,
                                    " in it is compressed or encrypted, "
                                    "expected one that is stored as it is"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Entries> ReadArchive(const std::string& path,
                                    absl::Span<const uint8_t> bytes) {
  ASSIGN_OR_RETURN(const auto files, ReadZipDirectory(path, bytes));
  ASSIGN_OR_RETURN(const std::string folder, FolderOf(path, files));
  const auto bytes_of = [&](const ZipEntry& entry) {
    return bytes.subspan(entry.begin, entry.end - entry.begin);
  };
  RETURN_IF_ERROR(CheckStored(path, folder, files));
  const auto order = files.find(folder + "/byteorder");
  if (order != files.end() && TextOf(bytes_of(order->second)) != "little") {
    return Error(path, "byteorder is not little, expected little");
  }
  StorageBytes storages;
  const std::string data = folder + "/data/";
  for (const auto& [name, entry] : files) {
    absl::string_view key = name;
    if (absl::ConsumePrefix(&key, data)) storages.emplace(key, entry);
  }
  ASSIGN_OR_RETURN(
      const PickleValues pickle,
      ReadPickle(path, bytes_of(files.at(absl::StrCat(folder, kPickle)))));
  return TensorsOf(path, pickle, storages);
}

// Returns true if a little-endian machine wrote a file of the older format.
bool IsLittleEndian(const PickleValues& system) {
  const std::vector<PickleId>& items = system.values[system.root].items;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (system.values[items[i]].text == "little_endian") {
      return system.values[items[i + 1]].number != 0;
    }
  }
  return false;
}

// The bytes of the storages: for each of `keys`, the number of its elements and
// then the elements.
absl::StatusOr<StorageBytes> ReadStorages(const std::string& path,
                                          ByteCursor& cursor,
                                          const PickleValues& keys,
                                          const PickleValues& pickle) {
  std::map<absl::string_view, const TorchStorage*> known;
  for (const TorchStorage& storage : pickle.storages) {
    known.emplace(storage.key, &storage);
  }
  StorageBytes bytes;
  for (const PickleId id : keys.values[keys.root].items) {
    const auto found = known.find(keys.values[id].text);
    if (found == known.end()) {
      return Error(path, "has a storage that no tensor refers to");
    }
    const uint64_t count = cursor.Number(8);
    const TorchStorage& storage = *found->second;
    ZipEntry entry;
    entry.begin = cursor.at();
    uint64_t size = 0;
    if (__builtin_mul_overflow(count, storage.element_bytes, &size)) size = ~0;
    cursor.Take(size);
    entry.end = cursor.at();
    if (!cursor.ok()) {
      return Error(path, absl::StrCat("is cut within storage ", storage.key));
    }
    bytes.emplace(storage.key, entry);
  }
  return bytes;
}

// Pickles: the magic number, the protocol, the system, the dictionary, the keys
// of the storages.
absl::StatusOr<Entries> ReadOlder(const std::string& path,
                                  absl::Span<const uint8_t> bytes) {
  size_t at = 2 + kMagic.size();
  PickleValues pickles[4];
  for (PickleValues& pickle : pickles) {
    ASSIGN_OR_RETURN(pickle, ReadPickle(path, bytes.subspan(at)));
    at += pickle.bytes;
  }
  const auto& [protocol, system, dictionary, keys] = pickles;
  if (!IsLittleEndian(system)) {
    return Error(path, "little_endian is not true, expected true");
  }
  ByteCursor cursor(bytes, at);
  ASSIGN_OR_RETURN(const StorageBytes storages,
                   ReadStorages(path, cursor, keys, dictionary));
  return TensorsOf(path, dictionary, storages);
}

}  // namespace

absl::StatusOr<std::map<std::string, TorchEntry>> ReadTorchFile(
    const std::string& path, absl::Span<const uint8_t> bytes) {
  if (IsZip(bytes)) return ReadArchive(path, bytes);
  if (IsOlder(bytes)) return ReadOlder(path, bytes);
  return Error(path,
               "neither a zip archive nor the older format of torch.save(); "
               "where the model comes from, save_pretrained() of transformers "
               "writes model.safetensors");
}

}  // namespace attend
