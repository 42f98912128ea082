#ifndef ATTEND_SERVER_SCHEDULER_TURN_SHARES_H_
#define ATTEND_SERVER_SCHEDULER_TURN_SHARES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace attend {

// A tenant that has requests in a model.
struct TurnClaim {
  uint64_t tenant = 0;
  int weight = 1;
  int models = 1;  // in which it has requests; see Turns::Place::Take()
};

// Decides which of several models computes the next step, where only one can:
// the model that was given least time for its weight (start-time fair queueing;
// Goyal, Vin, Cheng, 1996). The weight of a model is the sum of the weights of
// the tenants that have requests in it. A tenant with requests in several
// models has equal parts of its weight in each, so that no tenant gets more of
// the machine by calling more models.
//
// A model that has only short steps thus computes many of them for one long
// step of another model: while all steps are charged by their time, a request
// that takes the time t alone waits for about t of other models of the same
// weight, and for the step that runs when it comes. A model that asks again
// after a pause counts as given as much as the model that computed last: being
// idle earns nothing.
//
// Pure: knows no clock and no thread. Not thread-safe.
class TurnShares {
 public:
  // A number for a new model, the least that is free. SetClaims() allocates
  // nothing for up to `max_claims` claims.
  int Add(size_t max_claims = 0);
  void Remove(int model);

  // The tenants that have requests in the model; of each one claim.
  void SetClaims(int model, absl::Span<const TurnClaim> claims);
  // The model wants to compute a step.
  void Ask(int model);
  // The model that asks and is next; -1: none asks.
  int Next() const;
  // The step of the model begins: it asks no more.
  void Begin(int model);
  // The step had `seconds` of work.
  void End(int model, double seconds);
  // True if `model`, whose step has ended and which wants another one, may
  // begin it before all models that ask.
  bool GoesOn(int model) const;

  // The number of models in which the tenant has requests.
  int models_of(uint64_t tenant) const;

 private:
  struct Model {
    bool is_used = false;
    bool asks = false;
    int64_t order = 0;              // of asking
    double given = 0;               // seconds, by weight
    std::vector<TurnClaim> claims;  // by tenant
  };

  static bool Has(const Model& model, uint64_t tenant);
  double WeightOf(const Model& model) const;
  // True if `a` goes before `b`; both ask.
  static bool IsBefore(const Model& a, const Model& b);

  std::vector<Model> models_;
  int64_t asked_ = 0;
  double floor_ = 0;  // `given` of the model that computed last, before that
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_TURN_SHARES_H_
