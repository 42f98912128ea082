// A model.bin of CTranslate2, to the specification of its transformer.
#include <string>
#include <vector>

#include "engine/checkpoint/ctranslate2/ct2_model.h"
#include "engine/families/ctranslate2/load_ctranslate2.h"
#include "engine/json/json_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_directory.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  static const FuzzDirectory directory;
  const std::string path = directory.Write("model.bin", View(data, size));
  const auto model = Ct2Model::Open(path);
  if (!Accepted(model.status(), path)) return 0;
  for (const std::string& name : model->Names()) {
    ATTEND_CHECK(model->Has(name));
    const auto view = model->Find(name);
    if (!view.ok()) {
      CheckRefusal(view.status(), path);
      continue;
    }
    // Its bytes are in the file.
    ATTEND_CHECK(view->bytes.size() <= size && !view->bytes.empty());
    if (view->rows == nullptr) {
      ATTEND_CHECK(view->bytes.size() == BytesOf(view->type, view->count()));
      continue;
    }
    std::vector<float> last(view->rows->cols());
    view->rows->Read(view->rows->rows() - 1,
                     {last.data(), 1, view->rows->cols()});
  }
  static const JsonFile config = *JsonFile::Parse("config.json", "{}");
  const auto family = LoadCtranslate2(*model, config);
  if (!family.ok()) {
    ATTEND_CHECK(absl::IsInvalidArgument(family.status()) ||
                 absl::IsNotFound(family.status()));
    return 0;
  }
  const absl::Status valid = family->spec.Validate();
  ATTEND_CHECK(valid.ok() || absl::IsInvalidArgument(valid));
  return 0;
}
