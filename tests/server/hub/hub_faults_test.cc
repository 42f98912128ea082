// Models fetched from a hub with the faults that it may have.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/server/hub/fetch_fixture.h"
#include "tests/support/certificate_files.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class HubFaultsTest : public FetchFixture {};

TEST_F(HubFaultsTest, AHubThatIsDownDoesNotKeepFromServingTheCache) {
  ExpectError("down/plain", absl::StatusCode::kUnavailable, "status 503");
  EXPECT_EQ(Requests({"GET /api/"}).size(), 6u);  // all retries
  const fs::path snapshot = FetchGood("ok/plain");
  fs::rename(Model("ok/plain"), Model("down/plain"));
  EXPECT_EQ(FetchGood("down/plain"),
            Model("down/plain") / "snapshots" / kCommits[0]);
  EXPECT_EQ(Requests({"GET /api/models/down"}).size(), 1u);  // no retry
  settings_.endpoint = "http://127.0.0.1:1";
  EXPECT_EQ(FetchGood("down/plain").filename(), kCommits[0]);
  ExpectError("ok/other", absl::StatusCode::kUnavailable, "127.0.0.1:1");
}

TEST_F(HubFaultsTest, ACommitThatCannotBeHadLeavesTheOneBefore) {
  const fs::path snapshot = FetchGood("fading/plain");
  EXPECT_EQ(FetchGood("fading/plain"), snapshot);
  EXPECT_EQ(Read(Model("fading/plain") / "refs/main"), kCommits[0]);
}

TEST_F(HubFaultsTest, AConnectionThatIsCutIsTakenUpAgain) {
  const fs::path snapshot = FetchGood("cut/plain");
  EXPECT_EQ(fs::file_size(snapshot / kWeights), kWeightsBytes);
  EXPECT_EQ(Requests({"GET /large/cut/plain",
                      absl::StrCat("bytes=", kBytesBeforeTheCut, "-")})
                .size(),
            1u);
}

TEST_F(HubFaultsTest, AServerWithoutRangesSendsAllOfItAgain) {
  const fs::path snapshot = FetchGood("norange/plain");
  EXPECT_EQ(fs::file_size(snapshot / kWeights), kWeightsBytes);
}

TEST_F(HubFaultsTest, OtherBytesThanThoseAskedForAreNotTaken) {
  ExpectError("badrange/plain", absl::StatusCode::kFailedPrecondition,
              "got other bytes");
}

TEST_F(HubFaultsTest, AStalledServerIsGivenUpAndAskedAgain) {
  settings_.timeout = absl::Milliseconds(500);
  const fs::path snapshot = FetchGood("stalled/plain");
  EXPECT_EQ(fs::file_size(snapshot / kWeights), kWeightsBytes);
}

TEST_F(HubFaultsTest, TheNextOneTakesUpWhatWasLeftAtARequestToEnd) {
  settings_.timeout = absl::Minutes(1);
  stopping_ = [this] {
    const auto sizes = Incomplete("stalled/plain");
    return !sizes.empty() && sizes.front() == kBytesBeforeTheCut;
  };
  ExpectError("stalled/plain", absl::StatusCode::kCancelled, "asked to end");
  EXPECT_FALSE(fs::exists(Model("stalled/plain") / "refs"));
  stopping_ = [] { return false; };
  const fs::path snapshot = FetchGood("stalled/plain");
  EXPECT_EQ(fs::file_size(snapshot / kWeights), kWeightsBytes);
  EXPECT_EQ(Requests({"GET", "/large/stalled/plain", "bytes=50000-"}).size(),
            1u);
}

TEST_F(HubFaultsTest, WhatWasLeftAndIsWrongIsFetchedAnew) {
  const fs::path snapshot = FetchGood("ok/plain");
  const fs::path weights = fs::canonical(snapshot / kWeights);
  const std::string good = Read(weights);
  for (size_t size : {size_t{1000}, good.size(), good.size() + 1}) {
    fs::remove(weights);
    std::ofstream(weights.string() + ".incomplete") << std::string(size, 'x');
    FetchGood("ok/plain");
    EXPECT_EQ(Read(weights), good) << size;
  }
}

TEST_F(HubFaultsTest, WhatHasNotItsHashIsNotInTheCache) {
  ExpectError("wrong/plain", absl::StatusCode::kDataLoss, "announced");
  EXPECT_THAT(FilesIn(Model("wrong/plain") / "snapshots"),
              Not(::testing::Contains(kWeights)));
  EXPECT_FALSE(fs::exists(Model("wrong/plain") / "refs"));
  for (uintmax_t size : Incomplete("wrong/plain")) EXPECT_EQ(size, 0u);
}

TEST_F(HubFaultsTest, MoreThanWasAnnouncedIsNotWritten) {
  ExpectError("endless/plain", absl::StatusCode::kDataLoss, "announced");
  for (uintmax_t size : Incomplete("endless/plain")) {
    EXPECT_LE(size, kWeightsBytes);
  }
}

TEST_F(HubFaultsTest, WhatCannotBeCheckedIsNotFetched) {
  ExpectError("nohash/plain", absl::StatusCode::kFailedPrecondition,
              "X-Linked-Etag");
  ExpectError("nosize/plain", absl::StatusCode::kFailedPrecondition,
              "X-Linked-Size");
  EXPECT_THAT(Requests({"GET /nohash/plain/resolve"}), IsEmpty());
}

TEST_F(HubFaultsTest, AListingThatIsNoneIsAnError) {
  ExpectError("flood/plain", absl::StatusCode::kFailedPrecondition,
              "more than 16777216 bytes");
  ExpectError("page/plain", absl::StatusCode::kInvalidArgument,
              "/api/models/page/plain/revision/main");
  ExpectError("badcommit/plain", absl::StatusCode::kInvalidArgument, "sha");
  EXPECT_FALSE(fs::exists(settings_.cache));
}

TEST_F(HubFaultsTest, WhoIsBusyIsAskedAgain) {
  FetchGood("busy/plain");
  FetchGood("broken/plain");
}

TEST_F(HubFaultsTest, ErrorsSayWhatToDo) {
  ExpectError("secret/plain", absl::StatusCode::kUnauthenticated,
              "status 401: there is no such model, or it takes a token");
  settings_.token = "wr0ng";
  const auto path = Fetch("secret/plain");
  EXPECT_EQ(path.status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(path.status().message()),
              AllOf(HasSubstr("may not read it"), Not(HasSubstr("wr0ng"))));
  ExpectError("missing/plain@v9", absl::StatusCode::kNotFound,
              "/api/models/missing/plain/revision/v9: status 404: no such");
  EXPECT_EQ(Requests({"GET /api/models/missing"}).size(), 1u);  // no retry
}

TEST_F(HubFaultsTest, TheTokenGoesToTheHubAlone) {
  settings_.token = "s3cret";
  FetchGood("secret/plain");
  const std::vector<std::string> all = Requests({});
  int elsewhere = 0;
  for (const std::string& line : all) {
    const bool large = absl::StrContains(line, " /large/");
    elsewhere += large;
    EXPECT_EQ(absl::EndsWith(line, " s3cret"), !large) << line;
  }
  EXPECT_EQ(elsewhere, 2);  // the weights of the model and of a module
  // Nor does it where the listing is said to be elsewhere.
  FetchGood("away/plain");
  EXPECT_EQ(Requests({"GET /api/models/away", "s3cret"}).size(), 1u);
}

TEST_F(HubFaultsTest, AModelThatWasRenamedIsFoundAndALoopIsNoWay) {
  EXPECT_EQ(fs::file_size(FetchGood("renamed/plain") / kWeights),
            kWeightsBytes);
  ExpectError("loop/plain", absl::StatusCode::kFailedPrecondition, "redirects");
}

TEST_F(HubFaultsTest, ACertificateMustBeOfACaThatIsTrusted) {
  const CertificateFiles files;
  files.MakeCa("ca");
  files.MakeSigned("hub", "ca");
  const FakeHub hub(ATTEND_SOURCE_DIR, absl::StrCat(files.Path("hub.crt"), " ",
                                                    files.Path("hub.key")));
  settings_.endpoint = hub.endpoint();
  ExpectError("ok/plain", absl::StatusCode::kFailedPrecondition,
              "SSL_CERT_FILE");
  settings_.ca_file = files.Path("ca.crt");
  // The fake's large files are on a server without TLS.
  ExpectError("ok/plain", absl::StatusCode::kFailedPrecondition,
              "must be https");
  EXPECT_TRUE(fs::exists(Model("ok/plain") / "snapshots" / kCommits[0] /
                         "config.json"));
}

TEST_F(HubFaultsTest, AProxyIsThatOfTheVariable) {
  settings_.endpoint = "http://hub.invalid";
  setenv("http_proxy", hub_->endpoint().c_str(), 1);
  FetchGood("ok/plain");
  setenv("no_proxy", "hub.invalid", 1);
  ExpectError("ok/shards", absl::StatusCode::kUnavailable, "hub.invalid");
  unsetenv("no_proxy");
  unsetenv("http_proxy");
}

}  // namespace
}  // namespace attend
