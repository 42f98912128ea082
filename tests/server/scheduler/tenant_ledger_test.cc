#include "server/scheduler/tenant_ledger.h"

#include <vector>

#include "gtest/gtest.h"

namespace attend {
namespace {

// Steps of 1 ms, and 0.1 ms more for each decode row.
class TenantLedgerTest : public testing::Test {
 protected:
  TenantLedgerTest() {
    for (int i = 0; i < 200; ++i) {
      cost_.Observe(1 + i % 2 * 19, 0, Duration(1 + i % 2 * 19));
    }
  }

  static absl::Duration Duration(int decode_rows) {
    return absl::Microseconds(1000 + 100 * decode_rows);
  }
  static double Seconds(int decode_rows) {
    return absl::ToDoubleSeconds(Duration(decode_rows));
  }

  // A step with these decode rows of the first two tenants.
  void Step(int a_rows, int b_rows, bool joint) {
    ledger_.BeginStep(joint);
    if (a_rows > 0) ledger_.AddRows(0, a_rows, 0);
    if (b_rows > 0) ledger_.AddRows(1, b_rows, 0);
    ledger_.EndStep(cost_, Duration(a_rows + b_rows));
  }
  int Run(uint64_t id, int weight = 1) {
    const int tenant = ledger_.Arrive({.id = id, .weight = weight});
    ledger_.Admit(tenant);
    return tenant;
  }
  const TenantView& View(int tenant) const { return ledger_.views()[tenant]; }

  StepCost cost_;
  TenantLedger ledger_{8};
};

TEST_F(TenantLedgerTest, ServedIsAShareOfTheTimeByRows) {
  Run(10);
  Run(20);
  Step(30, 10, /*joint=*/true);
  EXPECT_NEAR(View(0).served, Seconds(40) * 3 / 4, 1e-4);
  EXPECT_NEAR(View(1).served, Seconds(40) / 4, 1e-4);
  Step(0, 10, /*joint=*/false);
  EXPECT_NEAR(View(1).served, Seconds(40) / 4 + Seconds(10), 1e-4);
}

// The first tenant has requests in another model, too: here it has half of its
// weight.
TEST_F(TenantLedgerTest, ATenantOfTwoModelsHasAPartOfItsWeight) {
  Run(10, /*weight=*/2);
  Run(20, /*weight=*/1);
  std::vector<TurnClaim> claims;
  ledger_.AddClaims(claims);
  ASSERT_EQ(claims.size(), 2u);
  EXPECT_EQ(claims[0].tenant, 10u);
  EXPECT_EQ(claims[0].weight, 2);
  claims[0].models = 2;
  ledger_.SetModels(claims);
  Step(20, 20, /*joint=*/true);
  EXPECT_NEAR(View(0).served, View(1).served, 1e-9);
  EXPECT_EQ(View(0).weight, 2);
  claims[0].models = 1;
  // The claim of one that has gone is passed over.
  claims.insert(claims.begin(), {.tenant = 5, .weight = 1, .models = 3});
  ledger_.SetModels(claims);
  Step(20, 20, /*joint=*/true);
  EXPECT_NEAR(View(0).served, View(1).served * 3 / 4, 1e-9);
}

TEST_F(TenantLedgerTest, RowsThatWereFoundAreNoWork) {
  Run(10);
  Run(20);
  cost_.Observe(1, 10, Duration(1) + absl::Milliseconds(1));
  ledger_.BeginStep(/*joint=*/true);
  ledger_.AddRows(0, 0, 40);
  ledger_.AddRows(1, 0, 40);
  ledger_.SpareRows(0, 40);
  ledger_.SpareRows(1, 30);
  ledger_.EndStep(cost_, absl::Milliseconds(2));
  EXPECT_EQ(View(0).served, 0);
  EXPECT_NEAR(View(1).served, 2e-3, 1e-9);
  EXPECT_NEAR(View(0).owed, 2e-3, 1e-9);  // the whole of the step
  // Nor is a step in which all were found.
  ledger_.BeginStep(/*joint=*/true);
  ledger_.AddRows(1, 0, 40);
  ledger_.SpareRows(1, 40);
  ledger_.EndStep(cost_, absl::Milliseconds(1));
  EXPECT_NEAR(View(1).served, 2e-3, 1e-9);
}

// The time of a step that does not depend on its rows is nobody's.
TEST_F(TenantLedgerTest, RowsByWeightsOweNothing) {
  Run(10, /*weight=*/3);
  Run(20, /*weight=*/1);
  Step(24, 8, /*joint=*/true);
  EXPECT_NEAR(View(0).served, View(1).served, 1e-9);
  EXPECT_EQ(View(0).owed, 0);
  EXPECT_EQ(View(1).owed, 0);
}

TEST_F(TenantLedgerTest, AWeightDividesWhatWasServed) {
  Run(10, /*weight=*/3);
  Step(20, 0, /*joint=*/true);
  EXPECT_NEAR(View(0).served, Seconds(20) / 3, 1e-4);
}

// The clock was set, or the machine stood still.
TEST_F(TenantLedgerTest, AnHourIsNobodysWork) {
  Run(10);
  Run(20);
  ledger_.BeginStep(/*joint=*/true);
  ledger_.AddRows(0, 10, 0);
  ledger_.EndStep(cost_, absl::Hours(1));
  EXPECT_LT(View(0).served, 10 * Seconds(10));
  EXPECT_LT(View(1).owed, 10 * Seconds(10));
}

TEST_F(TenantLedgerTest, WhoGotLessOfAJointStepMayCatchUp) {
  Run(10);
  Run(20);
  Step(100, 1, /*joint=*/true);
  EXPECT_EQ(View(0).owed, 0);
  const double owed = Seconds(100) - Seconds(1);
  EXPECT_NEAR(View(1).owed, owed, 2e-4);
  Step(0, 1, /*joint=*/false);
  EXPECT_NEAR(View(1).owed, owed - Seconds(1), 2e-4);
  for (int i = 0; i < 20; ++i) Step(0, 1, /*joint=*/false);
  EXPECT_EQ(View(1).owed, 0);
  // What was not used is not kept.
  Step(100, 1, /*joint=*/true);
  Step(100, 1, /*joint=*/true);
  EXPECT_NEAR(View(1).owed, owed, 2e-4);
}

TEST_F(TenantLedgerTest, ANewcomerIsOwedTheStepThatItCameInto) {
  Run(10);
  Step(100, 0, /*joint=*/true);
  const int b = ledger_.Arrive({.id = 20});
  EXPECT_NEAR(View(b).owed, Seconds(100), 2e-4);
}

// Or many short lives one after the other would keep a tenant out for ever.
TEST_F(TenantLedgerTest, ButNotWhatOthersHaveCaughtUpSince) {
  Run(10);
  Run(20);
  Step(100, 1, /*joint=*/true);
  for (int i = 0; i < 5; ++i) Step(0, 1, /*joint=*/false);
  ledger_.End(1, /*was_waiting=*/false);
  EXPECT_NEAR(View(Run(30)).owed, Seconds(100) - 5 * Seconds(1), 2e-4);
  EXPECT_NEAR(View(Run(20)).owed, Seconds(100) - 6 * Seconds(1), 2e-4);
}

TEST_F(TenantLedgerTest, BeingIdleEarnsNothing) {
  Run(10);
  Run(20);
  Step(10, 10, /*joint=*/true);
  ledger_.End(1, /*was_waiting=*/false);
  for (int i = 0; i < 100; ++i) {
    Run(10);
    Step(10, 0, /*joint=*/true);
    ledger_.End(0, /*was_waiting=*/false);
  }
  ledger_.Arrive({.id = 10});  // waits
  const int b = ledger_.Arrive({.id = 20});
  EXPECT_EQ(View(b).served, View(0).served);
  // Nor if nobody waits: then the last one who did counts.
  ledger_.Admit(0);
  ledger_.Admit(b);
  EXPECT_NEAR(View(ledger_.Arrive({.id = 30})).served, View(0).served, 1e-9);
}

TEST_F(TenantLedgerTest, LeavingForgivesNothing) {
  Run(10);
  const int b = Run(20);
  ledger_.Arrive({.id = 10});  // waits, and is served least
  Step(1, 100, /*joint=*/true);
  const double served = View(b).served;
  ledger_.End(b, /*was_waiting=*/false);
  EXPECT_EQ(ledger_.present(), 1);
  Run(30);
  EXPECT_EQ(View(ledger_.Arrive({.id = 20})).served, served);
}

TEST_F(TenantLedgerTest, AccountsAreUsedAgain) {
  Run(10);
  for (uint64_t id = 100; id < 1100; ++id) {
    const int tenant = Run(id);
    Step(1, 0, /*joint=*/true);
    ledger_.End(tenant, /*was_waiting=*/false);
  }
  EXPECT_LE(ledger_.views().size(), 8u);
  EXPECT_EQ(ledger_.present(), 1);
}

TEST_F(TenantLedgerTest, ManyNamesOneAfterTheOtherTakeFewAccounts) {
  TenantLedger ledger(10000);
  const int stays = ledger.Arrive({.id = 10});
  ledger.Admit(stays);
  for (uint64_t id = 100; id < 2000; ++id) {
    const int tenant = ledger.Arrive({.id = id});
    ledger.Admit(tenant);
    ledger.BeginStep(/*joint=*/true);
    ledger.AddRows(tenant, 1, 0);
    ledger.EndStep(cost_, Duration(1));
    ledger.End(tenant, /*was_waiting=*/false);
    ASSERT_LE(ledger.views().size(), TenantLedger::kMostAbsent + 1u);
  }
  ledger.End(stays, /*was_waiting=*/false);
  EXPECT_EQ(ledger.views().size(), 0u);
}

TEST_F(TenantLedgerTest, NorDoManyNamesAtOnceKeepThem) {
  TenantLedger ledger(10000);
  const int stays = ledger.Arrive({.id = 10});
  std::vector<int> others;
  for (uint64_t id = 100; id < 2000; ++id) {
    others.push_back(ledger.Arrive({.id = id}));
  }
  EXPECT_EQ(ledger.present(), 1901);
  for (const int tenant : others) ledger.End(tenant, /*was_waiting=*/true);
  EXPECT_EQ(ledger.views().size(), TenantLedger::kMostAbsent + 1u);
  EXPECT_EQ(ledger.Arrive({.id = 10}), stays);
}

TEST_F(TenantLedgerTest, WhenAllHaveLeftNobodyIsBehindAnybody) {
  Run(10);
  Step(100, 0, /*joint=*/true);
  ledger_.End(0, /*was_waiting=*/false);
  EXPECT_EQ(View(ledger_.Arrive({.id = 20})).served, 0);
  EXPECT_EQ(View(ledger_.Arrive({.id = 10})).served, 0);
}

TEST_F(TenantLedgerTest, APreemptedOneWaitsAgain) {
  const int a = Run(10);
  ledger_.Return(a);
  ledger_.End(a, /*was_waiting=*/true);
  EXPECT_EQ(ledger_.present(), 0);
}

}  // namespace
}  // namespace attend
