#include "server/tenants/tenants.h"

#include <gmock/gmock.h>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::Time kStart = absl::UnixEpoch();

absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }

TenantSettings Named(const std::string& name, const std::string& key) {
  TenantSettings tenant;
  tenant.name = name;
  tenant.keys = {HashKey(key)};
  return tenant;
}

class TenantsTest : public ::testing::Test {
 protected:
  // The name of the tenant, or the code.
  std::string Who(const std::string& authorization) const {
    return Who(CallerProof{.authorization = authorization});
  }
  std::string Who(const CallerProof& proof) const {
    const auto found = tenants_.Find(proof);
    return found.ok() ? (*found)->name()
                      : absl::StatusCodeToString(found.status().code());
  }
  std::shared_ptr<TenantAccount> Get(const std::string& key) const {
    const std::string authorization = absl::StrCat("Bearer ", key);
    return *tenants_.Find({.authorization = authorization});
  }

  Metrics metrics_{"1", {}};
  Tenants tenants_{metrics_};
};

std::string RetryAfter(const absl::Status& status) {
  return std::string(status.GetPayload(kRetryAfterUrl).value_or(absl::Cord()));
}

TEST_F(TenantsTest, AreFoundByTheirKeys) {
  EXPECT_EQ(Who("Bearer one"), "UNAUTHENTICATED");
  TenantSettings a = Named("a", "one");
  a.keys.push_back(HashKey("two"));
  tenants_.Set({a, Named("b", "three")}, kStart);
  EXPECT_EQ(Who("Bearer one"), "a");
  EXPECT_EQ(Who("bearer two"), "a");
  EXPECT_EQ(Who("Bearer three"), "b");
  for (const char* wrong : {"", "one", "Bearer", "Bearer on", "Bearer onee",
                            "Basic one", "Bearer One"}) {
    EXPECT_EQ(Who(wrong), "UNAUTHENTICATED") << wrong;
  }
  // Nor is the hash a key.
  EXPECT_EQ(Who("Bearer 7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add"
                "73ff431ed"),
            "UNAUTHENTICATED");
  EXPECT_THAT(
      tenants_.Find({.authorization = "Bearer secret"}).status().message(),
      Not(HasSubstr("secret")));
}

TEST_F(TenantsTest, AreFoundByTheNamesInCertificates) {
  TenantSettings a = Named("a", "one");
  a.certificates = {"a.example", "spiffe://x/a"};
  TenantSettings b;
  b.name = "b";
  b.certificates = {"b.example"};
  tenants_.Set({a, b}, kStart);
  const auto with = [](std::vector<std::string> names) {
    return CallerProof{.certificate_names = std::move(names)};
  };
  EXPECT_EQ(Who(with({"a.example"})), "a");
  EXPECT_EQ(Who(with({"nobody", "spiffe://x/a", "a.example"})), "a");
  EXPECT_EQ(Who(with({"b.example"})), "b");
  for (const char* wrong :
       {"A.example", "a.exampl", "x.a.example", "", "one", "a"}) {
    EXPECT_EQ(Who(with({wrong})), "UNAUTHENTICATED") << wrong;
  }
  EXPECT_EQ(Who(with({std::string("a.example\0", 10)})), "UNAUTHENTICATED");
  EXPECT_EQ(Who(CallerProof()), "UNAUTHENTICATED");
  EXPECT_EQ(tenants_.Find(with({"a.example", "b.example"})).status(),
            absl::UnauthenticatedError("the names in the client's certificate "
                                       "are of several tenants: 'a' and 'b'"));
  EXPECT_EQ(
      tenants_.Find(with({"nobody"})).status(),
      absl::UnauthenticatedError("the call has no key, and 'nobody' in its "
                                 "client's certificate is no tenant's"));
}

TEST_F(TenantsTest, AKeyCountsBeforeACertificate) {
  TenantSettings b = Named("b", "two");
  b.certificates = {"b.example"};
  tenants_.Set({Named("a", "one"), b}, kStart);
  const auto with = [](const char* authorization) {
    return CallerProof{.authorization = authorization,
                       .certificate_names = {"b.example"}};
  };
  EXPECT_EQ(Who(with("Bearer one")), "a");
  for (const char* wrong : {"Bearer other", "Basic two", ""}) {
    EXPECT_EQ(Who(with(wrong)), "UNAUTHENTICATED") << wrong;
  }
}

TEST_F(TenantsTest, TheirSeriesGoWhenTheyDo) {
  tenants_.Set({Named("a", "one"), Named("b", "two")}, kStart);
  auto running = Get("one");
  tenants_.Set({Named("b", "two")}, kStart);
  const std::string series = "attend_tenant_source_tokens_total{tenant=\"a\"} ";
  running->OnSource(5, kStart);  // of a call that began before
  EXPECT_THAT(metrics_.Serialize(), HasSubstr(series + "5\n"));
  running.reset();
  const std::string page = metrics_.Serialize();
  EXPECT_THAT(page, Not(HasSubstr("tenant=\"a\"")));
  EXPECT_THAT(page, HasSubstr("tenant=\"b\""));
  // Each family has one head, however many tenants there are.
  tenants_.Set({Named("b", "two"), Named("c", "three")}, kStart);
  const std::string both = metrics_.Serialize();
  const std::string head = "# TYPE attend_tenant_source_tokens_total";
  EXPECT_EQ(both.find(head), both.rfind(head));
  EXPECT_THAT(both, HasSubstr("tenant=\"c\""));
}

TEST_F(TenantsTest, AreThoseThatWereSetLast) {
  tenants_.Set({Named("a", "one"), Named("b", "two")}, kStart);
  const auto before = Get("one");
  TenantSettings a = Named("a", "new");
  a.weight = 5;
  tenants_.Set({a}, kStart);
  EXPECT_EQ(Who("Bearer one"), "UNAUTHENTICATED");
  EXPECT_EQ(Who("Bearer two"), "UNAUTHENTICATED");
  EXPECT_EQ(Get("new")->tenant().weight, 5);
  // Calls that run keep theirs; the scheduler sees the same tenant.
  EXPECT_EQ(before->tenant().weight, 1);
  EXPECT_EQ(before->tenant().id, Get("new")->tenant().id);
}

TEST_F(TenantsTest, TheSchedulerLearnsTheirLimits) {
  TenantSettings a = Named("a", "one");
  a.weight = 3;
  a.max_queued_inputs = 7;
  a.max_running_inputs = 2;
  tenants_.Set({a, Named("b", "two")}, kStart);
  const Tenant tenant = Get("one")->tenant();
  EXPECT_EQ(tenant.weight, 3);
  EXPECT_EQ(tenant.max_queued, 7);
  EXPECT_EQ(tenant.max_running, 2);
  EXPECT_NE(tenant.id, Get("two")->tenant().id);
}

TEST_F(TenantsTest, CallsAboveTheirRateAreToldWhenToComeBack) {
  TenantSettings a = Named("a", "one");
  a.calls = RateLimit{.per_second = 2, .burst = 1};
  tenants_.Set({a, Named("b", "two")}, kStart);
  const auto account = Get("one");
  EXPECT_TRUE(account->BeginCall(kStart).ok());
  const absl::Status refused = account->BeginCall(kStart);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(RetryAfter(refused), "500ms");
  EXPECT_EQ(refused.message(),
            "tenant 'a' has used its calls: the limit is 2 a second, and 1 at "
            "once; try again in 500ms");
  EXPECT_EQ(RetryAfter(account->BeginCall(At(0.1))), "400ms");
  EXPECT_TRUE(account->BeginCall(At(0.5)).ok());
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(Get("two")->BeginCall(kStart).ok());
}

TEST_F(TenantsTest, TokensThatWereUsedHoldUpLaterCalls) {
  TenantSettings a = Named("a", "one");
  a.tokens = RateLimit{.per_second = 100, .burst = 50};
  tenants_.Set({a}, kStart);
  const auto account = Get("one");
  EXPECT_TRUE(account->BeginInputs(kStart).ok());
  account->OnSource(40, kStart);
  EXPECT_TRUE(account->BeginInputs(kStart).ok());  // 10 are left
  account->OnSource(40, kStart);
  account->OnGenerated(70, kStart);
  const absl::Status refused = account->BeginInputs(kStart);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(RetryAfter(refused), "1.01s");  // until it has one token
  EXPECT_THAT(refused.message(), HasSubstr("has used its tokens"));
  EXPECT_TRUE(account->BeginInputs(At(1.01)).ok());
  EXPECT_TRUE(account->BeginCall(kStart).ok());  // of calls there is no limit
}

TEST_F(TenantsTest, AnotherFileIsNoFreshStart) {
  TenantSettings a = Named("a", "one");
  a.tokens = RateLimit{.per_second = 100, .burst = 50};
  tenants_.Set({a}, kStart);
  const auto running = Get("one");
  running->OnSource(150, kStart);
  a.tokens->per_second = 10;
  tenants_.Set({a}, kStart);
  EXPECT_EQ(RetryAfter(Get("one")->BeginInputs(kStart)), "10.1s");
  running->OnGenerated(10, kStart);  // of a call that began before
  EXPECT_EQ(RetryAfter(Get("one")->BeginInputs(kStart)), "11.1s");
  a.tokens.reset();
  tenants_.Set({a}, kStart);
  EXPECT_TRUE(Get("one")->BeginInputs(kStart).ok());
}

TEST_F(TenantsTest, Models) {
  TenantSettings a = Named("a", "one");
  a.models = {"m", "n"};
  tenants_.Set({a, Named("b", "two")}, kStart);
  EXPECT_TRUE(Get("one")->CheckModel("n").ok());
  EXPECT_EQ(Get("one")->CheckModel("o"),
            absl::PermissionDeniedError("tenant 'a' may not use model 'o'"));
  EXPECT_FALSE(Get("one")->MayUse(""));
  EXPECT_TRUE(Get("one")->MayUse("m@2"));
  EXPECT_FALSE(Get("one")->MayUse("o@2"));
  EXPECT_TRUE(Get("two")->CheckModel("o").ok());
}

TEST_F(TenantsTest, AreCountedByName) {
  TenantSettings a = Named("a", "one");
  a.calls = RateLimit{.per_second = 1, .burst = 1};
  a.models = {"m"};
  tenants_.Set({a}, kStart);
  for (int i = 0; i < 2; ++i) Get("one")->BeginCall(kStart).IgnoreError();
  Get("one")->CheckModel("n").IgnoreError();
  Get("one")->OnInputRefused();
  Get("one")->OnSource(5, kStart);
  Get("one")->OnGenerated(3, kStart);
  Get("one")->OnCall(absl::StatusCode::kPermissionDenied);
  tenants_.Set({a}, kStart);  // counts on
  Get("one")->OnSource(5, kStart);
  EXPECT_THAT(
      metrics_.Serialize(),
      AllOf(HasSubstr("attend_tenant_requests_total{code=\"PERMISSION_DENIED\","
                      "tenant=\"a\"} 1\n"),
            HasSubstr("attend_tenant_source_tokens_total{tenant=\"a\"} 10\n"),
            HasSubstr("attend_tenant_generated_tokens_total{tenant=\"a\"} 3\n"),
            HasSubstr("attend_tenant_refused_total{reason=\"call_rate\","
                      "tenant=\"a\"} 1\n"),
            HasSubstr("reason=\"model\",tenant=\"a\"} 1\n"),
            HasSubstr("reason=\"queued_inputs\",tenant=\"a\"} 1\n"),
            Not(HasSubstr("token_rate"))));
}

TEST(TenantAccountTest, EverybodyMayDoEverything) {
  TenantAccount& account = *TenantAccount::OfEverybody();
  EXPECT_EQ(account.name(), "");
  EXPECT_TRUE(account.BeginCall(kStart).ok());
  EXPECT_TRUE(account.CheckModel("m").ok());
  EXPECT_TRUE(account.BeginInputs(kStart).ok());
  EXPECT_EQ(account.max_priority(), kMaxPriority);
  account.OnSource(1, kStart);
  account.OnGenerated(1, kStart);
  account.OnInputRefused();
  account.OnCall(absl::StatusCode::kOk);
}

}  // namespace
}  // namespace attend
