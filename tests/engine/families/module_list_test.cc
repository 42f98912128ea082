// The routes that a Router of sentence-transformers gives to texts.

#include "engine/families/shared/module_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/families/shared/sentence_transformers.h"
#include "tests/engine/checkpoint/files.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

const std::string kOld = "sentence_transformers.models.";

Json Module(const std::string& path, const std::string& type) {
  return {{"path", path}, {"type", kOld + type}};
}

class ModuleListTest : public testing::Test {
 protected:
  ModuleListTest() {
    std::filesystem::create_directory(directory_.path() + "/1_Router");
    modules_ = {Module("", "Transformer"), Module("1_Router", "Router"),
                Module("2_Normalize", "Normalize")};
    for (const char* id : {"a", "b", "c"}) {
      router_["types"][id] = kOld + "Pooling";
    }
    router_["structure"] = {{"query", {"a"}}, {"document", {"b"}}};
    router_["parameters"] = {{"default_route", "document"}};
  }

  absl::StatusOr<ModuleList> Read() {
    directory_.Write("modules.json", modules_.dump());
    directory_.Write("1_Router/" + file_, router_.dump());
    return ReadModuleList(directory_.path());
  }
  std::string Error() {
    const absl::Status status = Read().status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }
  // The second module of the routes of texts, queries and documents.
  std::vector<std::string> Chosen() {
    const auto list = Read();
    EXPECT_TRUE(list.ok()) << list.status();
    if (!list.ok()) return {};
    std::vector<std::string> folders;
    for (const int role :
         {list->roles.text, list->roles.query, list->roles.document}) {
      int index = role;
      std::string folder = "none";
      for (const RouteGroup& group : list->groups) {
        const int size = static_cast<int>(group.routes.size());
        if (index >= 0 && index < size) folder = group.routes[index][1].folder;
        index -= size;
      }
      folders.push_back(folder);
    }
    return folders;
  }

  const TestDirectory directory_;
  std::string file_ = "router_config.json";
  Json modules_, router_;
};

TEST_F(ModuleListTest, ARouterStandsForTheModulesOfItsRoutes) {
  const auto list = Read();
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->groups.size(), 1u);  // of one Transformer
  const RouteGroup& group = list->groups.front();
  EXPECT_TRUE(group.routed);
  ASSERT_EQ(group.routes.size(), 2u);
  std::vector<std::string> types;
  for (const SentenceModule& module : group.routes[0]) {
    types.push_back(module.type);
  }
  EXPECT_THAT(types, ElementsAre("Transformer", "Pooling", "Normalize"));
  EXPECT_EQ(list->roles.text, 0);
  EXPECT_EQ(list->roles.query, 1);
  EXPECT_EQ(list->roles.document, 0);
}

TEST_F(ModuleListTest, TheTaskChoosesARouteAsTheLibraryDoes) {
  EXPECT_THAT(Chosen(), ElementsAre("1_Router/b", "1_Router/a", "1_Router/b"));
  // Without a default the first one is it, unless that is forbidden.
  router_["parameters"] = {{"allow_empty_key", true}};
  EXPECT_THAT(Chosen(), ElementsAre("1_Router/a", "1_Router/a", "1_Router/b"));
  router_["parameters"] = {{"allow_empty_key", false}};
  EXPECT_THAT(Chosen(), ElementsAre("none", "1_Router/a", "1_Router/b"));
  // A task that no route is for has none, whatever the default.
  router_["structure"] = {{"passage", {"c"}}, {"query", {"a"}}};
  router_["parameters"] = {{"default_route", "passage"}};
  EXPECT_THAT(Chosen(), ElementsAre("1_Router/c", "1_Router/a", "none"));
  router_["structure"]["text"] = {"b"};
  EXPECT_THAT(Chosen(), ElementsAre("1_Router/b", "1_Router/a", "1_Router/b"));
}

TEST_F(ModuleListTest, MappingsWinOverNames) {
  router_["structure"]["other"] = {"c"};
  Json& mappings = router_["parameters"]["route_mappings"];
  mappings = {{"(None, None)", "other"}};
  EXPECT_THAT(Chosen(), ElementsAre("1_Router/c", "1_Router/c", "1_Router/c"));
  mappings["(None, \"text\")"] = "document";
  EXPECT_THAT(Chosen(), ElementsAre("1_Router/b", "1_Router/b", "1_Router/b"));
  mappings["('query', None)"] = "query";
  mappings["('document', ('image', 'text'))"] = "query";
  EXPECT_THAT(Chosen(), ElementsAre("1_Router/b", "1_Router/a", "1_Router/b"));
  mappings["('query', 'text')"] = "other";
  EXPECT_THAT(Chosen(), ElementsAre("1_Router/b", "1_Router/c", "1_Router/b"));
}

TEST_F(ModuleListTest, RoutesThatBeginWithOtherModulesAreGroups) {
  modules_ = Json::array({Module("1_Router", "Asym")});
  file_ = "config.json";  // as Asym wrote it
  router_["types"] = {{"", kOld + "MLMTransformer"},
                      {"0_Sparse", kOld + "SparseStaticEmbedding"},
                      {"2_Splade", kOld + "SpladePooling"}};
  router_["structure"] = {{"query", {"0_Sparse"}},
                          {"document", {"", "2_Splade"}}};
  const auto list = Read();
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->groups.size(), 2u);
  EXPECT_EQ(list->groups[0].first.folder, "1_Router");
  EXPECT_EQ(list->groups[0].first.kind, FirstModule::Kind::kTransformer);
  EXPECT_EQ(list->groups[1].first.folder, "1_Router/0_Sparse");
  EXPECT_EQ(list->groups[1].first.kind, FirstModule::Kind::kSparseStatic);
  EXPECT_EQ(list->roles.query, 1);
  EXPECT_EQ(list->roles.document, 0);
}

TEST_F(ModuleListTest, WhatIsNotSupportedIsNamed) {
  const Json router = router_;
  const auto expect = [&](const char* words) {
    EXPECT_THAT(Error(), HasSubstr(words));
    router_ = router;
  };
  router_["parameters"]["default_route"] = "none";
  expect("default_route is \"none\", expected one of: document, query");
  router_["parameters"]["route_mappings"] = {{"(None, None)", "none"}};
  expect("expected routes of: document, query");
  router_["structure"] = Json::object();
  expect("structure is {}");
  router_["structure"]["query"] = Json::array();
  expect("query is []");
  router_["structure"]["query"] = {"../x"};
  router_["types"]["../x"] = kOld + "Pooling";
  expect("the name of a folder");
  router_["structure"]["query"] = {"x"};
  expect("types: x is missing");
  router_["types"]["a"] = "mine.Pooling";
  expect("a class of sentence_transformers");
  router_["structure"] = {{"other", {"a"}}};
  router_["parameters"] = {{"allow_empty_key", false}};
  expect("a Router with a default_route");
  modules_ = Json::array({Module("1_Router", "Router")});
  expect("as the first module");
}

TEST_F(ModuleListTest, NothingFollowsASparseStaticEmbedding) {
  modules_ = Json::array({Module("1_Router", "SparseStaticEmbedding")});
  const auto error = [&] {
    Family family;
    return std::string(
        ReadSentenceTransformers(Read()->groups.front(), family).message());
  };
  EXPECT_EQ(error(), "");
  modules_.push_back(Module("2_Normalize", "Normalize"));
  EXPECT_THAT(error(), HasSubstr("no module after a SparseStaticEmbedding"));
}

TEST_F(ModuleListTest, RoutesOfOneTransformerHaveTheSameHead) {
  router_["types"]["b"] = kOld + "SpladePooling";
  modules_.erase(2);
  for (const char* folder : {"1_Router/a", "1_Router/b"}) {
    std::filesystem::create_directory(directory_.path() + "/" + folder);
    directory_.Write(std::string(folder) + "/config.json", "{}");
  }
  const auto list = Read();
  ASSERT_TRUE(list.ok()) << list.status();
  Family family;
  family.spec.hidden = 24;
  family.spec.encoder.emplace();
  family.spec.head = HeadSpec{.kind = HeadKind::kMaskedLm, .layers = {}};
  const auto error = [&] {
    Family own = family;
    return std::string(
        ReadSentenceTransformers(list->groups.front(), own).message());
  };
  EXPECT_THAT(error(), HasSubstr("a SpladePooling on each or on none"));
  directory_.Write("config_sentence_transformers.json",
                   R"({"model_type": "MultiVectorEncoder"})");
  EXPECT_THAT(error(), HasSubstr("no Router in a model that compares tokens"));
}

}  // namespace
}  // namespace attend
