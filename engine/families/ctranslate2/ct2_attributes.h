#ifndef ATTEND_ENGINE_FAMILIES_CTRANSLATE2_CT2_ATTRIBUTES_H_
#define ATTEND_ENGINE_FAMILIES_CTRANSLATE2_CT2_ATTRIBUTES_H_

#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/checkpoint/ctranslate2/ct2_model.h"
#include "engine/json/json_file.h"

namespace attend {

// Reads the attributes of a model.bin, and knows which were read. Errors are
// INVALID_ARGUMENT and name the file, the attribute, its value and what is
// expected.
class Ct2Attributes {
 public:
  // `model` must outlive this.
  explicit Ct2Attributes(const Ct2Model& model) : model_(model) {}

  // The whole number `name`; `fallback` if there is none; an error if there is
  // no fallback either.
  absl::StatusOr<int> Int(const std::string& name, IntRange range,
                          std::optional<int> fallback = std::nullopt);
  absl::StatusOr<float> Float(const std::string& name, FloatRange range,
                              float fallback);
  // The flag `name`; false if there is none.
  absl::StatusOr<bool> Flag(const std::string& name);
  // The value of an attribute of any kind; nullopt if there is none.
  std::optional<double> Find(const std::string& name);
  // Whether the attribute is there, and a floating-point number.
  bool IsFloat(const std::string& name) const;
  // OK if the attribute is absent or has this value.
  absl::Status Expect(const std::string& name, double value);
  // OK if all attributes were read: one that is not known may change the model.
  absl::Status CheckAllRead() const;

  absl::Status Unexpected(absl::string_view name,
                          absl::string_view expected) const;

 private:
  const Ct2Model& model_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_CTRANSLATE2_CT2_ATTRIBUTES_H_
