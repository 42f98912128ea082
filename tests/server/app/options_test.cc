#include "server/app/options.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Variables = std::map<std::string, std::string>;

// With these variables of the environment, and no other.
absl::StatusOr<CommandLine> Parse(const std::vector<std::string>& arguments,
                                  const Variables& variables = {}) {
  for (const auto& [name, value] : variables) {
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  }
  auto line = ParseCommandLine(arguments);
  for (const auto& [name, value] : variables) unsetenv(name.c_str());
  return line;
}

// A file that --config names.
std::string ConfigFile(const std::string& text) {
  const std::string file = ::testing::TempDir() + "attend_options_test.toml";
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

std::vector<std::string> Models(const absl::StatusOr<CommandLine>& line) {
  if (!line.ok()) return {std::string(line.status().message())};
  std::vector<std::string> result;
  for (const ModelSource& model : line->options.models) {
    result.push_back(model.name + " in " + model.directory);
  }
  return result;
}

TEST(OptionsTest, DefaultsAreValid) {
  const auto line = Parse({});
  ASSERT_TRUE(line.ok()) << line.status();
  ASSERT_EQ(line->options.models.size(), 1);
  EXPECT_EQ(line->options.models[0].directory, "models/en-de");
  EXPECT_EQ(line->options.models[0].name, "en-de");
  EXPECT_EQ(line->options.rpc.port, 50051);
  EXPECT_EQ(line->options.http.port, 8080);
  EXPECT_FALSE(line->help);
}

TEST(OptionsTest, ListsForBrowsersMayHaveCommas) {
  const auto line =
      Parse({"--http-allowed-host=a.example,*.b.example",
             "--http-allowed-host=c.example",
             "--http-cors-origins=https://a.example,https://b.example"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_THAT(line->options.http.allowed_hosts,
              ElementsAre("a.example", "*.b.example", "c.example"));
  EXPECT_THAT(line->options.http.cors_origins,
              ElementsAre("https://a.example", "https://b.example"));
  EXPECT_FALSE(line->options.http.needs_keys);
}

TEST(OptionsTest, ReadsEveryKindOfValue) {
  const auto line =
      Parse({"--port=0", "--max-running", "7", "--kv-cache-bytes=3MiB",
             "--drain-timeout=1m30s", "--log-level=debug", "--reflection=false",
             "--model=/m/opus/", "--cpu-isa=avx2", "--dtype=int8",
             "--kv-cache-dtype=bf16", "--max-connection-age=inf",
             "--prefix-cache=false", "--prompt-lookup=false",
             "--fair-share=none", "--access-log=json", "--access-log-file=/a/b",
             "--access-log-sample=0.25"});
  ASSERT_TRUE(line.ok()) << line.status();
  const ServerOptions& options = line->options;
  EXPECT_EQ(options.rpc.port, 0);
  EXPECT_EQ(options.scheduler.max_running, 7);
  EXPECT_EQ(options.engine.kv_cache_bytes, 3u << 20);
  EXPECT_EQ(options.drain_timeout, absl::Seconds(90));
  EXPECT_EQ(options.log.min_level, LogLevel::kDebug);
  EXPECT_FALSE(options.reflection);
  EXPECT_EQ(options.access_log.form, AccessLogForm::kJson);
  EXPECT_EQ(options.access_log.file, "/a/b");
  EXPECT_EQ(options.access_log.share, 0.25);
  ASSERT_EQ(options.models.size(), 1);
  EXPECT_EQ(options.models[0].name, "opus");
  EXPECT_EQ(options.compute.max_isa, Isa::kAvx2);
  EXPECT_EQ(options.engine.dtype, ComputeType::kInt8);
  EXPECT_EQ(options.engine.kv_cache_dtype, KvType::kBf16);
  EXPECT_FALSE(options.engine.prefix_cache);
  EXPECT_FALSE(options.engine.prompt_lookup);
  EXPECT_EQ(options.rpc.fair_share, FairShare::kNone);
}

TEST(OptionsTest, EachModelHasItsShortlist) {
  const auto line = Parse({"--model=a=/m", "--model=b=/n", "--shortlist=b=/s",
                           "--shortlist-first=7", "--shortlist-best=9"});
  ASSERT_TRUE(line.ok()) << line.status();
  const ServerOptions& options = line->options;
  EXPECT_EQ(options.EngineOf(options.models[0]).shortlist.path, "");
  const ShortlistFile file = options.EngineOf(options.models[1]).shortlist;
  EXPECT_EQ(file.path, "/s");
  EXPECT_EQ(file.first, 7);
  EXPECT_EQ(file.best, 9);
}

TEST(OptionsTest, EachModelHasItsAdapter) {
  const auto line = Parse({"--model=a=/m", "--model=b=/n", "--adapter=b=/s"});
  ASSERT_TRUE(line.ok()) << line.status();
  const ServerOptions& options = line->options;
  EXPECT_EQ(options.EngineOf(options.models[0]).adapter, "");
  EXPECT_EQ(options.EngineOf(options.models[1]).adapter, "/s");
}

TEST(OptionsTest, TheHashOfAKeyIsNotShown) {
  EXPECT_TRUE(Parse({"--metrics-key-sha256=" + std::string(64, 'a')}).ok());
  EXPECT_EQ(Parse({"--metrics-key-sha256=secret"}).status().message(),
            "metrics_key_sha256 has 6 bytes, must be 64 hexadecimal digits: "
            "the SHA-256 of a key");
  EXPECT_EQ(Parse({"--health-key-sha256=secret"}).status().message(),
            "health_key_sha256 has 6 bytes, must be 64 hexadecimal digits: "
            "the SHA-256 of a key");
}

// An option of another type would show its default otherwise.
TEST(OptionsTest, EverySizeIsReadAndShownAlike) {
  int sizes = 0;
  for (const OptionText& option : DescribeServer().options) {
    const std::string& flag = option.names.back();
    const bool is_size = absl::EndsWith(flag, "-bytes");
    EXPECT_EQ(absl::StrContains(option.help, "MiB."), is_size) << flag;
    if (!is_size) continue;
    ++sizes;
    for (const char* text : {"33554432", "32MiB", "32Mi", "32 mib", "32768KiB",
                             "33554.432KB", "3.3554432e+07"}) {
      EXPECT_TRUE(Parse({flag + "=" + text}).ok()) << flag << text;
      EXPECT_TRUE(Parse({}, {{option.variable, text}}).ok()) << flag << text;
      const std::string line =
          absl::StrCat(flag.substr(2), " = \"", text, "\"");
      EXPECT_TRUE(Parse({"--config=" + ConfigFile(line)}).ok()) << line;
    }
  }
  EXPECT_GE(sizes, 2);
  EXPECT_EQ(Parse({"--max-message-bytes=32MiB"})->options.http.max_body_bytes,
            32 << 20);
}

// Kubernetes sets these variables in all pods next to a service named "attend"
// or "attend-http".
TEST(OptionsTest, AddressesOfServicesAreIgnoredWithAWarning) {
  const Variables variables = {
      {"ATTEND_PORT", "tcp://10.0.0.1:50051"},
      {"ATTEND_HTTP_PORT", "tcp://[fd00::1]:8080"},
      {"ATTEND_SERVICE_HOST", "10.0.0.1"},
      {"ATTEND_PORT_50051_TCP_PORT", "50051"},
  };
  const auto line = Parse({}, variables);
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->options.rpc.port, 50051);
  EXPECT_EQ(line->options.http.port, 8080);
  EXPECT_THAT(
      line->warnings,
      Contains(AllOf(StartsWith("ATTEND_PORT is 'tcp://10.0.0.1:50051'"),
                     HasSubstr("enableServiceLinks: false"))));
  EXPECT_THAT(
      line->warnings,
      Contains(StartsWith("ATTEND_HTTP_PORT is 'tcp://[fd00::1]:8080'")));
  EXPECT_EQ(Parse({"--port=7"}, variables)->options.rpc.port, 7);
  EXPECT_THAT(Parse({"--http-port=0", "--health-check"}).status().message(),
              HasSubstr("http_port"));
  EXPECT_EQ(Parse({"--health-check"}, variables)->options.http.port, 8080);
  EXPECT_FALSE(Parse({"--port=tcp://10.0.0.1:50051"}).ok());
  EXPECT_FALSE(
      Parse({"--config=" + ConfigFile("port = \"tcp://10.0.0.1:1\"")}).ok());
}

TEST(OptionsTest, AMisspeltVariableIsNamed) {
  EXPECT_THAT(Parse({}, {{"ATTEND_MAX_RUNING", "3"}})->warnings,
              Contains(HasSubstr("did you mean ATTEND_MAX_RUNNING?")));
}

TEST(OptionsTest, AFlagWinsOverItsVariable) {
  const Variables variables = {{"ATTEND_PORT", "1"}, {"ATTEND_HTTP_PORT", "2"}};
  const auto line = Parse({"--port=3"}, variables);
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->options.rpc.port, 3);
  EXPECT_EQ(line->options.http.port, 2);
}

TEST(OptionsTest, SeveralModelsByFlagsOrByAVariable) {
  const Variables variables = {{"ATTEND_MODEL", "a=/m/1,/m/b"}};
  EXPECT_THAT(Models(Parse({}, variables)),
              ElementsAre("a in /m/1", "b in /m/b"));
  EXPECT_THAT(Models(Parse({}, {{"ATTEND_MODEL", "/m/b"},
                                {"ATTEND_MODEL_NAME", "org/c"}})),
              ElementsAre("org/c in /m/b"));
  // Flags take the place of all that the variable has.
  EXPECT_THAT(Models(Parse({"--model=x=/m/1", "--model", "y=/m/2,3",
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
      {{"--prot=1"},
       "not expected: --prot=1; did you mean --port?; see --help"},
      {{"3", "--treads"}, "not expected: --treads; did you mean --threads?"},
      {{"serve"}, "not expected: serve; see --help"},
      {{"--port"}, "--port: 1 required VALUE missing"},
      {{"--port=x"}, "--port: 'x' is not a whole number"},
      {{"--port=70000"}, "port is 70000"},
      {{"--http-port=-1"}, "http_port is -1"},
      {{"--shortlist-first=-1"}, "shortlist_first is -1"},
      {{"--shortlist-best=0"}, "shortlist_best is 0"},
      {{"--http-max-connections=0"}, "http_max_connections is 0"},
      {{"--http-idle-timeout=0"}, "http_idle_timeout is 0"},
      {{"--http-idle-timeout=inf"}, "http_idle_timeout is inf"},
      {{"--http-stream-keepalive=-1s"}, "http_stream_keepalive is -1s"},
      {{"--http-stream-keepalive=1ms"}, "http_stream_keepalive is 1ms"},
      {{"--http-allowed-host=a.example:80"},
       "http_allowed_host has 'a.example:80'"},
      {{"--http-allowed-host=a.example,b.example/"},
       "http_allowed_host has 'b.example/'"},
      {{"--kv-cache-bytes=12M"}, "--kv-cache-bytes: '12M' is not"},
      {{"--max-message-bytes=1023"}, "max_message_bytes is 1023"},
      {{"--max-message-bytes=2GiB"}, "max_message_bytes is 2147483648"},
      {{"--kv-cache-bytes=-1"}, "--kv-cache-bytes: '-1' is not"},
      {{"--kv-cache-bytes=99999999999GiB"}, "is not a number of bytes"},
      {{"--drain-timeout=5"}, "--drain-timeout: '5' is not a duration"},
      {{"--drain-timeout=-5s"}, "drain_timeout is -5s"},
      {{"--slow-reader-timeout=0s"}, "slow_reader_timeout is 0"},
      {{"--reflection=maybe"}, "--reflection: 'maybe' is not true or false"},
      {{"--log-level=loud"}, "--log-level: log level is 'loud'"},
      {{"--access-log=xml"}, "--access-log: access log is 'xml'"},
      {{"--access-log-sample=2"}, "--access-log-sample: "},
      {{"--profile=61s"}, "a profile of 1m1s is wanted, must be in (0, 60s]"},
      {{"--profile=-1s"}, "a profile of -1s is wanted"},
      {{"--cpu-isa=mmx"}, "--cpu-isa: "},
      {{"--dtype=int3"},
       "--dtype: 'int3' is not f32, bf16, int8, w8, int4 or auto"},
      {{"--kv-cache-dtype=f16"},
       "--kv-cache-dtype: 'f16' is not f32, bf16, int8 or auto"},
      {{"--tls-cert=a"}, "tls_cert and tls_key"},
      {{"--tls-cert=a", "--tls-key=k", "--tls-client-auth=maybe"},
       "--tls-client-auth: 'maybe' is not require or optional"},
      {{"--tls-cert=a", "--tls-key=k", "--tls-client-auth=optional"},
       "tls_client_auth is optional, needs tls_client_ca"},
      {{"--http-tls"}, "http_tls is true, needs tls_cert and tls_key"},
      {{"--max-batch-inputs=0"}, "max_batch_inputs is 0"},
      {{"--max-call-bytes=1023KiB"}, "max_call_bytes is 1047552"},
      {{"--threads=-1"}, "threads is -1"},
      {{"--model="}, "--model: 1 required VALUE missing"},
      {{"--model=/a/m", "--model=/b/m"}, "two models have the name 'm'"},
      {{"--model=a b=/m"}, "model name is 'a b'"},
      {{"--default-model=x"}, "default_model is 'x', must be one of en-de"},
      {{"--model=a@2=/m"}, "model name is 'a@2'"},
      {{"--alias=a=none"}, "alias is 'a=none': model 'none' is none of those"},
      {{"--model-control=maybe"}, "'maybe' is not none, explicit or poll"},
      {{"--model-control=poll"}, "model_control is poll, needs models_dir"},
      {{"--model-poll-interval=0s"}, "model_poll_interval is 0"},
      {{"--idle-unload"}, "idle_unload is true, needs model_control explicit"},
      {{"--models-dir=/no/such"}, "models_dir is '/no/such'"},
      {{"--max-running=0"}, "max_running"},
      {{"--otlp-endpoint=http://"}, "otlp_endpoint must be like http://"},
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

TEST(OptionsTest, AFileFillsWhatFlagsAndVariablesLeave) {
  const std::string file = ConfigFile(
      "# Of the machine in the corner.\n"
      "port = 1\nhttp-port = 2\nmax-running = 3  # few\n\n"
      "reflection = false\nkv-cache-bytes = \"3MiB\"\naging = '90s'\n"
      "host = \"::1\"\n");
  const auto line = Parse({"--config", file, "--port=7"},
                          {{"ATTEND_HTTP_PORT", "8"}, {"ATTEND_PORT", "9"}});
  ASSERT_TRUE(line.ok()) << line.status();
  const ServerOptions& options = line->options;
  EXPECT_EQ(options.rpc.port, 7);
  EXPECT_EQ(options.http.port, 8);
  EXPECT_EQ(options.scheduler.max_running, 3);
  EXPECT_FALSE(options.reflection);
  EXPECT_EQ(options.engine.kv_cache_bytes, 3u << 20);
  EXPECT_EQ(options.scheduler.aging, absl::Seconds(90));
  EXPECT_EQ(options.rpc.host, "::1");
  EXPECT_EQ(Parse({}, {{"ATTEND_CONFIG", file}})->options.rpc.port, 1);
  EXPECT_FALSE(Parse({}, {{"ATTEND_CONFIG", file}})->options.reflection);
}

TEST(OptionsTest, ModelsInAFile) {
  const std::string file =
      "--config=" +
      ConfigFile(
          "model = [\"a=/m/1\",\n  \"b=/m/2, 3\"\n]\ndefault-model = \"b\"\n");
  EXPECT_THAT(Models(Parse({file})), ElementsAre("b in /m/2, 3", "a in /m/1"));
  EXPECT_THAT(Models(Parse({file, "--model=b=/x"})), ElementsAre("b in /x"));
  EXPECT_THAT(Models(Parse({"--config=" + ConfigFile("model = /m/one")})),
              ElementsAre("one in /m/one"));
}

TEST(OptionsTest, AnErrorInAFileNamesTheFileAndTheLine) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"max-runing = 3",
       "unknown option 'max-runing'; did you mean max-running?"},
      {"Port = 3", "unknown option 'Port'"},
      {"--port = 3", "unknown option '--port'"},
      {"config = other.toml", "unknown option 'config'"},
      {"help = true", "unknown option 'help'"},
      {"server.port = 3", "unknown option 'server.port'"},
      {"port = x", "port: 'x' is not a whole number"},
      {"port", "port: 'true' is not a whole number"},
      {"port = [1, 2]", "port: has 2 values"},
      {"port = []", "port: has 0 values"},
      {"reflection = maybe", "reflection: 'maybe' is not true or false"},
      {"port = 1\nhost = a\nport = 2", "has 'port' twice"},
  };
  for (const auto& c : cases) {
    const std::string file = ConfigFile(c.text);
    const auto line = Parse({"--config=" + file});
    EXPECT_EQ(line.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(line.status().message().substr(0, file.size() + 2), file + ": ");
    EXPECT_THAT(line.status().message(), HasSubstr(c.message));
  }
  // What the limits are, is no matter of the file.
  EXPECT_THAT(
      Parse({"--config=" + ConfigFile("port = 70000")}).status().message(),
      HasSubstr("port is 70000"));
}

TEST(OptionsTest, HelpShowsFlagVariableDefaultAndCost) {
  EXPECT_TRUE(Parse({"--help"})->help);
  const std::string help = HelpText();
  EXPECT_THAT(help, HasSubstr("--max-running  (ATTEND_MAX_RUNNING, default "
                              "256)"));
  EXPECT_THAT(help, HasSubstr("but each input is slower"));
  EXPECT_THAT(help, HasSubstr("--config  (ATTEND_CONFIG, default empty)"));
  EXPECT_THAT(help, HasSubstr("  --version\n      Print the version."));
  EXPECT_TRUE(Parse({"--version"})->version);
  EXPECT_TRUE(Parse({"-h"})->help);
  EXPECT_TRUE(Parse({"--man"})->man);
  EXPECT_EQ(Parse({"--completion=zsh"})->completion, "zsh");
  EXPECT_FALSE(Parse({"--completion=csh"}).ok());
  // A value that is wrong is said all the same.
  EXPECT_FALSE(Parse({"--help", "--port=x"}).ok());
}

TEST(OptionsTest, HealthChecksNeedNoModels) {
  EXPECT_FALSE(Parse({"--models-dir=/no/such"}).ok());
  const auto line = Parse({"--health-check", "--models-dir=/no/such"},
                          {{"ATTEND_HTTP_PORT", "8081"}});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_TRUE(line->health_check);
  EXPECT_FALSE(line->serves());
  EXPECT_EQ(line->options.http.port, 8081);
  EXPECT_TRUE(Parse({"--live-check", "--models-dir=/no/such"})->live_check);
  EXPECT_THAT(Parse({"--health-check", "--http-port=0"}).status().message(),
              HasSubstr("http_port is 0"));
  EXPECT_THAT(Parse({"--health-check", "--http-port=70000"}).status().message(),
              HasSubstr("http_port is 70000"));
}

}  // namespace
}  // namespace attend
