#include "tests/integration/encoder_server.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = ATTEND_SOURCE_DIR "/tests/golden";
constexpr const char* kModels[] = {
    "bert-mean-pooling", "bert-4x-labels",          "bert-mask",
    "bert-tokens",       "bert-reranker",           "roberta-4x-multi-label",
    "xlm-roberta-dense", "xlm-roberta-4x-reranker", "modernbert-prompts",
    "bart-gelu",         "t5-few-buckets",          "bert-inference",
    "bert-choice",       "roberta-4x-inference",    "modernbert-choice",
    "bert-spans",        "modernbert-spans",        "bart-inference",
    "qwen3-logit-score", "jina-v3-adapters"};

// Copies of models, with "left-" before their names, that cut long texts where
// they begin.
constexpr const char* kLeftModels[] = {"bert-4x-labels", "bert-reranker",
                                       "bert-mean-pooling", "bert-tokens"};

// The server and the directory that it reads its models from.
class Server {
 public:
  Server() {
    std::string name = testing::TempDir() + "attend_XXXXXX";
    directory_ = mkdtemp(name.data());
    for (const char* model : kModels) {
      fs::copy(kGolden / "families" / model, directory_ / model,
               fs::copy_options::recursive);
      for (const char* file : {"tokenizer.json", "tokenizer_config.json"}) {
        fs::copy(kGolden / "text" / file, directory_ / model / file);
      }
    }
    for (const std::string model : kLeftModels) {
      const fs::path left = directory_ / ("left-" + model);
      fs::copy(directory_ / model, left, fs::copy_options::recursive);
      const fs::path file = left / "tokenizer_config.json";
      auto config = nlohmann::json::parse(std::ifstream(file));
      config["truncation_side"] = "left";
      std::ofstream(file) << config;
    }
    process_ = std::make_unique<ServerProcess>(
        std::vector<std::string>{"--models-dir=" + directory_.string(),
                                 "--default-model=bert-mean-pooling"});
  }
  ~Server() { fs::remove_all(directory_); }

  ServerProcess& process() { return *process_; }

 private:
  fs::path directory_;
  std::unique_ptr<ServerProcess> process_;
};

std::unique_ptr<Server>& Shared() {
  static std::unique_ptr<Server> server;
  return server;
}

class StopShared : public testing::Environment {
  void TearDown() override {
    if (Shared() == nullptr) return;
    ServerProcess& server = Shared()->process();
    EXPECT_EQ(server.Stop(), 0) << server.process().output();
    Shared().reset();
  }
};
const auto* const kStopShared =
    testing::AddGlobalTestEnvironment(new StopShared);

}  // namespace

ServerProcess& EncoderServer() {
  if (Shared() == nullptr) Shared() = std::make_unique<Server>();
  return Shared()->process();
}

const nlohmann::json& TextCases(const char* section) {
  static const auto* const all = new nlohmann::json(
      nlohmann::json::parse(std::ifstream(kGolden / "text/expected.json")));
  return all->at(section);
}

std::string Words(int number) {
  static constexpr std::array kWords = {"a",   "small", "dogs", "runs", "the",
                                        "tea", "old",   "man",  "reads"};
  std::string text;
  for (int i = 0; i <= number * 7 % 40; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : " ",
                    kWords[(number + i * i) % kWords.size()]);
  }
  return text;
}

}  // namespace attend
