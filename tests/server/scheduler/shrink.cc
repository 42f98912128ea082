#include "tests/server/scheduler/shrink.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

using Fails = std::function<bool(const Scenario&)>;

// Leaves out as many events as may go, `chunk` at once. True if any went.
bool DropEvents(size_t chunk, const Fails& fails, Scenario& scenario) {
  bool any = false;
  for (size_t begin = 0; begin < scenario.events.size();) {
    Scenario smaller = scenario;
    std::vector<ScenarioEvent>& events = smaller.events;
    events.erase(events.begin() + begin,
                 events.begin() + std::min(begin + chunk, events.size()));
    if (fails(smaller)) {
      scenario = std::move(smaller);
      any = true;
    } else {
      begin += chunk;
    }
  }
  return any;
}

void SimplifyEvents(const Fails& fails, Scenario& scenario) {
  static constexpr void (*kChanges[])(ScenarioEvent&) = {
      [](ScenarioEvent& event) { event.deadline = ScenarioEvent::kNever; },
      [](ScenarioEvent& event) { event.priority = 0; },
      [](ScenarioEvent& event) { event.task.beams = 1; },
      [](ScenarioEvent& event) { event.task.shared = 0; },
      [](ScenarioEvent& event) { event.task.spare_tokens = 0; },
      [](ScenarioEvent& event) { event.task.tokens /= 2; },
      [](ScenarioEvent& event) { event.task.prompt /= 2; },
      [](ScenarioEvent& event) { event.task.source /= 2; },
  };
  for (size_t i = 0; i < scenario.events.size(); ++i) {
    if (scenario.events[i].kind != ScenarioEvent::Kind::kArrive) continue;
    for (const auto change : kChanges) {
      Scenario simpler = scenario;
      change(simpler.events[i]);
      SimulatedTask& task = simpler.events[i].task;
      task.shared = std::min(task.shared, task.prompt);
      if (fails(simpler)) scenario = std::move(simpler);
    }
  }
}

}  // namespace

Scenario Shrink(Scenario scenario, const Fails& fails) {
  for (size_t chunk = scenario.events.size(); chunk > 1;) {
    chunk = (chunk + 1) / 2;
    DropEvents(chunk, fails, scenario);
  }
  SimplifyEvents(fails, scenario);
  while (DropEvents(1, fails, scenario)) {
  }
  return scenario;
}

std::string RunApart(int seconds, const std::function<std::string()>& work) {
  int ends[2];
  ATTEND_CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  ATTEND_CHECK(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    alarm(seconds);
    const std::string text = work();
    for (size_t sent = 0; sent < text.size();) {
      const ssize_t n = write(ends[1], text.data() + sent, text.size() - sent);
      if (n <= 0) break;
      sent += n;
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, n);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    absl::StrAppend(&text, " (ended by signal ", WTERMSIG(status), ")");
  } else if (WEXITSTATUS(status) != 0) {
    absl::StrAppend(&text, " (ended with code ", WEXITSTATUS(status), ")");
  }
  return text;
}

}  // namespace attend
