#include "server/inference/request_reader.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/tensor/status_macros.h"
#include "server/inference/field_value.h"
#include "server/inference/quoted.h"
#include "server/scheduler/request.h"

namespace attend {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Priorities of the protocol: 1 is the highest, 0 the default.
constexpr int kPriorityLevels = 2 * kMaxPriority + 1;

// Fields of attend.v1's requests that are set otherwise.
constexpr absl::string_view kNoParameters[] = {"model", "inputs", "pairs",
                                               "params", "priority"};

std::string ParameterName(absl::string_view name) {
  return absl::StrCat("parameter ", Quoted(name));
}

absl::Status WrongKind(const std::string& name, const Value& value,
                       absl::string_view must) {
  return absl::InvalidArgumentError(absl::StrCat(
      ParameterName(name), " is ", KindOf(value), ", must be ", must));
}

absl::StatusOr<Value> ToValue(const inference::InferParameter& parameter,
                              const std::string& name) {
  using Parameter = inference::InferParameter;
  switch (parameter.parameter_choice_case()) {
    case Parameter::kBoolParam:
      return parameter.bool_param();
    case Parameter::kInt64Param:
      return parameter.int64_param();
    case Parameter::kStringParam:
      return absl::string_view(parameter.string_param());
    case Parameter::kDoubleParam:
      return parameter.double_param();
    case Parameter::kUint64Param:
      return parameter.uint64_param();
    case Parameter::PARAMETER_CHOICE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(ParameterName(name), " has no value"));
}

// An integer in [low, high].
absl::StatusOr<int64_t> ToInteger(const std::string& name, const Value& value,
                                  int64_t low, int64_t high) {
  const auto outside = [&](auto number) {
    return absl::InvalidArgumentError(absl::StrCat(ParameterName(name), " is ",
                                                   number, ", must be in [",
                                                   low, ", ", high, "]"));
  };
  if (const auto* number = std::get_if<int64_t>(&value)) {
    if (*number < low || *number > high) return outside(*number);
    return *number;
  }
  if (const auto* number = std::get_if<uint64_t>(&value)) {
    if (*number > static_cast<uint64_t>(high)) return outside(*number);
    return static_cast<int64_t>(*number);
  }
  return WrongKind(name, value, "an integer");
}

// The field that a parameter sets, and the message that has the field.
struct Target {
  Message* message = nullptr;
  const FieldDescriptor* field = nullptr;
};

// No field if the name is one of `except`, or nobody's.
Target FindTarget(Message& request, absl::Span<const absl::string_view> except,
                  absl::string_view name) {
  const Descriptor& type = *request.GetDescriptor();
  if (absl::c_linear_search(kNoParameters, name) ||
      absl::c_linear_search(except, name)) {
    return {};
  }
  const auto* field = type.FindFieldByName(std::string(name));
  if (field != nullptr) return {&request, field};
  const auto* params = type.FindFieldByName("params");
  if (params == nullptr) return {};
  field = params->message_type()->FindFieldByName(std::string(name));
  if (field == nullptr) return {};
  return {request.GetReflection()->MutableMessage(&request, params), field};
}

// The names of all parameters that set fields of a message.
std::set<std::string> NamesOf(const Descriptor& type,
                              absl::Span<const absl::string_view> except) {
  std::set<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.name() == "params") {
      names.merge(NamesOf(*field.message_type(), except));
    } else if (!absl::c_linear_search(kNoParameters, field.name()) &&
               !absl::c_linear_search(except, field.name())) {
      names.insert(field.name());
    }
  }
  return names;
}

absl::Status Unknown(absl::string_view what, const Message& request,
                     absl::Span<const absl::string_view> except) {
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s is unknown; the parameters of this task are: %s", what,
      absl::StrJoin(NamesOf(*request.GetDescriptor(), except), ", ")));
}

// The elements of a tensor that has one value, or one list of values, for all
// inputs. Of a field that is no list each element is a row, whatever the shape.
absl::StatusOr<std::vector<Value>> CommonElements(const InputTensor& tensor,
                                                  bool is_list) {
  if (tensor.datatype().kind == Datatype::Kind::kHalf) {
    return tensor.Error("datatype is FP16 or BF16, must be another one");
  }
  int64_t row = is_list ? tensor.size() : std::min<int64_t>(tensor.size(), 1);
  if (is_list && tensor.rank() > 1 && tensor.dim(0) > 0) row /= tensor.dim(0);
  std::vector<Value> elements;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    Value element = tensor.at(i);
    if (i < row) {
      elements.push_back(element);
    } else if (element != elements[i % row]) {
      return tensor.Error(
          "its rows differ, but a parameter holds for all inputs of a request");
    }
  }
  return elements;
}

}  // namespace

absl::StatusOr<RequestReader> RequestReader::Read(
    const inference::ModelInferRequest& request) {
  RequestReader reader;
  RETURN_IF_ERROR(reader.ReadParameters(request.parameters()));
  ASSIGN_OR_RETURN(std::vector<InputTensor> tensors, ReadTensors(request));
  for (InputTensor& tensor : tensors) {
    if (request.parameters().contains(tensor.name())) {
      return tensor.Error("there is a parameter of this name, too");
    }
    bool known = false;
    if (tensor.size() == 1 && tensor.datatype().kind != Datatype::Kind::kHalf) {
      ASSIGN_OR_RETURN(
          known, reader.ReadProtocolParameter(tensor.name(), tensor.at(0)));
    }
    reader.tensors_.emplace_back(std::move(tensor), known);
  }
  return reader;
}

absl::Status RequestReader::ReadParameters(const Parameters& parameters) {
  // By name, so that of several errors it is always the same one.
  std::map<std::string, Value> all;
  for (const auto& [name, parameter] : parameters) {
    ASSIGN_OR_RETURN(const Value value, ToValue(parameter, name));
    all.emplace(name, value);
  }
  for (const auto& [name, value] : all) {
    ASSIGN_OR_RETURN(const bool known, ReadProtocolParameter(name, value));
    if (!known) parameters_.emplace(name, value);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> RequestReader::ReadProtocolParameter(
    const std::string& name, const Value& value) {
  if (name == "priority") {
    ASSIGN_OR_RETURN(const int64_t level,
                     ToInteger(name, value, 0, kPriorityLevels));
    if (level > 0) {
      protocol_.priority = kMaxPriority + 1 - static_cast<int>(level);
    }
  } else if (name == "timeout") {
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    ASSIGN_OR_RETURN(const int64_t timeout, ToInteger(name, value, 0, kMax));
    if (timeout > 0) protocol_.timeout = absl::Microseconds(timeout);
  } else if (name == "task") {
    const auto* task = std::get_if<absl::string_view>(&value);
    if (task == nullptr) return WrongKind(name, value, "a string");
    protocol_.task = std::string(*task);
  } else if (name == "stream" || name == "triton_enable_empty_final_response") {
    const auto* flag = std::get_if<bool>(&value);
    if (flag == nullptr) return WrongKind(name, value, "a boolean");
    // The other one changes nothing: the last response is never empty.
    if (name == "stream") protocol_.stream = *flag;
  } else if (name == "binary_data_output") {
    const auto* flag = std::get_if<bool>(&value);
    if (flag == nullptr || !*flag) {
      return absl::InvalidArgumentError(absl::StrCat(
          ParameterName(name), " is not true, but outputs are always raw"));
    }
  } else if (name == "sequence_id" || name == "sequence_start" ||
             name == "sequence_end") {
    return absl::InvalidArgumentError(
        absl::StrCat(ParameterName(name),
                     " is set, but models keep nothing from one request to "
                     "the next"));
  } else if (absl::StartsWith(name, "triton_")) {
    return absl::InvalidArgumentError(
        absl::StrCat(ParameterName(name), " is not supported"));
  } else {
    return false;
  }
  return true;
}

const InputTensor* RequestReader::Take(absl::string_view name) {
  if (name.empty()) return nullptr;
  for (auto& [tensor, taken] : tensors_) {
    if (tensor.name() != name) continue;
    taken = true;
    return &tensor;
  }
  return nullptr;
}

absl::Status RequestReader::TakeFields(
    absl::Span<const absl::string_view> except, Message& request) {
  for (const auto& [name, value] : parameters_) {
    const std::string field = ParameterName(name);
    const Target target = FindTarget(request, except, name);
    if (target.field == nullptr) return Unknown(field, request, except);
    RETURN_IF_ERROR(SetField(*target.message, *target.field, value, field));
  }
  for (auto& [tensor, taken] : tensors_) {
    if (std::exchange(taken, true)) continue;
    const std::string field = absl::StrCat("input ", Quoted(tensor.name()));
    const Target target = FindTarget(request, except, tensor.name());
    if (target.field == nullptr) return Unknown(field, request, except);
    ASSIGN_OR_RETURN(const std::vector<Value> elements,
                     CommonElements(tensor, target.field->is_repeated()));
    RETURN_IF_ERROR(SetField(*target.message, *target.field,
                             absl::MakeConstSpan(elements), field));
  }
  return absl::OkStatus();
}

}  // namespace attend
