#include "server/inference/sources.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/utf8.h"
#include "server/inference/json_message.h"

namespace attend {
namespace {

using Inputs = std::vector<v1::Input>;

// The maximum number of inputs of a call.
struct InputLimit {
  const Service& service;
  bool generates;  // the model, so that each input may take long

  absl::Status Check(const InputTensor& tensor, int64_t count) const {
    const std::string field = absl::StrCat("input '", tensor.name(), "'");
    if (!generates) return service.CheckManyInputs(field, count);
    return service.CheckCount(
        field, static_cast<int>(
                   std::min<int64_t>(count, std::numeric_limits<int>::max())));
  }
};

absl::Status WrongShape(const InputTensor& tensor, absl::string_view must) {
  std::vector<int64_t> shape;
  shape.reserve(tensor.rank());
  for (int i = 0; i < tensor.rank(); ++i) shape.push_back(tensor.dim(i));
  return tensor.Error(absl::StrFormat("shape is [%s], must be %s",
                                      absl::StrJoin(shape, ", "), must));
}

// INVALID_ARGUMENT unless the tensor has one element for each of some inputs.
// [1, inputs] is such a tensor, too: clients that add a dimension for batches
// send it.
absl::Status CheckColumn(const InputTensor& tensor) {
  const int rank = tensor.rank();
  if (rank == 1) return absl::OkStatus();
  if (rank == 2 && (tensor.dim(0) == 1 || tensor.dim(1) == 1)) {
    return absl::OkStatus();
  }
  return WrongShape(tensor, "[inputs], [inputs, 1] or [1, inputs]");
}

absl::StatusOr<std::vector<std::string>> ReadTexts(const InputTensor& tensor,
                                                   const InputLimit& limit) {
  RETURN_IF_ERROR(tensor.CheckBytes());
  RETURN_IF_ERROR(CheckColumn(tensor));
  RETURN_IF_ERROR(limit.Check(tensor, tensor.size()));
  std::vector<std::string> texts;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const auto text = std::get<absl::string_view>(tensor.at(i));
    if (const size_t at = FindInvalidUtf8(text);
        at != absl::string_view::npos) {
      return tensor.Error(
          absl::StrFormat("element %d is not UTF-8 at byte %d", i, at));
    }
    texts.emplace_back(text);
  }
  return texts;
}

absl::StatusOr<int32_t> ReadInt(const InputTensor& tensor, int64_t index) {
  const Value value = tensor.at(index);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  if (const auto* number = std::get_if<int64_t>(&value);
      number != nullptr && std::in_range<int32_t>(*number)) {
    return static_cast<int32_t>(*number);
  }
  if (const auto* number = std::get_if<uint64_t>(&value);
      number != nullptr && std::in_range<int32_t>(*number)) {
    return static_cast<int32_t>(*number);
  }
  return tensor.Error(absl::StrFormat("element %d is not in [%d, %d]", index,
                                      std::numeric_limits<int32_t>::min(),
                                      std::numeric_limits<int32_t>::max()));
}

// Ids of some inputs, and what goes with them.
struct IdTensors {
  const InputTensor& ids;
  const InputTensor* lengths;
  const InputTensor* mask;
  const InputTensor* types;

  absl::Status Check(const InputLimit& limit) const {
    RETURN_IF_ERROR(ids.CheckIntegers());
    if (ids.rank() != 2) return WrongShape(ids, "[inputs, length]");
    RETURN_IF_ERROR(limit.Check(ids, ids.dim(0)));
    if (lengths != nullptr) {
      RETURN_IF_ERROR(lengths->CheckIntegers());
      RETURN_IF_ERROR(CheckColumn(*lengths));
      if (lengths->size() != ids.dim(0)) {
        return WrongShape(
            *lengths,
            absl::StrFormat("[%1$d], [%1$d, 1] or [1, %1$d]", ids.dim(0)));
      }
    }
    RETURN_IF_ERROR(CheckBeside(mask, /*flags=*/true));
    return CheckBeside(types, /*flags=*/false);
  }

  absl::StatusOr<v1::Tokens> Read(int64_t row, bool leave_out_masked) const {
    ASSIGN_OR_RETURN(const int64_t length, Length(row));
    v1::Tokens tokens;
    for (int64_t i = row * ids.dim(1); i < row * ids.dim(1) + length; ++i) {
      int32_t counts = 1;
      if (mask != nullptr) {
        ASSIGN_OR_RETURN(counts, ReadInt(*mask, i));
        if (leave_out_masked && counts == 0) continue;
        if (leave_out_masked && counts != 1) {
          return mask->Error(
              absl::StrFormat("element %d is %d, must be 0 or 1", i, counts));
        }
        if (!leave_out_masked) tokens.add_attention_mask(counts);
      }
      ASSIGN_OR_RETURN(const int32_t id, ReadInt(ids, i));
      tokens.add_ids(id);
      if (types == nullptr) continue;
      ASSIGN_OR_RETURN(const int32_t type, ReadInt(*types, i));
      tokens.add_types(type);
    }
    return tokens;
  }

 private:
  absl::Status CheckBeside(const InputTensor* tensor, bool flags) const {
    if (tensor == nullptr) return absl::OkStatus();
    if (!flags || tensor->datatype().kind != Datatype::Kind::kBool) {
      RETURN_IF_ERROR(tensor->CheckIntegers());
    }
    if (tensor->rank() == 2 && tensor->dim(0) == ids.dim(0) &&
        tensor->dim(1) == ids.dim(1)) {
      return absl::OkStatus();
    }
    return WrongShape(*tensor,
                      absl::StrFormat("[%d, %d], that of '%s'", ids.dim(0),
                                      ids.dim(1), ids.name()));
  }

  absl::StatusOr<int64_t> Length(int64_t row) const {
    if (lengths == nullptr) return ids.dim(1);
    ASSIGN_OR_RETURN(const int32_t length, ReadInt(*lengths, row));
    if (length >= 0 && length <= ids.dim(1)) return length;
    return lengths->Error(absl::StrFormat(
        "element %d is %d, must be in [0, %d]", row, length, ids.dim(1)));
  }
};

absl::StatusOr<Inputs> ReadIds(const SourceTensors& names,
                               const InputTensor& ids, const InputLimit& limit,
                               const ServedModel& model,
                               RequestReader& reader) {
  const IdTensors tensors = {.ids = ids,
                             .lengths = reader.Take(names.lengths),
                             .mask = reader.Take(names.mask),
                             .types = reader.Take(names.types)};
  RETURN_IF_ERROR(tensors.Check(limit));
  Inputs inputs;
  for (int64_t row = 0; row < ids.dim(0); ++row) {
    ASSIGN_OR_RETURN(
        *inputs.emplace_back().mutable_tokens(),
        tensors.Read(row, /*leave_out_masked=*/model.info().continues_source));
  }
  return inputs;
}

absl::StatusOr<Inputs> ReadChats(const InputTensor& tensor,
                                 const InputLimit& limit) {
  ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                   ReadTexts(tensor, limit));
  Inputs inputs;
  for (const std::string& text : texts) {
    const std::string name =
        absl::StrCat(tensor.name(), "[", inputs.size(), "]");
    RETURN_IF_ERROR(
        ReadJsonMessage(text, name, *inputs.emplace_back().mutable_chat()));
  }
  return inputs;
}

absl::StatusOr<Inputs> ReadTextInputs(const SourceTensors& names,
                                      const InputTensor& text,
                                      const InputLimit& limit,
                                      RequestReader& reader) {
  ASSIGN_OR_RETURN(std::vector<std::string> texts, ReadTexts(text, limit));
  Inputs inputs(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    inputs[i].set_text(std::move(texts[i]));
  }
  const InputTensor* const pair =
      names.pair.empty() ? nullptr : reader.Take(names.pair);
  if (pair == nullptr) return inputs;
  ASSIGN_OR_RETURN(std::vector<std::string> pairs, ReadTexts(*pair, limit));
  if (pairs.size() != inputs.size()) {
    return WrongShape(*pair, absl::StrFormat("that of '%s'", text.name()));
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    inputs[i].set_pair(std::move(pairs[i]));
  }
  return inputs;
}

}  // namespace

absl::StatusOr<Inputs> TakeSources(const SourceTensors& names,
                                   const Service& service,
                                   const ServedModel& model,
                                   RequestReader& reader) {
  const InputLimit limit = {service, model.info().generates};
  const InputTensor* found = nullptr;
  for (absl::string_view name : {names.text, names.ids, names.chat}) {
    if (name.empty()) continue;
    const InputTensor* const tensor = reader.Take(name);
    if (tensor == nullptr) continue;
    if (found != nullptr) {
      return tensor->Error(absl::StrFormat(
          "input '%s' is there, too; must be one of them", found->name()));
    }
    found = tensor;
  }
  if (found == nullptr) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "there is no input '%s' and no input '%s'", names.text, names.ids));
  }
  if (found->name() == names.ids) {
    return ReadIds(names, *found, limit, model, reader);
  }
  if (found->name() == names.text) {
    return ReadTextInputs(names, *found, limit, reader);
  }
  return ReadChats(*found, limit);
}

absl::StatusOr<std::vector<std::string>> TakeTexts(absl::string_view name,
                                                   const Service& service,
                                                   RequestReader& reader) {
  const InputTensor* const tensor = reader.Take(name);
  if (tensor != nullptr) {
    return ReadTexts(*tensor, {service, /*generates=*/false});
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("there is no input '%s'", name));
}

}  // namespace attend
