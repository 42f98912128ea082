#include "server/hub/fetch_model.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/server/hub/fetch_fixture.h"

namespace attend {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class FetchModelTest : public FetchFixture {};

TEST_F(FetchModelTest, TheCacheHasTheFilesThatAttendReadsAndNoOthers) {
  const fs::path snapshot = FetchGood("ok/plain");
  EXPECT_EQ(snapshot, Model("ok/plain") / "snapshots" / kCommits[0]);
  EXPECT_THAT(FilesIn(snapshot),
              UnorderedElementsAre(
                  "config.json", "tokenizer.json", kWeights, "vocab.json",
                  "source.spm", "chat_template.jinja", "1_Pooling/config.json",
                  "2_Dense/model.safetensors"));
  EXPECT_EQ(Read(snapshot / "source.spm"), "spm");
  EXPECT_EQ(Read(snapshot / "2_Dense/model.safetensors"), "dense");
  EXPECT_EQ(fs::file_size(snapshot / kWeights), kWeightsBytes);
  // As huggingface_hub has it.
  EXPECT_EQ(Read(Model("ok/plain") / "refs/main"), kCommits[0]);
  EXPECT_EQ(fs::read_symlink(snapshot / "1_Pooling/config.json"),
            "../../../blobs/9e26dfeeb6e641a33dae4961196235bdb965b21b");
  EXPECT_THAT(Incomplete("ok/plain"), IsEmpty());
  for (const std::string& file : FilesIn(root_)) {
    EXPECT_TRUE(absl::StartsWith(file, "hub/models--ok--plain/") ||
                absl::StartsWith(file, "hub/.locks/models--ok--plain/"))
        << file;
  }
}

TEST_F(FetchModelTest, WhatTheCacheHasIsNotFetchedAgain) {
  FetchGood("ok/plain");
  EXPECT_EQ(Requests({"GET /ok/plain/resolve/"}).size(), 6u);
  FetchGood("ok/plain");
  EXPECT_EQ(Requests({}).size(), 1u);  // for what the branch is now
}

TEST_F(FetchModelTest, ACommitThatTheCacheHasNeedsNobody) {
  const std::string pinned = absl::StrCat("ok/plain@", kCommits[0]);
  const fs::path snapshot = FetchGood(pinned);
  EXPECT_FALSE(fs::exists(Model("ok/plain") / "refs"));
  hub_->Journal();
  EXPECT_EQ(FetchGood(pinned), snapshot);
  EXPECT_THAT(Requests({}), IsEmpty());
}

// Another program may need fewer files.
TEST_F(FetchModelTest, ACommitThatAnotherProgramFetchedIsCompleted) {
  const std::string pinned = absl::StrCat("ok/plain@", kCommits[0]);
  const fs::path snapshot = FetchGood(pinned);
  const std::set<std::string> files = FilesIn(snapshot);
  fs::remove_all(Model("ok/plain") / ".attend");
  fs::remove(snapshot / "tokenizer.json");
  hub_->Journal();
  FetchGood(pinned);
  EXPECT_EQ(FilesIn(snapshot), files);
  EXPECT_EQ(Requests({"/api/models/ok/plain"}).size(), 1u);
}

TEST_F(FetchModelTest, AnotherCommitThanThatAskedForIsRefused) {
  ExpectError(absl::StrCat("ok/plain@", std::string(40, 'e')),
              absl::StatusCode::kFailedPrecondition, "asked for commit eeee");
}

TEST_F(FetchModelTest, ABranchThatMovedIsFetchedAsItIs) {
  EXPECT_EQ(FetchGood("moving/plain@dev/x").filename(), kCommits[0]);
  EXPECT_EQ(Requests({"revision/dev%2Fx"}).size(), 1u);
  EXPECT_EQ(FetchGood("moving/plain@dev/x").filename(), kCommits[1]);
  EXPECT_EQ(Read(Model("moving/plain") / "refs/dev/x"), kCommits[1]);
  // Its files are the same, so only their heads were asked for.
  EXPECT_THAT(Requests({"GET /moving/plain/resolve"}), IsEmpty());
}

TEST_F(FetchModelTest, OfflineTheCacheHasTheLastWord) {
  settings_.offline = true;
  ExpectError("ok/plain", absl::StatusCode::kNotFound, "HF_HUB_OFFLINE");
  settings_.offline = false;
  const fs::path snapshot = FetchGood("ok/plain");
  hub_->Journal();
  settings_.offline = true;
  EXPECT_EQ(FetchGood("ok/plain"), snapshot);
  EXPECT_EQ(FetchGood(absl::StrCat("ok/plain@", kCommits[0])), snapshot);
  ExpectError("ok/plain@v2", absl::StatusCode::kNotFound, "no revision 'v2'");
  fs::remove(snapshot / kWeights);
  ExpectError("ok/plain", absl::StatusCode::kNotFound, kWeights);
  EXPECT_THAT(Requests({}), IsEmpty());
}

TEST_F(FetchModelTest, ShardsAreThoseOfTheIndex) {
  EXPECT_THAT(FilesIn(FetchGood("ok/shards")),
              UnorderedElementsAre("config.json", "tokenizer.json",
                                   "model.safetensors.index.json",
                                   "one.safetensors", "two.safetensors"));
  settings_.offline = true;
  FetchGood("ok/shards");
  fs::remove(Model("ok/shards") / "snapshots" / kCommits[0] /
             "two.safetensors");
  ExpectError("ok/shards", absl::StatusCode::kNotFound, "two.safetensors");
  settings_.offline = false;
  ExpectError("ok/evil-index", absl::StatusCode::kInvalidArgument,
              "beside the index");
}

TEST_F(FetchModelTest, FilesOfTorchAreFetchedWhereThereAreNoSafetensors) {
  EXPECT_THAT(
      FilesIn(FetchGood("ok/torch")),
      UnorderedElementsAre("config.json", "tokenizer.json", "pytorch_model.bin",
                           "2_Dense/pytorch_model.bin", "sparse_linear.pt",
                           "colbert_linear.pt", "artifact.metadata"));
  EXPECT_THAT(FilesIn(FetchGood("ok/torch-shards")),
              UnorderedElementsAre("config.json", "tokenizer.json",
                                   "pytorch_model.bin.index.json",
                                   "pytorch_model-1-of-1.bin"));
  EXPECT_THAT(
      FilesIn(FetchGood("ok/adapted")),
      UnorderedElementsAre("config.json", "tokenizer.json", "model.safetensors",
                           "adapter_config.json", "adapter_model.bin"));
  settings_.offline = true;
  FetchGood("ok/torch");
  fs::remove(Model("ok/torch-shards") / "snapshots" / kCommits[0] /
             "pytorch_model-1-of-1.bin");
  ExpectError("ok/torch-shards", absl::StatusCode::kNotFound,
              "pytorch_model-1-of-1.bin");
}

TEST_F(FetchModelTest, TheWeightsMayBeInFoldersOfModulesAlone) {
  EXPECT_THAT(
      FilesIn(FetchGood("ok/folders")),
      UnorderedElementsAre("modules.json", "0_Transformer/config.json",
                           "0_Transformer/pytorch_model.bin",
                           "0_Transformer/vocab.txt", "1_Pooling/config.json"));
  EXPECT_THAT(FilesIn(FetchGood("ok/router")),
              UnorderedElementsAre(
                  "modules.json", "router_config.json",
                  "query_0_StaticEmbedding/model.safetensors",
                  "query_0_StaticEmbedding/tokenizer.json",
                  "document_0_Transformer/config.json",
                  "document_0_Transformer/model.safetensors.index.json",
                  "document_0_Transformer/one.safetensors",
                  "document_0_Transformer/two.safetensors",
                  "1_Router/router_config.json",
                  "1_Router/document_0_Dense/model.safetensors"));
  ExpectError("ok/no-weights", absl::StatusCode::kNotFound,
              "neither model.safetensors nor pytorch_model.bin");
  settings_.offline = true;
  FetchGood("ok/folders");
  FetchGood("ok/router");
  fs::remove(Model("ok/router") / "snapshots" / kCommits[0] /
             "document_0_Transformer/two.safetensors");
  ExpectError("ok/router", absl::StatusCode::kNotFound,
              "document_0_Transformer/two.safetensors");
  fs::remove(Model("ok/folders") / "snapshots" / kCommits[0] / "modules.json");
  ExpectError("ok/folders", absl::StatusCode::kNotFound, "modules.json");
}

TEST_F(FetchModelTest, GgufFilesAreNamed) {
  EXPECT_EQ(Read(FetchGood("ok/quants/m-Q8.gguf")), "eight");
  EXPECT_THAT(FilesIn(Model("ok/quants") / "snapshots" / kCommits[0]),
              UnorderedElementsAre("m-Q8.gguf"));
  const fs::path first = FetchGood("ok/quants/big-00001-of-00002.gguf");
  EXPECT_EQ(Read(first), "1");
  EXPECT_EQ(Read(first.parent_path() / "big-00002-of-00002.gguf"), "2");
  ExpectError("ok/quants", absl::StatusCode::kNotFound,
              "--hub=ok/quants/m-Q4.gguf");
  ExpectError("ok/quants/x.gguf", absl::StatusCode::kNotFound, "no x.gguf");
}

TEST_F(FetchModelTest, WhatAttendCannotLoadIsRefusedBeforeItIsFetched) {
  ExpectError("ok/flax", absl::StatusCode::kNotFound,
              "neither model.safetensors nor pytorch_model.bin");
  ExpectError("ok/adapter", absl::StatusCode::kNotFound, "adapter");
  ExpectError("ok/bare", absl::StatusCode::kNotFound, "config.json");
  EXPECT_THAT(Requests({"/resolve/"}), IsEmpty());
  EXPECT_EQ(Read(FetchGood("ok/ct2") / "model.bin"), "numbers");
}

TEST_F(FetchModelTest, WhoWritesABlobIsAlone) {
  FetchGood("ok/ct2");
  const fs::path blob =
      fs::canonical(Model("ok/ct2") / "snapshots" / kCommits[0] / "model.bin");
  fs::remove(blob);
  const fs::path lock = fs::path(settings_.cache) / ".locks/models--ok--ct2" /
                        (blob.filename().string() + ".lock");
  const int held = open(lock.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  // It waits until it is asked to end; another one has written it meanwhile.
  int asked = 0;
  stopping_ = [&] { return fs::exists(lock) && ++asked > 20; };
  ExpectError("ok/ct2", absl::StatusCode::kCancelled, "asked to end");
  asked = 0;
  stopping_ = [&] {
    if (++asked == 20) {
      std::ofstream(blob) << "of the other";
      close(held);
    }
    return false;
  };
  EXPECT_EQ(Read(FetchGood("ok/ct2") / "model.bin"), "of the other");
  EXPECT_GE(asked, 20);
}

TEST_F(FetchModelTest, ACacheThatCannotBeWrittenIsNamed) {
  std::ofstream(settings_.cache) << "a file";
  ExpectError("ok/plain", absl::StatusCode::kFailedPrecondition,
              settings_.cache);
}

}  // namespace
}  // namespace attend
