// JSON, and all that is asked of a file's keys.
#include <nlohmann/json.hpp>

#include "engine/json/json_file.h"
#include "engine/json/json_parse.h"
#include "tests/fuzz/fuzz.h"

namespace attend {
namespace {

void AskAll(const JsonFile& file, const std::string& key) {
  const auto check = [](const absl::Status& status) {
    if (!status.ok()) CheckRefusal(status, "f.json");
  };
  check(file.Int(key).status());
  check(file.Float(key).status());
  check(file.Bool(key).status());
  check(file.String(key).status());
  check(file.Ints(key).status());
  check(file.Floats(key, 2, {0, 1}).status());
  check(file.IntLists(key).status());
  check(file.Strings(key).status());
  check(file.StringMap(key).status());
  check(file.Objects(key).status());
  check(file.ExpectNeutral(key, 1));
  const auto object = file.Object(key);
  check(object.status());
  // As long as the object is, whatever becomes of the file.
  if (object.ok()) check(JsonFile(*object).ExpectOnly({"a", "b"}));
}

}  // namespace
}  // namespace attend

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend;
  const absl::string_view text = View(data, size);
  const auto file = JsonFile::Parse("f.json", text);
  if (!Accepted(file.status(), "f.json")) return 0;
  const auto json = ParseJson("f.json", text);
  ATTEND_CHECK(json.ok());
  // What is read is what was written.
  ATTEND_CHECK(*ParseJson("f.json", json->dump()) == *json);
  for (const auto& [key, value] : json->items()) AskAll(*file, key);
  return 0;
}
