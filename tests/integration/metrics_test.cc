// Every metric family moves when what it counts happens.

#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/raw_call.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/integration/silent_connections.h"

namespace attend {
namespace {

constexpr char kGenerate[] = "/attend.v1.Attend/Generate";
constexpr char kGenerateStream[] = "/attend.v1.Attend/GenerateStream";
constexpr char kTokenize[] = "/attend.v1.Attend/Tokenize";

// Families that may stay as they are, and why.
const std::map<std::string, std::string> kConstant = {
    {"attend_accepted_model_draft_tokens_total", "there is no draft model"},
    {"attend_build_info", "what was built does not change"},
    {"attend_compute_threads", "the team is made at the start"},
    {"attend_model_info", "models are loaded at the start"},
    {"attend_model_draft_tokens_total", "there is no draft model"},
    {"attend_model_loads_total", "models are loaded at the start"},
    {"attend_model_ready", "models are loaded at the start"},
    {"attend_kv_blocks_capacity", "the pool is sized at the start"},
    {"process_start_time_seconds", "it started once"},
    {"process_max_fds", "a limit set from outside"},
    {"process_virtual_memory_bytes", "all memory is taken at the start"},
    {"process_resident_memory_bytes", "all memory is taken at the start"},
};

// Those that come when they are used first.
constexpr const char* kLate[] = {
    "attend_requests_total",      "attend_request_seconds",
    "attend_rejected_total",      "attend_queue_seconds",
    "attend_encode_seconds",      "attend_time_to_first_token_seconds",
    "attend_inter_token_seconds", "attend_step_seconds",
    "attend_step_rows",           "attend_grpc_connections_refused_total",
};

std::string Family(const std::string& series) {
  std::string name = series.substr(0, series.find('{'));
  for (const std::string suffix : {"_bucket", "_sum", "_count"}) {
    if (name.size() > suffix.size() &&
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
      return name.substr(0, name.size() - suffix.size());
    }
  }
  return name;
}

// A server that has little of everything, and what makes its metrics move.
// Gauges go up and down: each look counts.
class MetricsTest : public ::testing::Test {
 protected:
  MetricsTest()
      : server_({"--max-running=6", "--max-queued-requests=8",
                 "--kv-cache-bytes=5MiB", "--slow-reader-timeout=100ms",
                 "--max-tokenizer-queue=1", "--max-connections=20"}),
        first_(server_.Metrics()),
        channel_(RawChannel(server_.address())) {}

  double Value(const std::string& name) {
    Look();
    return last_[name + "{model=\"en-de\"}"];
  }
  // Before the call's model was known: of none.
  double Rejected(const std::string& reason, const std::string& model = "") {
    Look();
    return last_[absl::StrCat("attend_rejected_total{model=\"", model,
                              "\",reason=\"", reason, "\"}")];
  }
  void Look() {
    last_ = server_.Metrics();
    for (const auto& [series, value] : last_) {
      const auto before = first_.find(series);
      if (before == first_.end() || before->second != value) {
        moved_[Family(series)] = true;
      }
    }
  }

  // Runs and waits, more than there is room for.
  std::unique_ptr<RawStream> Flood() {
    v1::GenerateRequest request = Exactly({}, 200);
    for (int i = 0; i < 64; ++i) request.add_inputs()->set_text(Sentence(i));
    request.mutable_params()->set_num_beams(4);
    return std::make_unique<RawStream>(*channel_, kGenerateStream,
                                       request.SerializeAsString());
  }

  void CallEveryMethod() {
    Client client(server_.client_options());
    EXPECT_TRUE(client.Generate(Greedy({"Hello."})).ok());
    EXPECT_TRUE(Collect(client, Greedy({"Hello."})).ok());
    // Past its end the translation repeats itself, so a draft is right.
    EXPECT_TRUE(client.Generate(Exactly({"Hello."}, 200)).ok());
    EXPECT_GT(Value("attend_accepted_draft_tokens_total"), 0);
    v1::ScoreRequest score;
    score.add_pairs()->mutable_source()->set_text("Hello.");
    score.mutable_pairs(0)->mutable_target()->set_text("Hallo.");
    EXPECT_TRUE(client.Score(score).ok());
    v1::TokenizeRequest tokenize;
    tokenize.add_texts("Hello.");
    EXPECT_TRUE(client.Tokenize(tokenize).ok());
    v1::DetokenizeRequest detokenize;
    detokenize.add_sequences()->add_ids(12);
    EXPECT_TRUE(client.Detokenize(detokenize).ok());
    EXPECT_TRUE(client.ListModels().ok());
    EXPECT_TRUE(client.GetModel("").ok());
    EXPECT_FALSE(client.Generate(Exactly({std::string(9000, 'x')}, 1)).ok());
  }

  // Texts that take their time, until one of them finds no place to wait.
  void FloodTokenizer() {
    v1::TokenizeRequest request;
    for (int i = 0; i < 50; ++i) request.add_texts(std::string(20000, 'a'));
    const std::string bytes = request.SerializeAsString();
    EXPECT_TRUE(Eventually([&] {
      std::vector<std::thread> threads;
      for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] { CallUnary(*channel_, kTokenize, bytes); });
      }
      for (std::thread& thread : threads) thread.join();
      return Rejected("tokenizer_full") > 0;
    }));
  }

  void ConnectTooOften() {
    EXPECT_TRUE(SilentConnections(server_.port(), 21).LastIsClosed());
    Look();
  }

  void KeepFromReading() {
    v1::GenerateRequest request = Exactly({Sentence(0)}, 300);
    request.mutable_params()->set_log_probs(true);
    request.mutable_params()->set_top_log_probs(20);
    const auto channel = NarrowChannel(server_.address());
    RawStream slow(*channel, kGenerateStream, request.SerializeAsString());
    EXPECT_TRUE(
        Eventually([&] { return Value("attend_slow_readers_total") > 0; }));
  }

  ServerProcess server_;
  const Series first_;
  Series last_;
  std::map<std::string, bool> moved_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(MetricsTest, EveryFamilyMoves) {
  EXPECT_LT(first_.size(), 40u);
  for (const char* family : kLate) {
    for (const auto& [series, value] : first_) {
      EXPECT_NE(Family(series), family) << series << " is there too early";
    }
  }
  CallEveryMethod();
  FloodTokenizer();
  KeepFromReading();
  {
    const auto flood = Flood();
    EXPECT_TRUE(
        Eventually([&] { return Value("attend_queued_requests") > 0; }));
    EXPECT_TRUE(
        Eventually([&] { return Rejected("queue_full", "en-de") > 0; }));
    EXPECT_TRUE(
        Eventually([&] { return Value("attend_preemptions_total") > 0; }));
  }
  EXPECT_TRUE(Eventually([&] { return server_.IsIdle(); }));
  ConnectTooOften();
  {
    const auto flood = Flood();
    EXPECT_TRUE(
        Eventually([&] { return Value("attend_running_sequences") > 0; }));
    server_.process().Signal(SIGTERM);
    EXPECT_TRUE(Eventually([&] {
      CallUnary(*channel_, kGenerate, Greedy({"Hi."}).SerializeAsString());
      return Rejected("draining") > 0;
    }));
  }
  EXPECT_EQ(server_.process().Wait(), 0) << server_.process().output();
  for (const auto& [series, value] : first_) {
    const std::string family = Family(series);
    EXPECT_TRUE(moved_.count(family) > 0 || kConstant.count(family) > 0)
        << series << " has stayed at " << value;
  }
  for (const char* family : kLate) {
    EXPECT_TRUE(moved_.count(family) > 0) << family << " has not come";
  }
  for (const auto& [family, reason] : kConstant) {
    bool exists = false;
    for (const auto& [series, value] : first_) {
      exists = exists || Family(series) == family;
    }
    EXPECT_TRUE(exists) << family << " is on the list but not in /metrics";
  }
}

// What the second prompt finds is what the first left: its full blocks.
TEST(PrefixCacheMetricsTest, APromptGivenTwiceIsFound) {
  ServerProcess server({"--model=continues=" ATTEND_SOURCE_DIR
                        "/tests/golden/families/llama-4x-linear-rope"});
  Client client(server.client_options());
  v1::GenerateRequest request;
  request.mutable_params()->set_max_new_tokens(2);
  v1::Tokens& prompt = *request.add_inputs()->mutable_tokens();
  for (int id = 3; id < 43; ++id) prompt.add_ids(id);
  const auto value = [&](const char* name) {
    return server.Metrics()[absl::StrCat("attend_prefix_cache_", name,
                                         "_tokens_total{model=\"continues\"}")];
  };
  EXPECT_TRUE(client.Generate(request).ok());
  EXPECT_TRUE(Eventually([&] { return value("queried") > 0; }));
  EXPECT_EQ(value("hit"), 0);
  EXPECT_TRUE(client.Generate(request).ok());
  EXPECT_TRUE(Eventually([&] { return value("hit") == 32; }));
}

}  // namespace
}  // namespace attend
