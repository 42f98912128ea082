// What answers say of models and of errors.

#include "server/service/results.h"

#include <string>

#include "server/service/describe_model.h"
#include "tests/server/service/service_fixture.h"

namespace attend {
namespace {

using ResultsTest = ServiceFixture;

// Receivers refuse a message with a string that is not UTF-8.
TEST_F(ResultsTest, ErrorsAreUtf8) {
  const absl::Status error = absl::NotFoundError("no tensor 'a\xff'");
  EXPECT_EQ(ToProto(error).message(), "no tensor 'a\uFFFD'");
  Build({});
  AddBroken("broken", error);
  EXPECT_EQ(DescribeModel(*models_.Find("broken")).error(),
            "no tensor 'a\uFFFD'");
}

}  // namespace
}  // namespace attend
