#include "server/hub/hub_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace attend {
namespace {

TEST(HubReferenceTest, HasARepositoryAFileAndARevision) {
  const auto plain = ParseHubReference("Helsinki-NLP/opus-mt-en-de");
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->repository, "Helsinki-NLP/opus-mt-en-de");
  EXPECT_EQ(plain->file, "");
  EXPECT_EQ(plain->revision, "main");

  const auto all = ParseHubReference("a/b.c_d/q/m-Q4.gguf@refs/pr/7");
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->repository, "a/b.c_d");
  EXPECT_EQ(all->file, "q/m-Q4.gguf");
  EXPECT_EQ(all->revision, "refs/pr/7");
}

TEST(HubReferenceTest, NothingElseIsOne) {
  for (const char* text : {"",
                           "b",
                           "/b",
                           "a/",
                           "a/b/",
                           "a//b",
                           "../b",
                           "a/..",
                           "a/b/../c.gguf",
                           "a/b/c.bin",
                           "a/b@",
                           "a/b@..",
                           "a/b@/x",
                           "a/b@x/",
                           "a/b@.x",
                           "a b/c",
                           "a/b?c",
                           "a/b#c",
                           "a/b%2e",
                           "-a/b",
                           "a/b--c",
                           "a/b..c",
                           "a/b@c d",
                           "https://huggingface.co/a/b",
                           "a/b/1/2/3/4/c.gguf"}) {
    const auto parsed = ParseHubReference(text);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument)
        << text;
    EXPECT_THAT(std::string(parsed.status().message()),
                ::testing::HasSubstr("must be OWNER/NAME"));
  }
  EXPECT_FALSE(ParseHubReference("a/" + std::string(97, 'b')).ok());
  EXPECT_TRUE(ParseHubReference("a/" + std::string(96, 'b')).ok());
}

TEST(HubReferenceTest, ACommitHasAllItsDigits) {
  const std::string commit(40, 'a');
  EXPECT_TRUE(IsCommit(commit));
  EXPECT_FALSE(IsCommit(commit.substr(1)));
  EXPECT_FALSE(IsCommit(commit + "a"));
  EXPECT_FALSE(IsCommit("g" + commit.substr(1)));
  EXPECT_FALSE(IsCommit("A" + commit.substr(1)));
}

}  // namespace
}  // namespace attend
