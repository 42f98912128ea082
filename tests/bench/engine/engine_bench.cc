// attend-engine-bench: measures the engine alone, without a server.
//
//   attend-engine-bench --model DIR [flags of attend-server]
//
// Reads jobs from standard input, one JSON object a line, and answers each with
// one line. Jobs:
//
// {"sources": [[ids], ...], "in_flight": 64, "beams": 1, "max_new_tokens": 32,
//  "min_new_tokens": 32, "length_penalty": 0, "outputs": true, "matmuls": true}
//   Generates for all sources, at most `in_flight` at a time, as the server
//   would. All but `sources` may be left out: one at a time, greedy, natural
//   length. With "json_schemas": [texts], each source is constrained by one of
//   them, in turns. Answer: seconds, cpu_seconds, tokens, steps, decode_rows,
//   encode_rows, peak_rss_bytes; `outputs`, ids of the best result of each;
//   `matmul_seconds`, the matmuls of the same steps alone. With "ops": true,
//   `op_seconds`: how the time divides into ops (see OpSeconds).
//
// {"task": "embed", "sources": [[ids], ...], "in_flight": 64, "outputs": true,
//  "matmuls": true, "ops": true}
//   Embeds all sources; `texts` instead of `sources` are first encoded by the
//   model's tokenizer, and cut to what the model takes. Answer: as above, where
//   `tokens` are those of the sources, and `outputs` vectors.
//
// {"decode_rows": 32, "beams": 1, "source_tokens": 30, "steps": 50}
//   Times steps in which so many rows decode. Answer: median_seconds of a step,
//   and min_seconds.
//
// A line {"error": ...} and exit code 1 where a job cannot be run.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/families/load_family.h"
#include "engine/json/json_file.h"
#include "engine/runtime/model.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/sandbox/sandbox.h"
#include "server/app/options.h"
#include "tests/bench/engine/engine_loop.h"
#include "tests/bench/engine/matmul_replay.h"
#include "tests/bench/engine/op_seconds.h"

namespace attend {
namespace {

using Json = nlohmann::json;

// Highest resident memory of the process so far.
int64_t PeakRssBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) {
      return std::strtoll(line.c_str() + 6, nullptr, 10) * 1024;
    }
  }
  return 0;
}

GenerationParams Params(const Json& job, GenerationParams params) {
  params.num_beams = job.value("beams", 1);
  params.num_return_sequences = 1;
  params.do_sample = false;
  params.early_stopping = EarlyStopping::kFalse;
  params.length_penalty = job.value("length_penalty", 1.0f);
  params.max_new_tokens = job.value("max_new_tokens", params.max_new_tokens);
  params.min_new_tokens = job.value("min_new_tokens", 0);
  return params;
}

class Bench {
 public:
  static absl::StatusOr<std::unique_ptr<Bench>> Create(
      const ServerOptions& options) {
    auto bench = std::make_unique<Bench>();
    bench->options_ = options;
    ASSIGN_OR_RETURN(bench->compute_, NewCompute(options.compute));
    const ModelSource& source = options.models.front();
    ASSIGN_OR_RETURN(bench->model_,
                     LoadModel(*bench->compute_, source.directory, source.name,
                               options.EngineOf(source), source.draft));
    bench->loop_.emplace(
        *bench->model_.engine,
        BatcherOptions{.max_rows = options.engine.max_step_rows,
                       .max_running = options.scheduler.max_running,
                       .max_waiting = options.scheduler.max_queued_requests,
                       .aging = options.scheduler.aging});
    return bench;
  }

  absl::StatusOr<Json> Run(const Json& job) {
    if (job.contains("decode_rows")) return TimeDecodes(job);
    return job.value("task", "generate") == "embed" ? Embed(job)
                                                    : Generate(job);
  }

 private:
  absl::StatusOr<LoopResult> Loop(const Json& job,
                                  std::vector<EngineRequest> requests) {
    std::optional<OpSeconds> ops;
    if (job.value("ops", false)) ops.emplace();
    ASSIGN_OR_RETURN(LoopResult result, loop_->Run(std::move(requests),
                                                   job.value("in_flight", 1)));
    if (ops.has_value()) result.op_seconds = ops->seconds();
    return result;
  }

  absl::StatusOr<Json> Embed(const Json& job) {
    std::vector<EngineRequest> requests;
    int64_t tokens = 0;
    const auto add = [&](SourceTokens source) {
      tokens += static_cast<int64_t>(source.ids.size());
      requests.push_back({.input = std::move(source), .task = EmbedTask{}});
    };
    for (const Json& ids : job.value("sources", Json::array())) {
      add({.ids = ids.get<std::vector<int>>()});
    }
    for (const Json& text : job.value("texts", Json::array())) {
      ASSIGN_OR_RETURN(SourceTokens source, Encode(text.get<std::string>()));
      add(std::move(source));
    }
    ASSIGN_OR_RETURN(const LoopResult result, Loop(job, std::move(requests)));
    Json answer = Report(result, tokens);
    if (job.value("outputs", false)) {
      for (const SequenceOutput& output : result.outputs) {
        answer["outputs"].push_back(output.values);
      }
    }
    if (job.value("matmuls", false)) {
      ASSIGN_OR_RETURN(answer["matmul_seconds"],
                       Replay(encoder_replay_, result.steps));
    }
    return answer;
  }

  absl::StatusOr<SourceTokens> Encode(const std::string& text) const {
    const int limit = model_.engine->info().max_source_tokens;
    const int length = model_.tokenizer->max_length();
    ASSIGN_OR_RETURN(
        const Encoding encoding,
        model_.tokenizer->Encode(
            {.text = text,
             .max_tokens = length > 0 ? std::min(length, limit) : limit}));
    return SourceTokens{.ids = encoding.ids, .types = encoding.types};
  }

  absl::StatusOr<Json> Generate(const Json& job) {
    const GenerationParams params = Params(job, Defaults());
    ASSIGN_OR_RETURN(const auto constraints, Compile(job));
    std::vector<EngineRequest> requests;
    for (const Json& ids : job.at("sources")) {
      GenerateTask task{params};
      if (!constraints.empty()) {
        task.params.constraint =
            constraints[requests.size() % constraints.size()];
      }
      EngineRequest& request = requests.emplace_back();
      request.input =
          InputOf(model_.engine->info(), {.ids = ids.get<std::vector<int>>()});
      request.task = std::move(task);
    }
    ASSIGN_OR_RETURN(const LoopResult result, Loop(job, std::move(requests)));
    int64_t tokens = 0;
    Json outputs = Json::array();
    for (const SequenceOutput& output : result.outputs) {
      tokens += static_cast<int64_t>(output.choices[0].tokens.size());
      outputs.push_back(output.choices[0].tokens);
    }
    Json answer = Report(result, tokens);
    if (job.value("outputs", false)) answer["outputs"] = std::move(outputs);
    if (job.value("matmuls", false)) {
      ASSIGN_OR_RETURN(answer["matmul_seconds"], Replay(replay_, result.steps));
    }
    return answer;
  }

  absl::StatusOr<std::vector<std::shared_ptr<const Constraint>>> Compile(
      const Json& job) const {
    std::vector<std::shared_ptr<const Constraint>> constraints;
    for (const Json& schema : job.value("json_schemas", Json::array())) {
      ASSIGN_OR_RETURN(constraints.emplace_back(),
                       model_.grammars->Compile({GrammarKind::kJsonSchema,
                                                 schema.get<std::string>()}));
    }
    return constraints;
  }

  static Json Report(const LoopResult& result, int64_t tokens) {
    int64_t decode_rows = 0, encode_rows = 0;
    for (const StepRows& step : result.steps) {
      decode_rows += step.decode;
      encode_rows += step.encode;
    }
    Json answer = {{"seconds", result.seconds},
                   {"cpu_seconds", result.cpu_seconds},
                   {"tokens", tokens},
                   {"steps", result.steps.size()},
                   {"decode_rows", decode_rows},
                   {"encode_rows", encode_rows},
                   {"peak_rss_bytes", PeakRssBytes()}};
    if (!result.op_seconds.empty()) answer["op_seconds"] = result.op_seconds;
    return answer;
  }

  absl::StatusOr<Json> TimeDecodes(const Json& job) {
    const int steps = job.value("steps", 50);
    RETURN_IF_ERROR(loop_->Start(
        SteadyRequests(*model_.engine, job.at("decode_rows"),
                       job.value("beams", 1), job.value("source_tokens", 30))));
    std::vector<double> seconds;
    for (int i = 0; i < steps; ++i) {
      const absl::Time start = absl::Now();
      RETURN_IF_ERROR(loop_->Decode());
      seconds.push_back(absl::ToDoubleSeconds(absl::Now() - start));
    }
    loop_->Stop();
    std::sort(seconds.begin(), seconds.end());
    return Json{{"median_seconds", seconds[seconds.size() / 2]},
                {"min_seconds", seconds.front()},
                {"steps", steps}};
  }

  // `replay` is made when it is first used.
  absl::StatusOr<double> Replay(std::optional<MatMulReplay>& replay,
                                const std::vector<StepRows>& steps) {
    if (!replay.has_value()) {
      ASSIGN_OR_RETURN(
          const JsonFile config,
          JsonFile::Load(options_.models.front().directory + "/config.json"));
      ASSIGN_OR_RETURN(Family family, LoadFamily(config));
      // Nobody asks an embedded source for keys and values of a decoder. A
      // decoder that embeds has no other stack.
      if (&replay == &encoder_replay_) {
        if (!family.spec.encoder) family.spec.encoder = family.spec.decoder;
        family.spec.decoder.reset();
      }
      ASSIGN_OR_RETURN(const ComputeType dtype,
                       ParseComputeType(model_.engine->info().dtype));
      ASSIGN_OR_RETURN(MatMulReplay made,
                       MatMulReplay::Create(*compute_, family.spec, dtype,
                                            options_.engine.max_step_rows));
      replay.emplace(std::move(made));
      RETURN_IF_ERROR(replay->Run(steps).status());  // warms up
    }
    return replay->Run(steps);
  }

  const GenerationParams& Defaults() const {
    return model_.engine->info().generation;
  }

  ServerOptions options_;
  std::unique_ptr<Compute> compute_;
  Model model_;
  std::optional<EngineLoop> loop_;
  std::optional<MatMulReplay> replay_;
  std::optional<MatMulReplay> encoder_replay_;
};

int Fail(const absl::Status& status) {
  std::cout << Json{{"error", std::string(status.message())}} << std::endl;
  return 1;
}

int Main(const std::vector<std::string>& arguments) {
  Sandbox::Shared();  // before there is much memory
  const auto line = ParseCommandLine(arguments);
  if (!line.ok()) return Fail(line.status());
  if (line->help) {  // the flags are the server's
    std::cout << HelpText();
    return 0;
  }
  const auto bench = Bench::Create(line->options);
  if (!bench.ok()) return Fail(bench.status());
  for (std::string text; std::getline(std::cin, text);) {
    const auto answer = (*bench)->Run(Json::parse(text));
    if (!answer.ok()) return Fail(answer.status());
    std::cout << *answer << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace attend

int main(int argc, char** argv) {
  return attend::Main(std::vector<std::string>(argv + 1, argv + argc));
}
