#ifndef ATTEND_ENGINE_FAMILIES_SHARED_DEFAULT_READER_H_
#define ATTEND_ENGINE_FAMILIES_SHARED_DEFAULT_READER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/api/generation_limits.h"
#include "engine/api/generation_params.h"
#include "engine/api/missing_default.h"
#include "engine/json/json_file.h"

namespace attend {

// Reads the defaults of generation from a file that other programs wrote, whose
// fields may have values that they ignore or misread. A value that cannot be a
// default is dropped; the reader notes what requests then miss.
class DefaultReader {
 public:
  using When = MissingDefault::When;

  // `file` must outlive the reader. Token ids are in `ids`.
  DefaultReader(const JsonFile& file, IntRange ids) : file_(file), ids_(ids) {}

  const JsonFile& file() const { return file_; }
  bool Has(absl::string_view key) const { return file_.Has(key); }

  // Read a number, `fallback` if the key is absent. An integer may be written
  // as 20.0. INVALID_ARGUMENT if the value is something else.
  absl::StatusOr<double> Number(absl::string_view key, double fallback) const;
  absl::StatusOr<int> Int(absl::string_view key, int fallback) const;
  // Returns true if Python takes the value for true.
  bool IsTrue(absl::string_view key) const;
  // Token ids, one or a list. Those that are not in the vocabulary are left
  // out: they are never generated. INVALID_ARGUMENT if an element is no number.
  absl::StatusOr<std::vector<int>> KnownIds(absl::string_view key) const;
  // One token id, which may be written as a list of one id; -1 if the key is
  // absent. INVALID_ARGUMENT if it is not in the vocabulary.
  absl::StatusOr<int> OneId(absl::string_view key) const;

  // Sets a field of `params`, which requests call `name`, or drops the default
  // if its value is beyond generation_limits.h.
  template <class T>
  void Set(absl::string_view name, T GenerationParams::*field, T value,
           When when, GenerationParams& params) {
    GenerationParams changed;
    changed.*field = std::move(value);
    const absl::Status status =
        CheckLimits(changed, absl::StrCat(file_.path(), ": "));
    if (status.ok()) {
      params.*field = std::move(changed.*field);
    } else {
      Drop(name, status, when);
    }
  }
  // Notes that the default of `field` (of requests) is dropped.
  void Drop(absl::string_view field, const absl::Status& why, When when);
  // Notes something that requests do not rely on.
  void Warn(std::string warning) { warnings_.push_back(std::move(warning)); }

  std::vector<MissingDefault> TakeMissing() { return std::move(missing_); }
  std::vector<std::string> TakeWarnings() { return std::move(warnings_); }
  IntRange ids() const { return ids_; }

 private:
  absl::StatusOr<std::vector<int>> Ids(absl::string_view key) const;

  const JsonFile& file_;
  const IntRange ids_;
  std::vector<MissingDefault> missing_;
  std::vector<std::string> warnings_;
};

// Notes the fields of transformers' GenerationConfig that would change the
// result and are not supported.
void DropUnsupportedDefaults(DefaultReader& reader);
// Reads the lists: of tokens that are suppressed or biased, that end a text.
void ReadDefaultLists(DefaultReader& reader, GenerationParams& params);

}  // namespace attend

#endif  // ATTEND_ENGINE_FAMILIES_SHARED_DEFAULT_READER_H_
