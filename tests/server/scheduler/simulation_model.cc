#include "tests/server/scheduler/simulation_model.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_format.h"

namespace attend {
namespace {

// What a request takes alone may be computed again so often on average.
constexpr int kReplays = 4;

}  // namespace

SimulationModel::SimulationModel(const Scenario& scenario, Complaint& complaint,
                                 SimulationCounts& counts)
    : scenario_(scenario),
      complaint_(complaint),
      counts_(counts),
      fairness_(scenario),
      waits_(scenario.weights.size()),
      decode_rows_(scenario.weights.size()),
      prompt_rows_(scenario.weights.size()) {
  for (const ScenarioEvent& event : scenario.events) {
    clock_is_set_ |= event.kind == ScenarioEvent::Kind::kSetClock;
  }
}

SimulatedRequest& SimulationModel::Arrive(const ScenarioEvent& event,
                                          SimulatedSequence* sequence,
                                          absl::Time now) {
  const size_t number = event.request;
  if (requests_.size() <= number) requests_.resize(number + 1);
  requests_[number] = std::make_unique<SimulatedRequest>(event, complaint_);
  SimulatedRequest& request = *requests_[number];
  request.sequence = sequence;
  request.arrival = now;
  if (event.deadline != ScenarioEvent::kNever) {
    request.deadline = now + absl::Microseconds(event.deadline);
  }
  request.steps_before = counts_.steps;
  request.ended_before = ended_work_;
  return request;
}

void SimulationModel::OnPushed(SimulatedRequest& request,
                               const absl::Status& status) {
  ++counts_.requests;
  if (status.code() != PushAnswer(request)) {
    request.Complain(
        absl::StrFormat("is pushed: %s, must be %s", status.ToString(),
                        absl::StatusCodeToString(PushAnswer(request))));
  }
  if (!status.ok()) {
    ++counts_.refused;
    requests_[request.number()].reset();
    return;
  }
  arrived_work_ += request.work();
  live_.push_back(&request);
}

// The limits hold for half of all that waits and of what the request's tenant
// has there, together.
absl::StatusCode SimulationModel::PushAnswer(
    const SimulatedRequest& request) const {
  int64_t requests = 0;
  int64_t tokens = 2 * request.queued_tokens();
  for (const SimulatedRequest* other : live_) {
    if (other->state != State::kWaiting) continue;
    const int times = other->tenant() == request.tenant() ? 2 : 1;
    requests += times;
    tokens += times * other->queued_tokens();
  }
  return requests >= 2 * scenario_.options.max_queued_requests ||
                 tokens > 2 * scenario_.options.max_queued_tokens
             ? absl::StatusCode::kResourceExhausted
             : absl::StatusCode::kOk;
}

void SimulationModel::Cancel(int request) {
  if (static_cast<size_t>(request) >= requests_.size()) return;
  if (requests_[request]) requests_[request]->is_cancelled = true;
}

void SimulationModel::ExpectSweep(absl::Time now) {
  for (SimulatedRequest* request : live_) {
    request->expected = request->Verdict(now);
  }
}

void SimulationModel::ExpectDelivery(const SimulatedStep& step) {
  for (SimulatedRequest* request : live_) request->expected = std::nullopt;
  for (const SimulatedStep::Part& part : step.parts) {
    SimulatedRequest& request = *requests_[part.request];
    if (step.failed) {
      request.expected = absl::StatusCode::kInternal;
    } else if (request.sequence->Next().phase == Phase::kDone) {
      request.expected = absl::StatusCode::kOk;
    }
  }
}

void SimulationModel::ExpectClose() {
  for (SimulatedRequest* request : live_) {
    request->expected = absl::StatusCode::kUnavailable;
  }
}

void SimulationModel::CheckAnswers(const char* when) {
  const auto name = [](std::optional<absl::StatusCode> code) {
    return code ? absl::StatusCodeToString(*code) : "no answer";
  };
  std::fill(waits_.begin(), waits_.end(), 0);
  for (SimulatedRequest* request : live_) {
    const auto answer = request->state == State::kDone
                            ? std::optional(request->answer)
                            : std::nullopt;
    if (answer != request->expected) {
      request->Complain(absl::StrFormat("gets %s %s, must get %s", name(answer),
                                        when, name(request->expected)));
    }
    request->CheckTold();
    // The work of all who were there while it was.
    const int64_t work = arrived_work_ - request->ended_before;
    const int64_t steps = counts_.steps - request->steps_before;
    if (steps > kReplays * work) {
      request->Complain(absl::StrFormat("is there for %d steps", steps));
    }
    waits_[request->tenant()] |= request->state == State::kWaiting;
    if (!answer) continue;
    ended_work_ += request->work();
    ++counts_.answered[static_cast<int>(*answer)];
  }
  std::erase_if(live_, [](const SimulatedRequest* request) {
    return request->state == State::kDone;
  });
}

void SimulationModel::ExpectPlan(int free_blocks) {
  int64_t needed = 0;
  for (const SimulatedRequest* request : live_) {
    if (request->state != State::kRunning) continue;
    needed += request->sequence->Next().blocks;
  }
  memory_is_short_ = needed > free_blocks;
}

void SimulationModel::CheckStep(const SimulatedStep& step,
                                absl::Duration took) {
  ++counts_.steps;
  longest_step_ = std::max(longest_step_, took);
  for (const int number : step.preempted) {
    SimulatedRequest& request = *requests_[number];
    if (request.state != State::kRunning) request.Complain("is preempted");
    request.state = State::kWaiting;
    ++counts_.preempted;
  }
  bool admits = false;
  for (const SimulatedStep::Part& part : step.parts) {
    SimulatedRequest& request = *requests_[part.request];
    admits |= request.state == State::kWaiting;
    if (!request.started) CheckStart(request);
    request.started = true;
    request.state = State::kRunning;
    counts_.found_rows += part.planned - part.computed;
  }
  if (!step.preempted.empty() && !memory_is_short_ && !admits) {
    complaint_.Add("a request is preempted for nobody");
  }
  CheckLimits(step);
  CheckFairness(step);
}

void SimulationModel::CheckLimits(const SimulatedStep& step) {
  int rows = 0, running = 0;
  for (const SimulatedStep::Part& part : step.parts) rows += part.planned;
  for (SimulatedRequest* request : live_) {
    if (request->state == State::kRunning) {
      ++running;
    } else if (request->sequence->holds_memory()) {
      request->Complain("waits and holds memory");
    }
  }
  const auto check = [&](const char* what, int is, int limit) {
    if (is <= limit) return;
    complaint_.Add(
        absl::StrFormat("a step has %d %s, limit is %d", is, what, limit));
  };
  check("requests", running, scenario_.options.max_running);
  check("rows", rows, MostStepRows(scenario_));
}

// A request that came so much earlier that no priority makes up for it, of the
// same tenant, has started.
void SimulationModel::CheckStart(SimulatedRequest& request) {
  if (clock_is_set_) return;
  // Encodes are held for a few steps.
  const absl::Duration patience =
      (2 * kMostPriority + 1) * scenario_.options.aging + 8 * longest_step_;
  for (const SimulatedRequest* other : live_) {
    const absl::Duration earlier = request.arrival - other->arrival;
    if (earlier < patience) return;
    if (other->tenant() != request.tenant() || other->started) continue;
    request.Complain(absl::StrFormat(
        "overtakes request %d, which came %s earlier (%s are allowed)",
        other->number(), absl::FormatDuration(earlier),
        absl::FormatDuration(patience)));
  }
}

void SimulationModel::CheckFairness(const SimulatedStep& step) {
  std::fill(decode_rows_.begin(), decode_rows_.end(), 0);
  std::fill(prompt_rows_.begin(), prompt_rows_.end(), 0);
  for (const SimulatedStep::Part& part : step.parts) {
    const int tenant = requests_[part.request]->tenant();
    (part.phase == Phase::kDecode ? decode_rows_ : prompt_rows_)[tenant] +=
        part.computed;
  }
  const double drift = fairness_.OnStep(waits_, decode_rows_, prompt_rows_);
  counts_.most_unfair = std::max(counts_.most_unfair, drift);
  if (drift <= 1) return;
  const double allowed = fairness_.microseconds_allowed();
  complaint_.Add(absl::StrFormat(
      "two tenants that always have work: one got %.0f us of it more than the "
      "other, by weight; %.0f us are allowed",
      drift * allowed, allowed));
}

void SimulationModel::CheckReport(const StepReport& report,
                                  const SimulatedStep* step,
                                  absl::Duration took, const StepCounts& counts,
                                  int used_blocks) {
  int waiting = 0, running = 0, tokens = 0, rows = 0, preempted = 0;
  for (const SimulatedRequest* request : live_) {
    const bool waits = request->state == State::kWaiting;
    (waits ? waiting : running) += 1;
    if (waits) tokens += request->queued_tokens();
  }
  if (step != nullptr) {
    for (const SimulatedStep::Part& part : step->parts) rows += part.computed;
    preempted = static_cast<int>(step->preempted.size());
  }
  const auto check = [&](const char* what, int64_t is, int64_t must) {
    if (is == must) return;
    complaint_.Add(
        absl::StrFormat("the report says %s %d, must be %d", what, is, must));
  };
  check("rows", report.rows, rows);
  check("preempted", report.preempted, preempted);
  check("queried_tokens", report.queried_tokens, counts.queried_tokens);
  check("hit_tokens", report.hit_tokens, counts.hit_tokens);
  check("duration in us", absl::ToInt64Microseconds(report.duration),
        absl::ToInt64Microseconds(took));
  check("queued_requests", report.queued_requests, waiting);
  check("queued_tokens", report.queued_tokens, tokens);
  check("running", report.running, running);
  check("used_blocks", report.used_blocks, used_blocks);
  check("total_blocks", report.total_blocks, scenario_.machine.blocks);
}

}  // namespace attend
