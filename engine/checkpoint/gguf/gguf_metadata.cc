#include "engine/checkpoint/gguf/gguf_metadata.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/json/utf8.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMaxKeyBytes = 256;
constexpr uint64_t kMaxTextBytes = 16 << 20;
// What an element of an array takes in memory, beside its text.
constexpr uint64_t kElementBytes = 64;

// The types of values, by their numbers in a file.
enum class Type : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
};

class MetadataReader {
 public:
  explicit MetadataReader(ByteReader& reader) : reader_(reader) {}

  absl::StatusOr<Json> ReadAll(uint64_t count) {
    Json all = Json::object();
    for (uint64_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(key_, ReadText(kMaxKeyBytes, absl::StrCat("key ", i)));
      ASSIGN_OR_RETURN(const Type type, ReadType());
      Json value;
      if (type == Type::kArray) {
        ASSIGN_OR_RETURN(value, ReadArray());
      } else {
        ASSIGN_OR_RETURN(value, ReadValue(type));
      }
      if (!all.emplace(key_, std::move(value)).second) {
        return Error("occurs twice");
      }
    }
    return all;
  }

 private:
  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(reader_.path(), ": ", key_, " ", what));
  }

  absl::StatusOr<Type> ReadType() {
    ASSIGN_OR_RETURN(const uint32_t number, reader_.Read<uint32_t>(key_));
    if (number <= static_cast<uint32_t>(Type::kF64)) {
      return static_cast<Type>(number);
    }
    return Error(
        absl::StrCat("has a value of type ", number, ", expected at most 12"));
  }

  absl::StatusOr<std::string> ReadText(uint64_t limit, std::string what) {
    ASSIGN_OR_RETURN(const absl::string_view text, reader_.Text(limit, what));
    if (const size_t at = FindInvalidUtf8(text); at != text.npos) {
      return absl::InvalidArgumentError(absl::StrCat(
          reader_.path(), ": ", what, " is not UTF-8 at its byte ", at));
    }
    return std::string(text);
  }

  absl::StatusOr<Json> ReadArray() {
    ASSIGN_OR_RETURN(const Type type, ReadType());
    ASSIGN_OR_RETURN(const uint64_t count, reader_.Read<uint64_t>(key_));
    if (type == Type::kArray) {
      return Error("is an array of arrays, which is not supported");
    }
    if (count > kMaxElements - elements_) {
      return Error(absl::StrCat("has ", count, " elements, limit is ",
                                kMaxElements, " in all arrays"));
    }
    // An element has a byte at least.
    if (count > reader_.left()) {
      return Error(absl::StrCat("has ", count, " elements, but only ",
                                reader_.left(),
                                " bytes follow (is the file cut?)"));
    }
    elements_ += count;
    RETURN_IF_ERROR(CheckRoomFor(count * kElementBytes));
    Json array = Json::array();
    array.get_ref<Json::array_t&>().reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(Json value, ReadValue(type));
      array.push_back(std::move(value));
    }
    return array;
  }

  template <typename Number>
  absl::StatusOr<Json> ReadNumber() {
    ASSIGN_OR_RETURN(const Number number, reader_.Read<Number>(key_));
    return Json(number);
  }

  template <typename Number>
  absl::StatusOr<Json> ReadFloat() {
    ASSIGN_OR_RETURN(const Number number, reader_.Read<Number>(key_));
    // JSON has no other numbers; some files have a NaN in a field that nobody
    // reads.
    return std::isfinite(number) ? Json(number) : Json();
  }

  absl::StatusOr<Json> ReadBool() {
    ASSIGN_OR_RETURN(const uint8_t value, reader_.Read<uint8_t>(key_));
    if (value > 1) {
      return Error(
          absl::StrCat("is a bool of value ", value, ", expected 0 ", "or 1"));
    }
    return Json(value == 1);
  }

  absl::StatusOr<Json> ReadValue(Type type) {
    switch (type) {
      case Type::kU8:
        return ReadNumber<uint8_t>();
      case Type::kI8:
        return ReadNumber<int8_t>();
      case Type::kU16:
        return ReadNumber<uint16_t>();
      case Type::kI16:
        return ReadNumber<int16_t>();
      case Type::kU32:
        return ReadNumber<uint32_t>();
      case Type::kI32:
        return ReadNumber<int32_t>();
      case Type::kF32:
        return ReadFloat<float>();
      case Type::kBool:
        return ReadBool();
      case Type::kString: {
        ASSIGN_OR_RETURN(std::string text, ReadText(kMaxTextBytes, key_));
        return Json(std::move(text));
      }
      case Type::kU64:
        return ReadNumber<uint64_t>();
      case Type::kI64:
        return ReadNumber<int64_t>();
      case Type::kF64:
        return ReadFloat<double>();
      case Type::kArray:
        break;
    }
    return Error("is an array in an array");
  }

  ByteReader& reader_;
  std::string key_;  // that is read
  uint64_t elements_ = 0;
};

}  // namespace

absl::StatusOr<JsonFile> ReadGgufMetadata(ByteReader& reader, uint64_t count) {
  if (count > kMaxKeys) {
    return absl::InvalidArgumentError(absl::StrCat(
        reader.path(), ": has ", count, " keys, limit is ", kMaxKeys));
  }
  ASSIGN_OR_RETURN(Json all, MetadataReader(reader).ReadAll(count));
  return JsonFile::Of(reader.path(), std::move(all));
}

}  // namespace attend
