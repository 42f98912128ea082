#ifndef ATTEND_ENGINE_CHECKPOINT_CTRANSLATE2_CT2_MODEL_H_
#define ATTEND_ENGINE_CHECKPOINT_CTRANSLATE2_CT2_MODEL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/checkpoint/ctranslate2/model_bin.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/tensor_source.h"

namespace attend {

// The tensors and attributes of a model.bin (see ReadModelBin), which is
// mapped, not read. Tensors have the names that the file gives them, and those
// of aliases. A matrix of int8 has a scale for each row, which its view
// applies. Const after Open(); any thread may read.
class Ct2Model final : public TensorSource {
 public:
  // Errors: see MappedFile::Open() and ReadModelBin().
  static absl::StatusOr<Ct2Model> Open(const std::string& path);

  // All of these know tensors alone: variables with a shape, but for scales.
  bool Has(absl::string_view name) const override;
  std::vector<std::string> Names() const override;
  // INVALID_ARGUMENT if the numbers are whole numbers that are not int8 with
  // scales, or if a scale cannot be one.
  absl::StatusOr<TensorView> Find(absl::string_view name) const override;
  void Drop(absl::Span<const uint8_t> bytes) const override;
  absl::Status CheckUnchanged() const override;
  const std::string& path() const override { return file_->path(); }

  int version() const { return model_.version; }
  const std::string& spec() const { return model_.spec; }
  int revision() const { return model_.revision; }
  // The value of an attribute; nullopt if the file has no such attribute.
  std::optional<double> Attribute(absl::string_view name) const;
  // Whether there is such an attribute with a floating-point number.
  bool IsFloat(absl::string_view name) const;
  // The names of all attributes, in alphabetical order.
  std::vector<std::string> Attributes() const;

 private:
  Ct2Model(std::unique_ptr<MappedFile> file, ModelBin model);
  // The name of the variable that `name` stands for.
  absl::string_view Resolve(absl::string_view name) const;
  absl::Span<const uint8_t> BytesOfVariable(const Ct2Variable& variable) const;
  // The scales of the rows of an int8 matrix, as factors.
  absl::StatusOr<std::vector<float>> Scales(const std::string& place,
                                            absl::string_view name,
                                            int64_t rows) const;

  std::unique_ptr<MappedFile> file_;
  ModelBin model_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_CTRANSLATE2_CT2_MODEL_H_
