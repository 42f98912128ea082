#include "engine/checkpoint/ctranslate2/model_bin.h"

#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/checkpoint/tensor_source.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr uint32_t kMinVersion = 5;
constexpr uint32_t kMaxVersion = 6;
constexpr int kMaxRank = 4;
// Far above every model: a model with 128 layers has some 4000 variables.
constexpr uint32_t kMaxVariables = 1 << 17;

// Reads a file from its start on.
class Reader {
 public:
  Reader(const std::string& path, absl::Span<const uint8_t> bytes)
      : path_(path), bytes_(bytes) {}

  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }

  // `what` is what is read, as errors name it.
  template <typename T>
  absl::StatusOr<T> Number(absl::string_view what) {
    T number;
    ASSIGN_OR_RETURN(const auto bytes, Take(sizeof(number), what));
    std::memcpy(&number, bytes.data(), sizeof(number));
    return number;
  }

  absl::StatusOr<std::string> String(absl::string_view what) {
    ASSIGN_OR_RETURN(const uint16_t length, Number<uint16_t>(what));
    ASSIGN_OR_RETURN(const auto bytes, Take(length, what));
    if (length < 2 || bytes[length - 1] != 0) {
      return Error(what, absl::StrCat("a string of ", length, " bytes"),
                   "one character or more, and a zero at the end");
    }
    return std::string(bytes.begin(), bytes.end() - 1);
  }

  absl::StatusOr<absl::Span<const uint8_t>> Take(size_t count,
                                                 absl::string_view what) {
    if (count > left()) {
      return Error(what, absl::StrCat(count, " bytes at byte ", at_),
                   absl::StrCat("at most ", left(),
                                ", the rest of the file (is it cut?)"));
    }
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }

  absl::StatusOr<uint32_t> Count(absl::string_view what) {
    ASSIGN_OR_RETURN(const uint32_t count, Number<uint32_t>(what));
    if (count <= kMaxVariables) return count;
    return Error(what, absl::StrCat(count),
                 absl::StrCat("at most ", kMaxVariables));
  }

  absl::Status Error(absl::string_view what, absl::string_view found,
                     absl::string_view expected) const {
    return absl::InvalidArgumentError(absl::StrCat(
        path_, ": ", what, " is ", found, ", expected ", expected));
  }

 private:
  const std::string& path_;
  const absl::Span<const uint8_t> bytes_;
  size_t at_ = 0;
};

absl::Status ReadHead(Reader& file, ModelBin& model) {
  ASSIGN_OR_RETURN(const uint32_t version,
                   file.Number<uint32_t>("the version"));
  if (version < kMinVersion || version > kMaxVersion) {
    return file.Error("the version", absl::StrCat(version),
                      absl::StrCat(kMinVersion, " or ", kMaxVersion,
                                   ", as CTranslate2 3 and 4 write them"));
  }
  model.version = static_cast<int>(version);
  ASSIGN_OR_RETURN(model.spec, file.String("the name of the specification"));
  ASSIGN_OR_RETURN(const uint32_t revision,
                   file.Number<uint32_t>("the revision"));
  if (revision > 1000) {
    return file.Error("the revision", absl::StrCat(revision), "at most 1000");
  }
  model.revision = static_cast<int>(revision);
  return absl::OkStatus();
}

absl::StatusOr<Ct2Variable> ReadVariable(const std::string& name,
                                         Reader& file) {
  const std::string what = absl::StrCat("variable ", name, ": ");
  Ct2Variable variable;
  ASSIGN_OR_RETURN(const uint8_t rank, file.Number<uint8_t>(what + "the rank"));
  if (rank > kMaxRank) {
    return file.Error(what + "the rank", absl::StrCat(rank),
                      absl::StrCat("at most ", kMaxRank));
  }
  size_t count = 1;
  for (int i = 0; i < rank; ++i) {
    ASSIGN_OR_RETURN(const uint32_t dim,
                     file.Number<uint32_t>(what + "the shape"));
    variable.shape.push_back(dim);
    if (dim == 0 || __builtin_mul_overflow(count, size_t{dim}, &count)) {
      return file.Error(what + "the shape", ShapeText(variable.shape),
                        "numbers from 1 up, whose product is below 2^64");
    }
  }
  ASSIGN_OR_RETURN(const uint8_t type, file.Number<uint8_t>(what + "the type"));
  if (type > static_cast<uint8_t>(Ct2Type::kBfloat16)) {
    return file.Error(what + "the type", absl::StrCat(type), "0 to 5");
  }
  variable.type = static_cast<Ct2Type>(type);
  ASSIGN_OR_RETURN(const uint32_t bytes,
                   file.Number<uint32_t>(what + "the bytes"));
  if (bytes % BytesOf(variable.type) != 0 ||
      bytes / BytesOf(variable.type) != count) {
    return file.Error(what + "the bytes", absl::StrCat(bytes),
                      absl::StrCat(BytesOf(variable.type), " for each of ",
                                   ShapeText(variable.shape)));
  }
  variable.begin = file.at();
  RETURN_IF_ERROR(file.Take(bytes, what + "the data").status());
  variable.end = file.at();
  return variable;
}

absl::Status ReadVariables(Reader& file, ModelBin& model) {
  ASSIGN_OR_RETURN(const uint32_t count, file.Count("the number of variables"));
  for (uint32_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const std::string name,
                     file.String(absl::StrCat("the name of variable ", i)));
    ASSIGN_OR_RETURN(Ct2Variable variable, ReadVariable(name, file));
    if (!model.variables.emplace(name, std::move(variable)).second) {
      return file.Error("variable " + name, "there twice", "one");
    }
  }
  return absl::OkStatus();
}

absl::Status ReadAliases(Reader& file, ModelBin& model) {
  ASSIGN_OR_RETURN(const uint32_t count, file.Count("the number of aliases"));
  for (uint32_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(std::string name,
                     file.String(absl::StrCat("the name of alias ", i)));
    const std::string what = "alias " + name;
    ASSIGN_OR_RETURN(std::string variable, file.String(what));
    if (model.variables.count(variable) == 0) {
      return file.Error(what, variable, "the name of a variable");
    }
    if (model.variables.count(name) > 0 ||
        !model.aliases.emplace(std::move(name), std::move(variable)).second) {
      return file.Error(what, "a name that is there already", "another one");
    }
  }
  return absl::OkStatus();
}

}  // namespace

int BytesOf(Ct2Type type) {
  switch (type) {
    case Ct2Type::kInt8:
      return 1;
    case Ct2Type::kInt16:
    case Ct2Type::kFloat16:
    case Ct2Type::kBfloat16:
      return 2;
    case Ct2Type::kFloat32:
    case Ct2Type::kInt32:
      return 4;
  }
  return 0;
}

absl::StatusOr<ModelBin> ReadModelBin(const std::string& path,
                                      absl::Span<const uint8_t> bytes) {
  Reader file(path, bytes);
  ModelBin model;
  RETURN_IF_ERROR(ReadHead(file, model));
  RETURN_IF_ERROR(ReadVariables(file, model));
  RETURN_IF_ERROR(ReadAliases(file, model));
  if (file.left() > 0) {
    return file.Error("what follows the last alias",
                      absl::StrCat(file.left(), " bytes"), "the end");
  }
  return model;
}

}  // namespace attend
