#include "engine/checkpoint/quantization.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr char kField[] = "quantization_config";

absl::StatusOr<int> ReadBits(const JsonFile& field, const char* key,
                             const std::vector<int>& known) {
  ASSIGN_OR_RETURN(const int64_t bits, field.Int(key));
  if (std::find(known.begin(), known.end(), bits) == known.end()) {
    return field.Unexpected(key, absl::StrJoin(known, " or "));
  }
  return static_cast<int>(bits);
}

// -1 is the whole row.
absl::StatusOr<int> ReadGroupSize(const JsonFile& field) {
  ASSIGN_OR_RETURN(const int64_t size, field.Int("group_size"));
  if (size == -1) return 0;
  if (size < 1) return field.Unexpected("group_size", "-1, or at least 1");
  return static_cast<int>(size);
}

// "version" is the older name of "format", and "checkpoint_format" that of
// GPTQ.
absl::StatusOr<std::string> ReadFormat(const JsonFile& field, const char* older,
                                       const char* fallback,
                                       const std::vector<std::string>& known) {
  const char* const key = field.Has(older) ? older : "format";
  ASSIGN_OR_RETURN(std::string format, field.StringOr(key, fallback));
  format = absl::AsciiStrToLower(format);
  if (std::find(known.begin(), known.end(), format) == known.end()) {
    return field.Unexpected(key, absl::StrJoin(known, " or "));
  }
  return format;
}

absl::StatusOr<Quantization> ReadAwq(const JsonFile& field) {
  RETURN_IF_ERROR(ReadFormat(field, "version", "gemm", {"gemm"}).status());
  ASSIGN_OR_RETURN(const bool zeros, field.BoolOr("zero_point", true));
  if (!zeros) return field.Unexpected("zero_point", "true");
  Quantization read = {.layout = MatrixLayout::kAwq};
  ASSIGN_OR_RETURN(read.bits, ReadBits(field, "bits", {4}));
  ASSIGN_OR_RETURN(read.group_size, ReadGroupSize(field));
  return read;
}

absl::StatusOr<Quantization> ReadGptq(const JsonFile& field) {
  ASSIGN_OR_RETURN(
      const std::string format,
      ReadFormat(field, "checkpoint_format", "gptq", {"gptq", "gptq_v2"}));
  // Other numbers for some modules; another layout.
  RETURN_IF_ERROR(field.ExpectNeutral("dynamic", 0));
  RETURN_IF_ERROR(field.ExpectNeutral("is_marlin_format", 0));
  ASSIGN_OR_RETURN(const std::string words,
                   field.StringOr("pack_dtype", "int32"));
  if (words != "int32") return field.Unexpected("pack_dtype", "int32");
  Quantization read = {.layout = MatrixLayout::kGptq,
                       .zeros_less_one = format == "gptq"};
  ASSIGN_OR_RETURN(read.bits, ReadBits(field, "bits", {2, 4, 8}));
  ASSIGN_OR_RETURN(read.group_size, ReadGroupSize(field));
  return read;
}

// The numbers of one of compressed-tensors' groups of modules.
absl::StatusOr<Quantization> ReadScheme(const JsonFile& weights,
                                        MatrixLayout layout) {
  ASSIGN_OR_RETURN(const std::string type, weights.StringOr("type", "int"));
  if (type != "int") return weights.Unexpected("type", "int");
  const bool packed = layout == MatrixLayout::kPackQuantized;
  Quantization read = {.layout = layout};
  ASSIGN_OR_RETURN(read.bits, ReadBits(weights, "num_bits",
                                       packed ? std::vector<int>{2, 4, 8}
                                              : std::vector<int>{8}));
  ASSIGN_OR_RETURN(const std::string strategy, weights.String("strategy"));
  if (packed && strategy == "group") {
    ASSIGN_OR_RETURN(read.group_size, ReadGroupSize(weights));
  } else if (strategy != "channel" && (packed || strategy != "tensor")) {
    return weights.Unexpected(
        "strategy", packed ? "group or channel" : "channel or tensor");
  }
  // Groups that are no neighbours.
  if (weights.Has("actorder")) {
    ASSIGN_OR_RETURN(const std::string order, weights.String("actorder"));
    if (order != "static" && order != "weight") {
      return weights.Unexpected("actorder", "static or weight");
    }
  }
  ASSIGN_OR_RETURN(const bool symmetric, weights.BoolOr("symmetric", true));
  if (packed || symmetric) return read;
  return weights.Unexpected("symmetric", "true where numbers are int8");
}

// Inputs of matrix products may be rounded to int8 row by row: that is what
// --dtype=int8 does, and the other dtypes are more exact.
absl::Status CheckActivations(const JsonFile& group) {
  RETURN_IF_ERROR(group.ExpectNeutral("output_activations", 0));
  if (!group.Has("input_activations")) return absl::OkStatus();
  ASSIGN_OR_RETURN(const JsonFile inputs, group.Object("input_activations"));
  ASSIGN_OR_RETURN(const std::string type, inputs.StringOr("type", "int"));
  if (type != "int") return inputs.Unexpected("type", "int");
  RETURN_IF_ERROR(ReadBits(inputs, "num_bits", {8}).status());
  ASSIGN_OR_RETURN(const bool dynamic, inputs.BoolOr("dynamic", false));
  return dynamic ? absl::OkStatus() : inputs.Unexpected("dynamic", "true");
}

// No number may be left out.
absl::Status CheckSparsity(const JsonFile& field) {
  constexpr char kKey[] = "sparsity_config";
  if (field.ExpectNeutral(kKey, 0).ok()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const JsonFile sparsity, field.Object(kKey));
  ASSIGN_OR_RETURN(const std::string format, sparsity.String("format"));
  return format == "dense" ? absl::OkStatus()
                           : sparsity.Unexpected("format", "dense");
}

absl::StatusOr<MatrixLayout> ReadLayout(const JsonFile& group) {
  ASSIGN_OR_RETURN(const std::string format, group.String("format"));
  if (format == "pack-quantized") return MatrixLayout::kPackQuantized;
  if (format == "int-quantized") return MatrixLayout::kIntQuantized;
  return group.Unexpected("format", "pack-quantized or int-quantized");
}

absl::StatusOr<Quantization> ReadCompressedTensors(const JsonFile& field) {
  RETURN_IF_ERROR(field.ExpectNeutral("kv_cache_scheme", 0));
  RETURN_IF_ERROR(field.ExpectNeutral("transform_config", 0));
  RETURN_IF_ERROR(CheckSparsity(field));
  ASSIGN_OR_RETURN(const JsonFile groups, field.Object("config_groups"));
  const nlohmann::json& all = *field.Find("config_groups");
  if (all.size() != 1) {
    return field.Unexpected("config_groups", "one group of modules");
  }
  ASSIGN_OR_RETURN(const JsonFile group, groups.Object(all.begin().key()));
  // Older files have one format for all groups.
  ASSIGN_OR_RETURN(const MatrixLayout layout,
                   ReadLayout(group.Has("format") ? group : field));
  RETURN_IF_ERROR(CheckActivations(group));
  ASSIGN_OR_RETURN(const JsonFile weights, group.Object("weights"));
  return ReadScheme(weights, layout);
}

// How inputs of matrix products are rounded is left to --dtype.
absl::StatusOr<Quantization> ReadTorchao(const JsonFile& field) {
  ASSIGN_OR_RETURN(const JsonFile types, field.Object("quant_type"));
  ASSIGN_OR_RETURN(const JsonFile type, types.Object("default"));
  ASSIGN_OR_RETURN(const std::string name, type.String("_type"));
  if (name == "Int8WeightOnlyConfig" ||
      name == "Int8DynamicActivationInt8WeightConfig") {
    return Quantization{.layout = MatrixLayout::kTorchaoInt8, .bits = 8};
  }
  return type.Unexpected(
      "_type", "Int8WeightOnlyConfig or Int8DynamicActivationInt8WeightConfig");
}

}  // namespace

absl::StatusOr<Quantization> ReadQuantization(const JsonFile& config) {
  if (!config.Has(kField)) return Quantization();
  ASSIGN_OR_RETURN(const JsonFile field, config.Object(kField));
  ASSIGN_OR_RETURN(const std::string method, field.String("quant_method"));
  if (method == "awq") return ReadAwq(field);
  if (method == "gptq") return ReadGptq(field);
  if (method == "compressed-tensors") return ReadCompressedTensors(field);
  if (method == "torchao") return ReadTorchao(field);
  return field.Unexpected("quant_method",
                          "one of awq, gptq, compressed-tensors, torchao");
}

}  // namespace attend
