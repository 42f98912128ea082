// What a request holds while its inputs wait for the engine.

#include <gmock/gmock.h>

#include <string>

#include "tests/server/inference/inference_fixture.h"
#include "tests/support/bytes_in_use.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using WaitingInferTest = InferenceFixture;

TEST_F(WaitingInferTest, DoesNotHoldItsTexts) {
  constexpr size_t kTextBytes = 16 << 20;
  FixtureOptions options;
  options.engine.allowed_steps = 0;
  Build(options);
  InferRequest request = OfTexts({std::string(kTextBytes, 'a')});
  Parameter(request, "truncate").set_bool_param(true);
  const size_t before = BytesInUse();
  LocalCall call = NewCall("ModelInfer", request);
  call.Submit();
  ASSERT_TRUE(WaitUntil([&] { return engine_->live_sequences() == 1; }));
  EXPECT_TRUE(WaitUntil([&] { return BytesInUse() < before + kTextBytes / 2; }))
      << BytesInUse() - before;
  engine_->OpenGate();
  call.Await();
  EXPECT_EQ(call.end(), absl::OkStatus());
}

}  // namespace
}  // namespace attend
