#include "server/grpc/grpc_log.h"

#include <gmock/gmock.h>
#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <unistd.h>

#include <string>

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(GrpcLogTest, WhatGrpcSaysIsALineOfTheLog) {
  grpc_init();  // it says nothing before
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  for (int i = 0; i < 2; ++i) {  // and so for the next one
    Log log({.min_level = LogLevel::kInfo}, ends[1]);
    const GrpcLog grpc_log(log);
    gpr_log("src/core/a.cc", 7, GPR_LOG_SEVERITY_ERROR, "no \"%s\"\nand %d",
            "word", 3);
  }
  gpr_log("a.cc", 8, GPR_LOG_SEVERITY_DEBUG, "after");
  grpc_shutdown();
  close(ends[1]);
  std::string text(4096, '\0');
  text.resize(read(ends[0], text.data(), text.size()));
  close(ends[0]);
  const std::string line =
      " level=warning event=grpc message=\"no \\\"word\\\"\\nand 3\" "
      "place=a.cc:7\n";
  const size_t first = text.find(line);
  EXPECT_NE(first, text.npos) << text;
  EXPECT_NE(text.find(line, first + 1), text.npos) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("time="), Not(HasSubstr("after"))));
}

}  // namespace
}  // namespace attend
