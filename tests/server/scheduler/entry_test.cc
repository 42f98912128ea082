#include "server/scheduler/entry.h"

#include <memory>

#include "gtest/gtest.h"
#include "tests/support/fake_engine.h"

namespace attend {
namespace {

// As beams do that agree on no token yet.
TEST(EntryTest, HasDecodedWithoutOutput) {
  const FakeEngine engine;
  Entry entry;
  entry.request = std::make_unique<Request>();
  entry.request->sequence = *engine.NewSequence(MakeFakeRequest({}));
  EXPECT_FALSE(entry.View(/*with_blocks=*/false).has_decoded);
  for (const Phase phase : {Phase::kEncode, Phase::kPrompt}) {
    entry.piece = phase;
    entry.FinishPiece(/*rows=*/5, /*inputs=*/1, absl::UnixEpoch());
    EXPECT_FALSE(entry.View(false).has_decoded);
  }
  entry.piece = Phase::kDecode;
  entry.FinishPiece(1, 1, absl::UnixEpoch());
  EXPECT_TRUE(entry.View(false).has_decoded);
  EXPECT_FALSE(entry.HasNewOutput());
}

}  // namespace
}  // namespace attend
