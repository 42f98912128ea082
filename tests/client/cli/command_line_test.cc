// The `attend` binary, run as its users run it, against a fake server.

#include "tests/client/cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(CommandLineTest, TranslatesArguments) {
  const Outcome outcome = Run("translate 'one two' three");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "ONE TWO\nTHREE\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(CommandLineTest, TranslatesStandardInputInOrder) {
  std::string input, expected;
  for (int i = 0; i < 300; ++i) {
    input += "line " + std::to_string(i) + "\n";
    expected += "LINE " + std::to_string(i) + "\n";
  }
  const Outcome outcome = Run("generate --in-flight 8", input);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, expected);
  EXPECT_LE(service_.most_in_flight(), 8);
}

TEST_F(CommandLineTest, TranslatesAFile) {
  File("text", "a\r\nb\n\nlast without newline");
  const Outcome outcome = Run("translate --file text");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "A\nB\n\nLAST WITHOUT NEWLINE\n");
  EXPECT_EQ(outcome.err, "");  // no progress bar: not a terminal
}

TEST_F(CommandLineTest, FileThatIsNotThere) {
  const Outcome outcome = Run("translate --file nowhere");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("nowhere"));
}

TEST_F(CommandLineTest, DirectoryInPlaceOfAFile) {
  const Outcome outcome = Run("translate --file .");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(".: is a directory"));
}

TEST_F(CommandLineTest, Streams) {
  const Outcome outcome = Run("translate --stream 'a b' bad c");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "A B \n\nC \n");
  EXPECT_EQ(outcome.err, "attend: argument 2: INVALID_ARGUMENT: text is bad\n");
}

TEST_F(CommandLineTest, BadLinesDoNotStopTheOthers) {
  const Outcome outcome = Run("translate", "a\nbad\n\xff\xfe\nd\n");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "A\n\n\nD\n");
  EXPECT_EQ(outcome.err,
            "attend: line 2: INVALID_ARGUMENT: text is bad\n"
            "attend: line 3: INVALID_ARGUMENT: not valid UTF-8\n");
}

TEST_F(CommandLineTest, SendsParameters) {
  const Outcome outcome = Run(
      "translate x -m small --beams 4 --max-new-tokens 9 --min-new-tokens 2 "
      "--sample --temperature 0.5 --top-k 7 --top-p 0.9 --min-p 0.1 "
      "--seed 18446744073709551615 --length-penalty -1.5 --early-stopping "
      "never --repetition-penalty 1.25 --presence-penalty 0.5 "
      "--frequency-penalty 0.25 --no-repeat-ngram 3 --stop '. ' --stop end "
      "--source-language en --target-language de "
      "--stop-id 5 --bad-id 6 --force-id 4 --logit-bias 7=-1.5 "
      "--logit-bias 8=2 --prefix "
      "Vor --log-probs --priority 3 "
      "--truncate");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  v1::GenerateRequest request = service_.last_generate();
  EXPECT_EQ(request.model(), "small");
  EXPECT_EQ(request.priority(), 3);
  EXPECT_EQ(request.source_language(), "en");
  EXPECT_EQ(request.target_language(), "de");
  EXPECT_TRUE(request.truncate());
  const v1::GenerationParams& params = request.params();
  EXPECT_EQ(params.num_beams(), 4);
  EXPECT_EQ(params.max_new_tokens(), 9);
  EXPECT_EQ(params.min_new_tokens(), 2);
  EXPECT_TRUE(params.do_sample());
  EXPECT_EQ(params.temperature(), 0.5f);
  EXPECT_EQ(params.top_k(), 7);
  EXPECT_EQ(params.top_p(), 0.9f);
  EXPECT_EQ(params.min_p(), 0.1f);
  EXPECT_EQ(params.seed(), UINT64_MAX);
  EXPECT_EQ(params.length_penalty(), -1.5f);
  EXPECT_EQ(params.early_stopping(), v1::EARLY_STOPPING_NEVER);
  EXPECT_EQ(params.repetition_penalty(), 1.25f);
  EXPECT_EQ(params.presence_penalty(), 0.5f);
  EXPECT_EQ(params.frequency_penalty(), 0.25f);
  EXPECT_EQ(params.no_repeat_ngram_size(), 3);
  EXPECT_THAT(params.stop_strings(), ::testing::ElementsAre(". ", "end"));
  EXPECT_THAT(params.stop_ids(), ::testing::ElementsAre(5));
  EXPECT_EQ(params.bad_words(0).ids(0), 6);
  EXPECT_EQ(params.force_words(0).alternatives(0).ids(0), 4);
  EXPECT_EQ(params.logit_bias().at(7), -1.5f);
  EXPECT_EQ(params.logit_bias().at(8), 2);
  EXPECT_EQ(params.prefix_text(), "Vor");
  EXPECT_TRUE(params.log_probs());
  EXPECT_EQ(outcome.out, "X\n   -0.500000  X\n");
}

TEST_F(CommandLineTest, ABiasIsAnIdAndANumber) {
  for (const char* bias : {"7", "7=", "=1", "x=1", "7=y"}) {
    const Outcome outcome =
        Run(absl::StrCat("translate x --logit-bias ", bias));
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("is not ID=BIAS"));
  }
}

TEST_F(CommandLineTest, SendsAConstraint) {
  File("schema", R"({"type": "object"})");
  File("lark", "start: \"a\"\n");
  const auto sent = [&](const std::string& options) {
    EXPECT_EQ(Run("generate x " + options).exit_code, 0);
    return service_.last_generate().params().constraint();
  };
  EXPECT_EQ(sent("--json-schema schema").json_schema(),
            R"({"type": "object"})");
  EXPECT_EQ(sent("--grammar lark").lark(), "start: \"a\"\n");
  EXPECT_EQ(sent("--regex '[0-9]+'").regex(), "[0-9]+");
  EXPECT_THAT(sent("--choice yes --choice 'no, not'").choices().texts(),
              ::testing::ElementsAre("yes", "no, not"));
  EXPECT_TRUE(sent("--json-object").has_json_object());
  EXPECT_FALSE(sent("").has_regex());
  EXPECT_NE(Run("generate x --regex a --choice b").exit_code, 0);
  EXPECT_NE(Run("generate x --json-schema nowhere").exit_code, 0);
}

TEST_F(CommandLineTest, LeavesUnsetParametersToTheModel) {
  ASSERT_EQ(Run("translate x").exit_code, 0);
  EXPECT_EQ(service_.last_generate().params().ByteSizeLong(), 0);
}

TEST_F(CommandLineTest, PrintsThePrompt) {
  EXPECT_EQ(Run("generate --echo 'a b'").out, "a b A B\n");
  EXPECT_EQ(Run("generate --echo --prompt-log-probs 'a b'").out,
            "           -  a\n   -2.000000  b\na b A B\n");
}

TEST_F(CommandLineTest, SeveralResults) {
  const Outcome outcome = Run("translate --beams 2 --n 2 x y");
  EXPECT_EQ(outcome.out,
            "1\t0.000000\tX\n1\t-1.000000\tX\n"
            "2\t0.000000\tY\n2\t-1.000000\tY\n");
}

TEST_F(CommandLineTest, JsonResults) {
  const Outcome outcome = Run("translate --json x");
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["choices"][0]["text"], "X");
}

TEST_F(CommandLineTest, Scores) {
  EXPECT_EQ(Run("score source 'two words'").out, "-2.000000\n");
  const Outcome outcome = Run("score --tokens", "a\tb c\nno tab\nd\te\n");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out,
            "-2.000000\n   -1.000000  b\n   -1.000000  c\n\n"
            "-1.000000\n   -1.000000  e\n");
  EXPECT_EQ(outcome.err,
            "attend: line 2: INVALID_ARGUMENT: no tab between source and "
            "target\n");
  EXPECT_EQ(Run("score alone").exit_code, 2);
}

TEST_F(CommandLineTest, Tokenizes) {
  EXPECT_EQ(Run("tokenize 'a bcd'").out, "1 3\n");
  EXPECT_EQ(Run("tokenize --pieces 'a bcd'").out, "a bcd\n");
  EXPECT_EQ(Run("tokenize --decode '4 5' 6,7").out, "ids 4+5\nids 6+7\n");
  const Outcome outcome = Run("tokenize --decode x");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("\"x\" is not a token id"));
}

TEST_F(CommandLineTest, Models) {
  EXPECT_THAT(Run("models").out, HasSubstr("capitals"));
  EXPECT_THAT(Run("models").out, HasSubstr("generate, fill-mask"));
  EXPECT_EQ(
      nlohmann::json::parse(Run("models --json").out)["models"][0]["name"],
      "capitals");
  EXPECT_THAT(Run("models capitals").out, HasSubstr("max_beams: 4"));
  const Outcome outcome = Run("models other");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "attend: NOT_FOUND: model \"other\" is not served\n");
}

TEST_F(CommandLineTest, NobodyThere) {
  const Outcome outcome =
      RunAt("127.0.0.1:1", "translate", "one\ntwo\nthree\n");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, StartsWith("attend: line 1: UNAVAILABLE: "));
  // One message, not one a line.
  EXPECT_THAT(outcome.err, Not(HasSubstr("line 2")));
}

TEST_F(CommandLineTest, Timeout) {
  const Outcome outcome = Run("translate --timeout 50ms hang");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("DEADLINE_EXCEEDED"));
}

TEST_F(CommandLineTest, WrongUsage) {
  for (const char* arguments : {"",
                                "sing",
                                "translate --no-such-flag x",
                                "translate --beams many x",
                                "translate --timeout soon x",
                                "translate --timeout 0 x",
                                "translate --early-stopping maybe x",
                                "translate --stream --n 2 x",
                                "bench --rate 5 --concurrency 2",
                                "bench --requests 0",
                                "bench --output-lengths 9 8",
                                "bench --output-lengths 0 8",
                                "bench --task sing",
                                "bench --task embed --stream",
                                "rerank",
                                "embed --prompt a --prompt-name b x",
                                "embed --per-token --normalize x",
                                "fill-mask --top-k 0 x",
                                "classify --pairs alone",
                                "rerank --file in q x",
                                "tokenize --decode --pieces 5",
                                "translate --file in x"}) {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_THAT(outcome.err, Not(IsEmpty())) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
  }
  EXPECT_EQ(service_.calls(), 0);
}

TEST_F(CommandLineTest, AReportIsNotTheFileOfTheInputs) {
  File("text", "a\n");
  for (const char* inputs : {"--file text", "--interference ./text"}) {
    const Outcome outcome =
        Run(absl::StrCat("bench --requests 1 --report text ", inputs));
    EXPECT_EQ(outcome.exit_code, 2) << inputs;
    EXPECT_EQ(outcome.err,
              "attend: --report: text has the inputs, which would be lost\n");
    EXPECT_EQ(ReadAll(directory_ / "text"), "a\n") << inputs;
  }
  EXPECT_EQ(service_.calls(), 0);
}

TEST_F(CommandLineTest, AVersionHasItsRange) {
  for (const char* version : {"-1", "x"}) {
    const Outcome outcome = Run(absl::StrCat("load m ", version));
    EXPECT_EQ(outcome.exit_code, 2) << version;
    // Of CLI11 before 2.4, and since.
    const std::string error = absl::StrCat("Value ", version, " not in range ");
    EXPECT_THAT(outcome.err,
                AnyOf(HasSubstr(error + "0 to 9223372036854775807"),
                      HasSubstr(error + "[0 - 9223372036854775807]")));
  }
  EXPECT_EQ(service_.calls(), 0);
}

TEST_F(CommandLineTest, NamesWhatWasMeant) {
  const struct {
    const char* arguments;
    const char* message;
  } cases[] = {
      {"transalte x", "unknown command 'transalte'; did you mean translate?"},
      {"sing", "unknown command 'sing'; see attend --help"},
      {"translate --baems 3 x",
       "unknown option '--baems'; did you mean --beams?; see attend "
       "generate --help"},
      {"translate --file text --baems 4",
       "unknown option '--baems'; did you mean --beams?"},
      {"chat --json-shema=x", "did you mean --json-schema?"},
      {"models one two", "not expected: 'two'; see attend models --help"},
      {"--versoin", "unknown option '--versoin'; did you mean --version?"},
  };
  for (const auto& c : cases) {
    const Outcome outcome = Run(c.arguments);
    EXPECT_EQ(outcome.exit_code, 2) << c.arguments;
    EXPECT_THAT(outcome.err, StartsWith("attend: ")) << c.arguments;
    EXPECT_THAT(outcome.err, HasSubstr(c.message));
  }
}

TEST_F(CommandLineTest, Version) {
  const Outcome outcome = Run("--version");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out,
              ::testing::ContainsRegex("^attend [0-9]+\\.[0-9]+\\.[0-9]+\n$"));
}

TEST_F(CommandLineTest, ADirectoryIsNoDocument) {
  const Outcome outcome = Run("translate --document .");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "attend: INVALID_ARGUMENT: .: is a directory, must be a file\n");
}

TEST_F(CommandLineTest, Help) {
  for (const char* command :
       {"generate", "translate", "score", "embed", "classify", "fill-mask",
        "rerank", "tokenize", "models", "bench"}) {
    EXPECT_THAT(Run("--help").out, HasSubstr(command));
    const Outcome outcome = Run(std::string(command) + " --help");
    EXPECT_EQ(outcome.exit_code, 0) << command;
    EXPECT_THAT(outcome.out, HasSubstr("--address")) << command;
    EXPECT_THAT(outcome.out, HasSubstr("ATTEND_ADDRESS")) << command;
  }
}

TEST_F(CommandLineTest, EndsQuietlyWhenItsReaderHasGone) {
  // So many that even a reader that comes late goes before the last of them.
  constexpr int kLines = 20000;
  std::string input;
  for (int i = 0; i < kLines; ++i) input += "line\n";
  const Outcome outcome = Run("translate | head -n 1", input);
  EXPECT_EQ(outcome.out, "LINE\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_LT(service_.calls(), kLines);
}

TEST_F(CommandLineTest, Bench) {
  const Outcome outcome =
      Run("bench --requests 20 --concurrency 3 --warmup 2 --stream --json "
          "--max-new-tokens 8 --min-new-tokens 8");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["succeeded"], 20);
  EXPECT_EQ(json["first_token_seconds"]["count"], 20);
  EXPECT_EQ(service_.calls(), 1 + 2 + 20);  // the first: is the model there?
  EXPECT_EQ(service_.last_generate().params().min_new_tokens(), 8);
  EXPECT_THAT(Run("bench --requests 5 --rate 1000").out,
              HasSubstr("requests/s"));
}

TEST_F(CommandLineTest, BenchWritesAPage) {
  File("page.html", std::string(1000000, 'x'));  // what was there goes away
  const Outcome outcome =
      Run("bench --requests 20 --stream --report page.html --token se-cret "
          "--max-new-tokens 8 --length-penalty 0.5");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("requests/s"));
  EXPECT_EQ(outcome.err, "");  // no terminal, no bar
  const std::string page = ReadAll(directory_ / "page.html");
  EXPECT_THAT(page, HasSubstr("<td>attend bench --address " +
                              service_.address() + " --requests 20 --stream"));
  EXPECT_THAT(page, HasSubstr("--report page.html --max-new-tokens 8"));
  EXPECT_THAT(page, Not(HasSubstr("cret")));
  EXPECT_THAT(page, HasSubstr("<th>client</th><td>attend "));
  EXPECT_THAT(page, HasSubstr("<th>server</th><td>fake 1.2.3</td>"));
  EXPECT_THAT(page, HasSubstr("<td>capitals (version 0, fake, f32)</td>"));
  EXPECT_THAT(page, HasSubstr("<td>first token</td><td>20</td>"));
  EXPECT_TRUE(absl::EndsWith(page, "</html>\n"));
}

TEST_F(CommandLineTest, BenchPageThatCannotBeWritten) {
  const Outcome early = Run("bench --report none/page.html");
  EXPECT_EQ(early.exit_code, 1);
  EXPECT_THAT(early.err, HasSubstr("none/page.html: cannot write: No such"));
  EXPECT_EQ(service_.calls(), 1);  // only: is the model there?
  const Outcome full = Run("bench --requests 5 --report /dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, HasSubstr("/dev/full: cannot write: No space left"));
  EXPECT_THAT(full.out, HasSubstr("requests/s"));
  EXPECT_THAT(Run("bench --requests 5 --report /dev/stdout | cat").out,
              HasSubstr("</html>"));
}

TEST_F(CommandLineTest, BenchInterference) {
  File("long", "so very very very long\n");
  const Outcome outcome =
      Run("bench --requests 30 --warmup 0 --interference long "
          "--interference-rate 500 --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["quiet"]["succeeded"], 30);
  EXPECT_EQ(json["busy"]["succeeded"], 30);
  EXPECT_GT(json["p99_inter_token_ratio"], 0);
}

TEST_F(CommandLineTest, BenchDrawsOutputLengths) {
  const auto lengths = [&](const std::string& seed) {
    std::vector<int> result;
    for (int count = 1; count <= 4; ++count) {
      // One call at a time, so the last call made is the last that came.
      EXPECT_EQ(Run("bench --warmup 0 --concurrency 1 --output-lengths 4 128 "
                    "--arrival-seed " +
                    seed + " --requests " + std::to_string(count))
                    .exit_code,
                0);
      const v1::GenerationParams params = service_.last_generate().params();
      EXPECT_EQ(params.min_new_tokens(), params.max_new_tokens());
      EXPECT_GE(params.max_new_tokens(), 4);
      EXPECT_LE(params.max_new_tokens(), 128);
      result.push_back(params.max_new_tokens());
    }
    return result;
  };
  const std::vector<int> first = lengths("1");
  EXPECT_EQ(lengths("1"), first);
  EXPECT_NE(lengths("2"), first);
  EXPECT_NE(first, std::vector<int>(4, first[0]));
}

TEST_F(CommandLineTest, BenchSendsIds) {
  File("ids", "5 6,7\n");
  Run("bench --requests 1 --warmup 0 --ids --file ids");
  EXPECT_THAT(service_.last_generate().inputs(0).tokens().ids(),
              ::testing::ElementsAre(5, 6, 7));
  File("wrong", "5\nsix\n");
  EXPECT_THAT(Run("bench --ids --file wrong").err, HasSubstr("wrong:2: "));
}

TEST_F(CommandLineTest, BenchErrors) {
  File("text", "good\nbad\n");
  const Outcome outcome = Run("bench --requests 4 --warmup 0 --file text");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("2 INVALID_ARGUMENT"));
  EXPECT_EQ(Run("bench --model other").exit_code, 1);
  File("broken", "good\n\xff\n");
  EXPECT_THAT(Run("bench --file broken").err, HasSubstr("broken:2: "));
}

}  // namespace
}  // namespace attend
