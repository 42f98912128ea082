#include "server/app/options.h"

#include <gmock/gmock.h>

#include <map>
#include <string>

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<CommandLine> Parse(
    const std::vector<std::string>& arguments,
    const std::map<std::string, std::string>& variables = {}) {
  return ParseCommandLine(arguments, [&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt
                                    : std::optional(found->second);
  });
}

TEST(OptionsTest, DefaultsAreValid) {
  const auto line = Parse({});
  ASSERT_TRUE(line.ok()) << line.status();
  ASSERT_EQ(line->options.models.size(), 1);
  EXPECT_EQ(line->options.models[0].directory, "models/en-de");
  EXPECT_EQ(line->options.models[0].name, "en-de");
  EXPECT_EQ(line->options.rpc.port, 50051);
  EXPECT_EQ(line->options.http.port, 9090);
  EXPECT_FALSE(line->help);
}

TEST(OptionsTest, ReadsEveryKindOfValue) {
  const auto line =
      Parse({"--port=0", "--max-running", "7", "--kv-cache-bytes=3MiB",
             "--drain-timeout=1m30s", "--log-level=debug", "--reflection=false",
             "--model=/m/opus/", "--cpu-isa=avx2", "--dtype=int8",
             "--kv-cache-dtype=bf16", "--max-connection-age=inf",
             "--prefix-cache=false"});
  ASSERT_TRUE(line.ok()) << line.status();
  const ServerOptions& options = line->options;
  EXPECT_EQ(options.rpc.port, 0);
  EXPECT_EQ(options.scheduler.max_running, 7);
  EXPECT_EQ(options.engine.kv_cache_bytes, 3u << 20);
  EXPECT_EQ(options.drain_timeout, absl::Seconds(90));
  EXPECT_EQ(options.log_level, LogLevel::kDebug);
  EXPECT_FALSE(options.rpc.reflection);
  ASSERT_EQ(options.models.size(), 1);
  EXPECT_EQ(options.models[0].name, "opus");
  EXPECT_EQ(options.compute.max_isa, Isa::kAvx2);
  EXPECT_EQ(options.engine.dtype, DType::kInt8);
  EXPECT_EQ(options.engine.kv_cache_dtype, DType::kBf16);
  EXPECT_FALSE(options.engine.prefix_cache);
}

TEST(OptionsTest, AFlagWinsOverItsVariable) {
  const std::map<std::string, std::string> variables = {
      {"ATTEND_PORT", "1"}, {"ATTEND_HTTP_PORT", "2"}};
  const auto line = Parse({"--port=3"}, variables);
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->options.rpc.port, 3);
  EXPECT_EQ(line->options.http.port, 2);
}

TEST(OptionsTest, SeveralModelsByFlagsOrByAVariable) {
  const auto names = [](const absl::StatusOr<CommandLine>& line) {
    std::vector<std::string> result;
    if (!line.ok()) return result;
    for (const ModelSource& model : line->options.models) {
      result.push_back(model.name + " in " + model.directory);
    }
    return result;
  };
  const std::map<std::string, std::string> variables = {
      {"ATTEND_MODEL", "a=/m/1,/m/b"}};
  EXPECT_THAT(names(Parse({}, variables)),
              ElementsAre("a in /m/1", "b in /m/b"));
  EXPECT_THAT(names(Parse({}, {{"ATTEND_MODEL", "/m/b"},
                               {"ATTEND_MODEL_NAME", "org/c"}})),
              ElementsAre("org/c in /m/b"));
  // Flags take the place of all that the variable has.
  EXPECT_THAT(names(Parse({"--model=x=/m/1", "--model", "y=/m/2,3",
                           "--default-model=y"},
                          variables)),
              ElementsAre("y in /m/2,3", "x in /m/1"));
}

TEST(OptionsTest, TheEngineTakesWhatTheBatcherGives) {
  const auto line = Parse({"--max-batch-tokens=16", "--max-beams=24"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->options.engine.max_step_rows, 24);
}

TEST(OptionsTest, AnErrorNamesFlagValueAndWhatIsExpected) {
  const struct {
    std::vector<std::string> arguments;
    const char* message;
  } cases[] = {
      {{"--prot=1"}, "unknown flag '--prot=1'"},
      {{"serve"}, "'serve' is not a flag"},
      {{"--port"}, "--port needs a value"},
      {{"--port=x"}, "--port: 'x' is not a whole number"},
      {{"--port=70000"}, "port is 70000"},
      {{"--http-port=-1"}, "http_port is -1"},
      {{"--kv-cache-bytes=12MB"}, "--kv-cache-bytes: '12MB' is not"},
      {{"--kv-cache-bytes=-1"}, "--kv-cache-bytes: '-1' is not"},
      {{"--kv-cache-bytes=99999999999GiB"}, "is not a number of bytes"},
      {{"--drain-timeout=5"}, "--drain-timeout: '5' is not a duration"},
      {{"--drain-timeout=-5s"}, "drain_timeout is -5s"},
      {{"--slow-reader-timeout=0s"}, "slow_reader_timeout is 0"},
      {{"--reflection=maybe"}, "--reflection: 'maybe' is not true or false"},
      {{"--log-level=loud"}, "--log-level: log level is 'loud'"},
      {{"--cpu-isa=mmx"}, "--cpu-isa: "},
      {{"--dtype=int4"}, "--dtype: 'int4' is not f32, bf16, int8 or auto"},
      {{"--kv-cache-dtype=f16"},
       "--kv-cache-dtype: 'f16' is not f32, bf16, int8 or auto"},
      {{"--tls-cert=a"}, "tls_cert and tls_key"},
      {{"--max-batch-inputs=0"}, "max_batch_inputs is 0"},
      {{"--threads=-1"}, "threads is -1"},
      {{"--model="}, "model is ''"},
      {{"--model=/a/m", "--model=/b/m"}, "two models have the name 'm'"},
      {{"--model=a b=/m"}, "model name is 'a b'"},
      {{"--default-model=x"}, "default_model is 'x', must be one of en-de"},
      {{"--models-dir=/no/such"}, "models_dir is '/no/such'"},
      {{"--max-running=0"}, "max_running"},
  };
  for (const auto& c : cases) {
    const auto line = Parse(c.arguments);
    ASSERT_FALSE(line.ok()) << c.message;
    EXPECT_EQ(line.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(line.status().message(), HasSubstr(c.message));
  }
  EXPECT_THAT(Parse({}, {{"ATTEND_PORT", "x"}}).status().message(),
              HasSubstr("ATTEND_PORT: 'x' is not a whole number"));
}

TEST(OptionsTest, HelpShowsFlagVariableDefaultAndCost) {
  EXPECT_TRUE(Parse({"--help"})->help);
  const std::string help = HelpText();
  EXPECT_THAT(help, HasSubstr("--max-running  (ATTEND_MAX_RUNNING, default "
                              "256)"));
  EXPECT_THAT(help, HasSubstr("slower single ones"));
}

}  // namespace
}  // namespace attend
