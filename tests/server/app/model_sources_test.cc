#include "server/app/model_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "name: directory", or the one error.
std::vector<std::string> Found(const ModelOptions& options) {
  const auto sources = FindModels(options);
  if (!sources.ok()) return {std::string(sources.status().message())};
  std::vector<std::string> found;
  for (const ModelSource& source : *sources) {
    found.push_back(source.name + ": " + source.directory + source.hub);
  }
  return found;
}

class ModelSourcesTest : public ::testing::Test {
 protected:
  ModelSourcesTest() {
    std::string name = ::testing::TempDir() + "attend_XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~ModelSourcesTest() override { fs::remove_all(directory_); }

  void MakeModel(const std::string& name) {
    fs::create_directories(directory_ / name);
    std::ofstream(directory_ / name / "config.json") << "{}";
  }
  std::string In(const std::string& name) {
    return name + ": " + (directory_ / name).string();
  }

  fs::path directory_;
};

TEST_F(ModelSourcesTest, ADirectoryHasItsOwnNameOrOneThatIsGiven) {
  EXPECT_THAT(Found({}), ElementsAre("en-de: models/en-de"));
  EXPECT_THAT(Found({.models = {"/m/opus/"}}), ElementsAre("opus: /m/opus/"));
  EXPECT_THAT(Found({.models = {"a=/m/opus", "org/b=rel/b"}}),
              ElementsAre("a: /m/opus", "org/b: rel/b"));
  EXPECT_THAT(Found({.models = {"/m/opus"}, .model_name = "x"}),
              ElementsAre("x: /m/opus"));
  // A path that has a '=' itself.
  EXPECT_THAT(Found({.models = {"b=/m/v=2", "c=./n=1"}}),
              ElementsAre("b: /m/v=2", "c: ./n=1"));
  EXPECT_THAT(Found({.models = {"/m/v=2"}, .model_name = "v2"}),
              ElementsAre("v2: /m/v=2"));
}

TEST_F(ModelSourcesTest, AModelOfAHubHasItsNameThereOrOneThatIsGiven) {
  EXPECT_THAT(Found({.hub = {"a/b", "c=a/b@v1", "a/b/q/m-Q4.gguf"}}),
              ElementsAre("b: a/b", "c: a/b@v1", "m-Q4: a/b/q/m-Q4.gguf"));
  MakeModel("d");
  EXPECT_THAT(Found({.models = {"/m/c"},
                     .hub = {"a/b"},
                     .models_dir = directory_.string()}),
              ElementsAre("c: /m/c", "b: a/b", In("d")));
  EXPECT_THAT(Found({.models = {"/m/b"}, .hub = {"a/b"}}),
              ElementsAre("two models have the name 'b': /m/b and a/b"));
  EXPECT_THAT(Found({.hub = {"b"}}),
              ElementsAre(HasSubstr("hub is 'b', must be OWNER/NAME")));
  EXPECT_THAT(Found({.hub = {"=a/b"}}), ElementsAre(HasSubstr("model name")));
}

TEST_F(ModelSourcesTest, ADraftIsOfTheModelThatItNames) {
  using Found = std::vector<std::string>;
  const auto drafts = [](const ModelOptions& options) -> Found {
    const auto sources = FindModels(options);
    Found found;
    if (!sources.ok()) return {std::string(sources.status().message())};
    for (const ModelSource& source : *sources) found.push_back(source.draft);
    return found;
  };
  EXPECT_THAT(drafts({.models = {"/m/a"}}), ElementsAre(""));
  EXPECT_THAT(drafts({.models = {"/m/a"}, .drafts = {"/m/v=2"}}),
              ElementsAre("/m/v=2"));
  EXPECT_THAT(drafts({.drafts = {"small"}}), ElementsAre("small"));
  EXPECT_THAT(drafts({.models = {"a=/m/a", "b=/m/b"}, .drafts = {"b=/m/c"}}),
              ElementsAre("", "/m/c"));
  EXPECT_THAT(drafts({.models = {"a=/m/a", "b=/m/b"},
                      .default_model = "b",
                      .drafts = {"a=/m/c", "b=/m/d"}}),
              ElementsAre("/m/d", "/m/c"));
  EXPECT_THAT(drafts({.models = {"/m/a", "/m/b"}, .drafts = {"/m/c"}}),
              ElementsAre(AllOf(HasSubstr("draft is '/m/c', which names none"),
                                HasSubstr("one of a, b"))));
  EXPECT_THAT(drafts({.models = {"/m/a"}, .drafts = {"b=/m/c"}}),
              ElementsAre(HasSubstr("must be for one of the models a")));
  EXPECT_THAT(drafts({.models = {"/m/a"}, .drafts = {"/m/c", "a=/m/d"}}),
              ElementsAre(HasSubstr("but the draft of a is /m/c already")));
  for (const char* empty : {"", "a="}) {
    EXPECT_THAT(drafts({.models = {"/m/a"}, .drafts = {empty}}),
                ElementsAre(HasSubstr("must be a path or NAME=PATH")));
  }
}

TEST_F(ModelSourcesTest, AShortlistBelongsToOneModel) {
  const auto shortlists = [](const ModelOptions& options) {
    std::vector<std::string> result;
    const auto sources = FindModels(options);
    if (!sources.ok())
      return std::vector{std::string(sources.status().message())};
    for (const ModelSource& source : *sources) {
      result.push_back(source.shortlist);
    }
    return result;
  };
  EXPECT_THAT(shortlists({.shortlists = {"lex.s2t"}}), ElementsAre("lex.s2t"));
  EXPECT_THAT(shortlists({.shortlists = {"/m/a=b"}}), ElementsAre("/m/a=b"));
  const std::vector<std::string> two = {"a=/m", "b=/n"};
  EXPECT_THAT(shortlists({.models = two, .shortlists = {"b=/s"}}),
              ElementsAre("", "/s"));
  // The default model comes first.
  EXPECT_THAT(
      shortlists(
          {.models = two, .default_model = "b", .shortlists = {"b=/s", "a=t"}}),
      ElementsAre("/s", "t"));
  EXPECT_THAT(
      shortlists({.models = two, .shortlists = {"/s"}}),
      ElementsAre("shortlist is '/s', which names none of several models: "
                  "--shortlist NAME=PATH, where NAME is one of a, b"));
  EXPECT_THAT(
      shortlists({.models = two, .shortlists = {"c=/s"}}),
      ElementsAre("shortlist is 'c=/s', must be for one of the models a, b"));
  EXPECT_THAT(shortlists({.models = two, .shortlists = {"a=/s", "a=/t"}}),
              ElementsAre("shortlist is 'a=/t', but the shortlist of a is /s "
                          "already; a model has one"));
  EXPECT_THAT(shortlists({.shortlists = {"en-de="}}),
              ElementsAre(HasSubstr("must be a path or NAME=PATH")));
}

TEST_F(ModelSourcesTest, ADirectoryOfModelsIsListedByName) {
  for (const char* name : {"zh", "de", "fr", ".hidden"}) MakeModel(name);
  fs::create_directory(directory_ / "no-config");
  std::ofstream(directory_ / "README") << "not a directory";
  const std::string dir = directory_.string();
  EXPECT_THAT(Found({.models_dir = dir}),
              ElementsAre(In("de"), In("fr"), In("zh")));
  std::ofstream(directory_ / "en-Q4_0.gguf") << "GGUF";
  EXPECT_THAT(Found({.models_dir = dir}),
              ElementsAre(In("de"), "en-Q4_0: " + dir + "/en-Q4_0.gguf",
                          In("fr"), In("zh")));
  fs::remove(directory_ / "en-Q4_0.gguf");
  // One model in two files.
  for (const char* part :
       {"en-00001-of-00002.gguf", "en-00002-of-00002.gguf"}) {
    std::ofstream(directory_ / part) << "GGUF";
  }
  EXPECT_THAT(Found({.models_dir = dir}),
              ElementsAre(In("de"), "en: " + dir + "/en-00001-of-00002.gguf",
                          In("fr"), In("zh")));
  for (const char* part :
       {"en-00001-of-00002.gguf", "en-00002-of-00002.gguf"}) {
    fs::remove(directory_ / part);
  }
  // The loader reports the badly named.
  MakeModel("a b");
  EXPECT_THAT(Found({.models_dir = dir}),
              ElementsAre(In("de"), In("fr"), In("zh")));
  EXPECT_THAT(Found({.models = {"/m/a.Q8_0.gguf"}}),
              ElementsAre("a.Q8_0: /m/a.Q8_0.gguf"));
  EXPECT_THAT(Found({.models_dir = dir, .default_model = "fr"}),
              ElementsAre(In("fr"), In("de"), In("zh")));
  EXPECT_THAT(Found({.models = {"x=/m"}, .models_dir = dir}),
              ElementsAre("x: /m", In("de"), In("fr"), In("zh")));
  EXPECT_THAT(Found({.models = {"de=/m"}, .models_dir = dir}),
              ElementsAre(HasSubstr("two models have the name 'de': /m and ")));
}

TEST_F(ModelSourcesTest, ErrorsNameTheOptionAndTheValue) {
  const std::string dir = directory_.string();
  EXPECT_THAT(
      Found({.models_dir = dir}),
      ElementsAre(
          "models_dir is '" + dir +
          "', in which no directory has a config.json or versions (1, 2, "
          "...), and which has no GGUF file"));
  MakeModel("a b");
  EXPECT_THAT(Found({.models_dir = dir}),
              ElementsAre(AllOf(HasSubstr("': model name is 'a b', must be"),
                                HasSubstr("; rename the model's directory"))));
  EXPECT_THAT(Found({.models_dir = dir + "/none"}),
              ElementsAre(HasSubstr("none', which cannot be read: No such")));
  EXPECT_THAT(Found({.models = {"a="}}),
              ElementsAre("model is 'a=', must be a directory or a GGUF file"));
  EXPECT_THAT(Found({.models = {"=/m"}}),
              ElementsAre(HasSubstr("model name is '', must be 1 to 128")));
  EXPECT_THAT(Found({.models = {"/"}}),
              ElementsAre(HasSubstr("model name is ''")));
  EXPECT_THAT(Found({.models = {"a\n=/m"}}),
              ElementsAre(HasSubstr("model name is 'a\\n'")));
  for (const std::vector<std::string>& models :
       {std::vector<std::string>{"/m/a", "/m/b"}, {"a=/m/a"}}) {
    EXPECT_THAT(Found({.models = models, .model_name = "x"}),
                ElementsAre(HasSubstr("model_name is 'x', which is for one")));
  }
  EXPECT_THAT(Found({.models = {"a=/m", "b=/n"}, .default_model = "c"}),
              ElementsAre("default_model is 'c', must be one of a, b"));
}

}  // namespace
}  // namespace attend
