// The subcommands of `attend` for encoders, against a fake server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/client/cli/command_line.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EncoderCommandsTest : public CommandLineTest {};

TEST_F(EncoderCommandsTest, Embed) {
  EXPECT_EQ(Run("embed 'a bcd' ef").out, "1.5 3.5\n2.5\n");
  EXPECT_EQ(Run("embed --per-token 'a bcd'").out, "a\t1.5\nbcd\t3.5\n\n");
  const auto json = nlohmann::json::parse(Run("embed --json 'a bcd'").out);
  EXPECT_EQ(json["values"].size(), 2);
  EXPECT_EQ(json["width"], 2);
}

TEST_F(EncoderCommandsTest, EmbedSendsOptions) {
  ASSERT_EQ(Run("embed x -m small --dimensions 7 --no-normalize --prompt-name "
                "query --priority 3 --truncate")
                .exit_code,
            0);
  v1::EmbedRequest request = service_.last_embed();
  EXPECT_EQ(request.model(), "small");
  EXPECT_EQ(request.dimensions(), 7);
  EXPECT_TRUE(request.has_normalize());
  EXPECT_FALSE(request.normalize());
  EXPECT_EQ(request.prompt_name(), "query");
  EXPECT_EQ(request.priority(), 3);
  EXPECT_TRUE(request.truncate());
  Run("embed x --normalize --prompt 'query: '");
  request = service_.last_embed();
  EXPECT_TRUE(request.normalize());
  EXPECT_EQ(request.prompt_text(), "query: ");
  EXPECT_EQ(Run("embed x --sparse --role query").out, "7:1.5 9:0.25\n");
  request = service_.last_embed();
  EXPECT_EQ(request.kinds(0), v1::EMBEDDING_KIND_SPARSE);
  EXPECT_EQ(request.role(), "query");
  EXPECT_EQ(Run("embed x --multi-vector").out, "7\t1 2\n9\t3 4\n\n");
  Run("embed x");
  request = service_.last_embed();
  request.clear_inputs();
  EXPECT_EQ(request.ByteSizeLong(), 0);  // all left to the model
}

TEST_F(EncoderCommandsTest, FilesGoInBatches) {
  std::string text, expected;
  for (int i = 0; i < 100; ++i) {
    text += std::string(i % 9 + 1, 'x') + "\n";
    expected += std::to_string(i % 9 + 1) + ".5\n";
  }
  File("text", text);
  EXPECT_EQ(Run("embed --file text").out, expected);
  EXPECT_EQ(service_.calls(), 4);  // of 32, 32, 32 and 4 lines
  EXPECT_EQ(Run("embed --file text --batch 100").out, expected);
  EXPECT_EQ(service_.calls(), 5);
  EXPECT_EQ(Run("embed", text).out, expected);
  EXPECT_EQ(service_.calls(), 105);
}

TEST_F(EncoderCommandsTest, BadLinesDoNotStopTheOthersOfTheirBatch) {
  File("text", "a\nbad\n\xff\nbcd\n");
  const Outcome outcome = Run("embed --file text");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "1.5\n\n\n3.5\n");
  EXPECT_EQ(outcome.err,
            "attend: line 2: INVALID_ARGUMENT: text is bad\n"
            "attend: line 3: INVALID_ARGUMENT: not valid UTF-8\n");
}

TEST_F(EncoderCommandsTest, WhatFoundTheQueueFullIsSentAgain) {
  File("text", "a\nbc\ndef\n");
  service_.RefuseInput();
  const Outcome outcome = Run("embed --file text");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "1.5\n2.5\n3.5\n");
  EXPECT_EQ(service_.calls(), 2);
}

TEST_F(EncoderCommandsTest, Classify) {
  EXPECT_EQ(Run("classify ab").out, "SHORT\t0.750000\tLONG\t0.250000\n");
  EXPECT_EQ(Run("classify --top-k 1 --raw 'tag longest'").out,
            "tag\tSHORT\t0.750000\tLONG\t0.250000\n"
            "longest\tLONG\t0.750000\tSHORT\t0.250000\n\n");
  EXPECT_EQ(service_.last_classify().top_k(), 1);
  EXPECT_TRUE(service_.last_classify().raw_scores());
  EXPECT_FALSE(service_.last_classify().inputs(0).has_pair());
}

TEST_F(EncoderCommandsTest, ClassifySpansAndLabelsOfTheRequest) {
  EXPECT_EQ(Run("classify --spans average --ignore A --ignore B ab").exit_code,
            0);
  EXPECT_EQ(service_.last_classify().aggregation(), v1::AGGREGATION_AVERAGE);
  EXPECT_THAT(service_.last_classify().ignore_labels(), ElementsAre("A", "B"));
  EXPECT_FALSE(service_.last_classify().has_stride());
  EXPECT_EQ(Run("classify --spans simple --stride 0 ab").exit_code, 0);
  EXPECT_TRUE(service_.last_classify().has_stride());
  EXPECT_EQ(Run("classify --spans simple --stride 64 ab").exit_code, 0);
  EXPECT_EQ(service_.last_classify().stride(), 64);
  EXPECT_EQ(Run("classify --multi-label --template '{}!' --label tea "
                "--label 'a ball' 'ab'")
                .exit_code,
            0);
  const v1::ClassifyRequest request = service_.last_classify();
  EXPECT_THAT(request.candidate_labels(), ElementsAre("tea", "a ball"));
  EXPECT_EQ(request.hypothesis_template(), "{}!");
  EXPECT_TRUE(request.multi_label());
  EXPECT_EQ(request.inputs(0).text(), "ab");
}

TEST_F(EncoderCommandsTest, ClassifyPairs) {
  EXPECT_THAT(Run("classify --pairs a longest").out, HasSubstr("LONG\t0.75"));
  EXPECT_EQ(service_.last_classify().inputs(0).text(), "a");
  const Outcome outcome = Run("classify --pairs", "longest\tb\nalone\n");
  EXPECT_EQ(outcome.out, "SHORT\t0.750000\tLONG\t0.250000\n\n");
  EXPECT_EQ(outcome.err,
            "attend: line 2: INVALID_ARGUMENT: no tab between the texts of a "
            "pair\n");
}

TEST_F(EncoderCommandsTest, FillMask) {
  EXPECT_EQ(Run("fill-mask 'say <mask>!'").out, "say yes!\n");
  EXPECT_EQ(Run("fill-mask --top-k 2 'say <mask>!'").out,
            "1\t1\t1.000000\tyes\tsay yes!\n"
            "1\t1\t1.000000\tno\tsay no!\n");
  EXPECT_EQ(service_.last_fill_mask().top_k(), 2);
}

TEST_F(EncoderCommandsTest, Rerank) {
  EXPECT_EQ(Run("rerank query a ccc bb --raw").out,
            "3.000000\t2\tccc\n2.000000\t3\tbb\n1.000000\t1\ta\n");
  EXPECT_EQ(service_.last_rerank().query(), "query");
  EXPECT_TRUE(service_.last_rerank().raw_scores());
  // Documents of several calls are one ranking.
  File("text", "a\nbad\nccc\nbb\n");
  const Outcome outcome = Run("rerank query --file text --batch 2 --top-n 2");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "3.000000\t3\tccc\n2.000000\t4\tbb\n");
  EXPECT_EQ(outcome.err, "attend: line 2: INVALID_ARGUMENT: text is bad\n");
  const auto json =
      nlohmann::json::parse(Run("rerank query --json", "abc\n").out);
  EXPECT_EQ(json["document"], "abc");
  EXPECT_EQ(json["score"], 3);
}

TEST_F(EncoderCommandsTest, WrongFlagsAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"embed --dimensions x a", "--dimensions"},
      {"embed --dimensions 99999999999 a", "--dimensions"},
      {"embed --dimensions 4 --per-token a", "--per-token"},
      {"embed --normalize --per-token a", "--per-token"},
      {"embed --sparse --per-token a", "--per-token"},
      {"embed --role passage a", "--role"},
      {"embed --prompt p --prompt-name q a", "--prompt"},
      {"embed --file text a", "--file"},
      {"embed --batch 0 a", "--batch"},
      {"embed --priority 11 a", "--priority"},
      {"embed --beams 4 a", "--beams"},
      {"classify --top-k 0 a", "--top-k"},
      {"classify --top-k -1 a", "--top-k"},
      {"classify --spans words a", "--spans"},
      {"classify --spans simple --stride -1 a", "--stride"},
      {"answer", "question is required"},
      {"answer --top-k 101 q a", "--top-k"},
      {"classify --pairs a", "--pairs takes TEXT and PAIR, got 1"},
      {"classify --pairs a b c", "--pairs takes TEXT and PAIR, got 3"},
      {"fill-mask --top-k 101 a", "--top-k"},
      {"rerank", "query is required"},
      {"rerank query --top-n 0 a", "--top-n"},
      {"rerank query --file text a", "--file"},
      {"bench --task summarize", "--task"},
  };
  for (const auto& [arguments, what] : cases) {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(what)) << arguments;
  }
  EXPECT_EQ(service_.calls(), 0);
}

TEST_F(EncoderCommandsTest, BenchOfEachTask) {
  File("text", "a\nbb\nccc\n");
  for (const char* task : {"embed", "classify", "fill-mask", "rerank"}) {
    const Outcome outcome =
        Run(std::string("bench --requests 4 --warmup 0 --concurrency 1 --batch "
                        "2 --json --file text --task ") +
            task);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["succeeded"], 4) << task;
    EXPECT_EQ(json["inputs"], 8) << task;
  }
  EXPECT_EQ(service_.last_embed().inputs_size(), 2);
  EXPECT_THAT(service_.last_fill_mask().inputs(0).text(), HasSubstr(" <mask>"));
  EXPECT_EQ(service_.last_rerank().query(), "a");
}

}  // namespace
}  // namespace attend
