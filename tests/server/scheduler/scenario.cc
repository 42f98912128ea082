#include "tests/server/scheduler/scenario.h"

#include <algorithm>
#include <initializer_list>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace attend {
namespace {

using Kind = ScenarioEvent::Kind;

constexpr int kBlock = SimulatedMachine::kBlockTokens;

class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) { scenario_.seed = seed; }

  Scenario Make() {
    scenario_.even = Uniform(0, 7) == 0;
    MakeOptions();
    const bool crowd = OneIn(16);
    for (int i = scenario_.even ? Uniform(2, 3)
                 : crowd        ? 150
                                : Uniform(1, 4);
         i > 0; --i) {
      scenario_.weights.push_back(Uniform(0, 1) * Uniform(0, 3) + 1);
    }
    MakeArrivals();
    MakeMemory();
    MakePauses();
    if (!scenario_.even) MakeTrouble();
    std::stable_sort(scenario_.events.begin(), scenario_.events.end(),
                     [](const ScenarioEvent& a, const ScenarioEvent& b) {
                       return a.at < b.at;
                     });
    return std::move(scenario_);
  }

 private:
  int Uniform(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random_);
  }
  bool OneIn(int n) { return Uniform(1, n) == 1; }
  int OneOf(std::initializer_list<int> values) {
    return values.begin()[Uniform(0, static_cast<int>(values.size()) - 1)];
  }

  void MakeOptions() {
    SchedulerOptions& options = scenario_.options;
    const bool even = scenario_.even;
    options.max_queued_requests = even ? 400 : OneOf({2, 5, 20, 100});
    options.max_queued_tokens = even || !OneIn(4) ? 1 << 20 : 500;
    options.max_batch_tokens = OneOf({1, 8, 33, 64, 256, 1024});
    options.max_running = even ? OneOf({4, 8, 16}) : OneOf({1, 2, 3, 8, 64});
    options.aging = absl::Milliseconds(OneOf({1, 20, 200, 5000}));
    SimulatedMachine& machine = scenario_.machine;
    machine.fixed = OneOf({50, 1000, 5000});
    machine.decode_row = OneOf({1, 20, 200});
    machine.prompt_row = OneOf({1, 20, 100});
    machine.max_beams = OneOf({1, 4, 8});
  }

  SimulatedTask MakeTask() {
    SimulatedTask task;
    const bool encodes = model_ == 0 || (model_ == 2 && OneIn(2));
    const int most = OneIn(10) ? most_rows_ : std::min(most_rows_, 30);
    (encodes ? task.source : task.prompt) = Uniform(encodes ? 1 : 0, most);
    if (encodes && OneIn(8)) task.prompt = Uniform(1, 20);
    if (model_ == 2 && OneIn(3)) {
      task.prompt = encodes ? 0 : std::max(task.prompt, 1);
      return task;  // to embed, or to score
    }
    if (OneIn(50)) return {};
    task.tokens = Uniform(1, OneIn(5) ? most_tokens_ : (most_tokens_ + 3) / 4);
    if (OneIn(3)) task.spare_tokens = Uniform(0, most_tokens_);
    if (OneIn(4)) {
      task.beams = Uniform(1, scenario_.machine.max_beams);
      task.samples = OneIn(2);
      if (task.samples && !encodes && OneIn(2)) task.prompt = 0;
    }
    if (!scenario_.even && !encodes && OneIn(2)) {
      task.group = Uniform(0, SimulatedMachine::kGroups - 1);
      task.shared = std::min(task.prompt, SimulatedMachine::kMostShared);
    }
    return task;
  }

  void MakeArrivals() {
    model_ = scenario_.even ? 1 : Uniform(0, 2);
    most_rows_ = OneOf({10, 60, 300});
    most_tokens_ = OneOf({3, 30, 120});
    const bool even = scenario_.even;
    const int n = even ? 400 : OneIn(10) ? 300 : Uniform(1, 60);
    const int burst = OneOf({1, 3, 10});
    // Less than what can be computed, or more.
    const int pause = OneOf({1, 4}) * static_cast<int>(scenario_.machine.fixed);
    const bool hurry = OneIn(2);
    for (int i = 0; i < n; ++i) {
      if (!even && OneIn(burst)) now_ += Uniform(0, 2 * burst * pause);
      ScenarioEvent event = {.at = now_, .request = i, .task = MakeTask()};
      event.tenant = Uniform(0, static_cast<int>(scenario_.weights.size()) - 1);
      event.priority = OneIn(3) ? Uniform(-kMostPriority, kMostPriority) : 0;
      if (!even && hurry && OneIn(8)) {
        event.deadline = Uniform(0, 40) * pause;
      }
      if (!even && hurry && OneIn(8)) {
        scenario_.events.push_back({.kind = Kind::kCancel,
                                    .at = now_ + Uniform(0, 40) * pause,
                                    .request = i});
      }
      scenario_.events.push_back(event);
    }
  }

  // Each request alone has to fit.
  void MakeMemory() {
    SimulatedMachine& machine = scenario_.machine;
    int blocks = 1, encode_rows = kBlock;
    for (const ScenarioEvent& event : scenario_.events) {
      if (event.kind != Kind::kArrive) continue;
      const SimulatedTask& task = event.task;
      const int source = (task.source + kBlock - 1) / kBlock;
      const int target =
          (task.prompt + task.tokens + task.spare_tokens + kBlock - 1) / kBlock;
      encode_rows = std::max(encode_rows, source * kBlock);
      if (!task.uses_blocks()) continue;
      blocks = std::max(blocks, source + task.beams * target);
    }
    if (scenario_.even) return;
    if (!OneIn(4)) machine.blocks = blocks * OneOf({10, 10, 13, 20}) / 10;
    if (OneIn(2)) machine.encode_rows = encode_rows * OneOf({10, 20, 40}) / 10;
  }

  void Add(Kind kind, int64_t micros) {
    scenario_.events.push_back(
        {.kind = kind, .at = Uniform(0, now_ + 200000), .micros = micros});
  }

  void MakePauses() {
    const bool slow = OneIn(4), jumps = OneIn(12);
    for (int i = Uniform(1, 5); slow && i > 0; --i) {
      Add(Kind::kSlowStep, Uniform(0, 1000000));
    }
    for (int i = Uniform(1, 3); jumps && i > 0; --i) {
      Add(Kind::kSetClock, Uniform(-2000000, 1000000000));
    }
  }

  void MakeTrouble() {
    if (OneIn(4)) {
      for (int i = Uniform(1, 5); i > 0; --i) Add(Kind::kFailStep, 0);
    }
    if (OneIn(5)) Add(Kind::kClose, 0);
  }

  std::mt19937 random_;
  Scenario scenario_;
  int64_t now_ = 0;
  int model_ = 0;  // 0: has an encoder; 1: has none; 2: all kinds of work
  int most_rows_ = 0;
  int most_tokens_ = 0;
};

std::string ToText(const SimulatedTask& task) {
  std::string text;
  const auto add = [&](int n, const char* what) {
    if (n > 0) absl::StrAppend(&text, text.empty() ? "" : ", ", n, " ", what);
  };
  add(task.source, "source");
  add(task.prompt, "prompt");
  add(task.shared, "of them shared");
  add(task.tokens, "tokens");
  add(task.spare_tokens, "spare");
  if (task.beams > 1) add(task.beams, task.samples ? "samples" : "beams");
  if (task.shared > 0) absl::StrAppend(&text, ", group ", task.group);
  return text.empty() ? "nothing" : text;
}

std::string ToText(const ScenarioEvent& event) {
  switch (event.kind) {
    case Kind::kArrive:
      return absl::StrFormat(
          "request %d of tenant %d arrives: %s%s%s", event.request,
          event.tenant, ToText(event.task),
          event.priority == 0
              ? ""
              : absl::StrFormat(", priority %d", event.priority),
          event.deadline < 0
              ? ""
              : absl::StrFormat(", deadline after %d us", event.deadline));
    case Kind::kCancel:
      return absl::StrFormat("request %d is cancelled", event.request);
    case Kind::kFailStep:
      return "the next step fails";
    case Kind::kSlowStep:
      return absl::StrFormat("the next step takes %d us longer", event.micros);
    case Kind::kSetClock:
      return absl::StrFormat("the clock is set, by %d us", event.micros);
    case Kind::kClose:
      return "the server stops";
  }
  return "";
}

}  // namespace

Scenario MakeScenario(uint32_t seed) { return Maker(seed).Make(); }

int MostStepRows(const Scenario& scenario) {
  return std::max(scenario.options.max_batch_tokens,
                  scenario.machine.max_beams);
}

std::string ToText(const Scenario& scenario) {
  const SchedulerOptions& options = scenario.options;
  const SimulatedMachine& machine = scenario.machine;
  std::string text = absl::StrFormat(
      "seed %d: max_queued_requests %d, max_queued_tokens %d, "
      "max_batch_tokens %d, max_running %d, aging %s\n"
      "%d blocks of %d tokens, %d encode rows; a step takes %.0f us, and "
      "%.0f us a decode row, %.0f us another row\n",
      scenario.seed, options.max_queued_requests, options.max_queued_tokens,
      options.max_batch_tokens, options.max_running,
      absl::FormatDuration(options.aging), machine.blocks, kBlock,
      machine.encode_rows, machine.fixed, machine.decode_row,
      machine.prompt_row);
  absl::StrAppend(&text, "weights of the tenants:");
  for (const int weight : scenario.weights) absl::StrAppend(&text, " ", weight);
  absl::StrAppend(&text, "\n");
  for (const ScenarioEvent& event : scenario.events) {
    absl::StrAppendFormat(&text, "%10d us: %s\n", event.at, ToText(event));
  }
  return text;
}

}  // namespace attend
