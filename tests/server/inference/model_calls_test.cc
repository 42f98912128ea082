// What the protocol tells of the server and its models.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "server/inference/datatype.h"
#include "server/inference/infer_task.h"
#include "server/scheduler/step_health.h"
#include "tests/server/inference/inference_fixture.h"

namespace attend {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ModelCallsTest : public InferenceFixture {
 protected:
  void BuildWithBroken() {
    service_.version = "1.2.3";
    Build({});
    AddBroken("broken", absl::NotFoundError("no such file"));
    environment_.emplace(service_, 1, 8);
  }

  template <class Request>
  absl::Status StatusOfModel(const std::string& method, const std::string& name,
                             const std::string& version = "") {
    Request request;
    request.set_name(name);
    request.set_version(version);
    LocalCall call = NewCall(method, request);
    call.Run();
    return call.end().value_or(absl::OkStatus());
  }
};

TEST_F(ModelCallsTest, LiveAndReady) {
  BuildWithBroken();
  EXPECT_TRUE(Ask<inference::ServerLiveResponse>("ServerLive",
                                                 inference::ServerLiveRequest())
                  .live());
  EXPECT_FALSE(Ask<inference::ServerReadyResponse>(
                   "ServerReady", inference::ServerReadyRequest())
                   .ready());
  inference::ModelReadyRequest request;
  const auto ready = [&](const std::string& name) {
    request.set_name(name);
    return Ask<inference::ModelReadyResponse>("ModelReady", request).ready();
  };
  EXPECT_TRUE(ready(""));
  EXPECT_TRUE(ready("fake"));
  // A client that polls waits for it.
  EXPECT_FALSE(ready("broken"));
  EXPECT_EQ(
      StatusOfModel<inference::ModelReadyRequest>("ModelReady", "other").code(),
      absl::StatusCode::kNotFound);
  EXPECT_EQ(
      StatusOfModel<inference::ModelReadyRequest>("ModelReady", "fake", "2")
          .code(),
      absl::StatusCode::kNotFound);
  models_.Remove("broken");
  EXPECT_TRUE(Ask<inference::ServerReadyResponse>(
                  "ServerReady", inference::ServerReadyRequest())
                  .ready());
}

TEST_F(ModelCallsTest, ServerMetadata) {
  BuildWithBroken();
  const auto response = Ask<inference::ServerMetadataResponse>(
      "ServerMetadata", inference::ServerMetadataRequest());
  EXPECT_EQ(response.name(), "attend");
  EXPECT_EQ(response.version(), "1.2.3");
  EXPECT_THAT(response.extensions(), Contains("statistics"));
}

// Metadata and configuration describe the same tensors.
TEST_F(ModelCallsTest, MetadataAndConfigAgree) {
  Build({});
  const auto metadata = Ask<inference::ModelMetadataResponse>(
      "ModelMetadata", inference::ModelMetadataRequest());
  EXPECT_EQ(metadata.name(), "fake");
  EXPECT_THAT(metadata.versions(), ElementsAre("1"));
  EXPECT_EQ(metadata.platform(), "attend_fake");
  EXPECT_EQ(metadata.properties().at("tasks"),
            "generate,score,fill_mask,embed,embed_tokens");
  EXPECT_EQ(metadata.properties().at("max_source_tokens"), "4096");
  ASSERT_EQ(metadata.inputs(0).name(), "text_input");
  EXPECT_EQ(metadata.inputs(0).datatype(), "BYTES");
  EXPECT_THAT(metadata.inputs(0).shape(), ElementsAre(-1, 1));

  const auto config = Ask<inference::ModelConfigResponse>(
                          "ModelConfig", inference::ModelConfigRequest())
                          .config();
  EXPECT_EQ(config.max_batch_size(), 256);
  EXPECT_TRUE(config.model_transaction_policy().decoupled());
  EXPECT_EQ(config.dynamic_batching().priority_levels(), 21);
  EXPECT_EQ(config.dynamic_batching().default_priority_level(), 11);
  EXPECT_FALSE(config.input(0).optional());
  EXPECT_TRUE(config.input(1).optional());
  const auto check = [](const auto& tensors, const auto& configured) {
    ASSERT_EQ(tensors.size(), configured.size());
    for (int i = 0; i < tensors.size(); ++i) {
      EXPECT_EQ(tensors[i].name(), configured[i].name());
      EXPECT_EQ(FindDatatype(tensors[i].datatype())->config,
                configured[i].data_type());
      ASSERT_EQ(tensors[i].shape_size(), configured[i].dims_size() + 1);
      EXPECT_EQ(tensors[i].shape(1), configured[i].dims(0));
    }
  };
  check(metadata.inputs(), config.input());
  check(metadata.outputs(), config.output());
}

// A tool may ask for all that is listed.
TEST_F(ModelCallsTest, OutputsAreAsTheMetadataSays) {
  Build({});
  const auto metadata = Ask<inference::ModelMetadataResponse>(
      "ModelMetadata", inference::ModelMetadataRequest());
  InferRequest request = OfTexts({"a", "bc"});
  Parameter(request, "max_new_tokens").set_int64_param(2);
  for (const auto& output : metadata.outputs()) {
    request.add_outputs()->set_name(output.name());
  }
  const InferResponse response = Infer(request);
  for (const auto& promised : metadata.outputs()) {
    const Output output = OutputOf(response, promised.name());
    EXPECT_EQ(output.datatype, promised.datatype());
    ASSERT_EQ(output.shape.size(), promised.shape_size()) << promised.name();
    for (int i = 0; i < promised.shape_size(); ++i) {
      EXPECT_TRUE(promised.shape(i) < 0 || promised.shape(i) == output.shape[i])
          << promised.name();
    }
  }
  request.clear_outputs();
  EXPECT_EQ(Infer(request).outputs_size(), metadata.outputs_size());
}

TEST_F(ModelCallsTest, AnEncoderDoesNotStream) {
  FixtureOptions options;
  options.engine.info.generates = false;
  options.engine.info.fills_masks = false;
  Build(options);
  const auto config = Ask<inference::ModelConfigResponse>(
                          "ModelConfig", inference::ModelConfigRequest())
                          .config();
  EXPECT_FALSE(config.model_transaction_policy().decoupled());
  EXPECT_EQ(config.output(0).name(), "embedding");
}

TEST_F(ModelCallsTest, ABrokenModelIsUnavailable) {
  BuildWithBroken();
  for (const absl::Status& status :
       {StatusOfModel<inference::ModelMetadataRequest>("ModelMetadata",
                                                       "broken"),
        StatusOfModel<inference::ModelConfigRequest>("ModelConfig",
                                                     "broken")}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(status.message()), HasSubstr("no such file"));
  }
}

TEST_F(ModelCallsTest, AModelWhoseStepsFailIsNotReady) {
  Build({});
  const auto index = [&] {
    return Ask<inference::RepositoryIndexResponse>(
               "RepositoryIndex", inference::RepositoryIndexRequest())
        .models(0);
  };
  const auto ready = [&] {
    return Ask<inference::ModelReadyResponse>("ModelReady",
                                              inference::ModelReadyRequest())
        .ready();
  };
  for (int i = 0; i < StepHealth::kFailures; ++i) {
    EXPECT_TRUE(ready());
    engine_->FailNextStep(absl::InternalError("broken"));
    EXPECT_EQ(StatusOf(OfTexts({"a"})).code(), absl::StatusCode::kInternal);
  }
  EXPECT_FALSE(ready());
  EXPECT_EQ(index().state(), "UNAVAILABLE");
  EXPECT_EQ(index().reason(), "its last steps failed");
  EXPECT_FALSE(Ask<inference::ServerReadyResponse>(
                   "ServerReady", inference::ServerReadyRequest())
                   .ready());
  Infer(OfTexts({"a"}));
  EXPECT_TRUE(ready());
  EXPECT_EQ(index().state(), "READY");
}

TEST_F(ModelCallsTest, AVersionBesideIsFoundByItsNumber) {
  Build({});
  const auto metadata = [this](const std::string& version) {
    inference::ModelMetadataRequest request;
    request.set_version(version);
    return Ask<inference::ModelMetadataResponse>("ModelMetadata", request);
  };
  const auto second = metrics_.AddModel("fake@2");
  models_.Put(std::make_shared<const ModelEntry>(
      ModelEntry{.name = "fake@2",
                 .calls = *second,
                 .served = models_.Find("fake")->served,
                 .version = 2}));
  EXPECT_THAT(metadata("2").versions(), ElementsAre("2"));
  EXPECT_THAT(metadata("1").versions(), ElementsAre("1"));
  EXPECT_THAT(metadata("").versions(), ElementsAre("1"));
  // Whatever an alias of that name says.
  ASSERT_TRUE(
      models_.SetAlias({.name = "fake", .targets = {{.model = "fake@2"}}})
          .ok());
  EXPECT_THAT(metadata("").versions(), ElementsAre("2"));
  EXPECT_THAT(metadata("1").versions(), ElementsAre("1"));
}

TEST_F(ModelCallsTest, VersionsOfModelsOfOtherTenantsAreNotTold) {
  Tenants tenants(metrics_);
  TenantSettings settings;
  settings.name = "a";
  settings.keys = {HashKey("key")};
  settings.models = {"fake"};
  tenants.Set({settings}, clock_.Now());
  service_.tenants = &tenants;
  Build({});
  for (const char* name : {"hidden", "hidden@2"}) {
    models_.Put(std::make_shared<const ModelEntry>(
        ModelEntry{.name = name,
                   .calls = *model_metrics_,
                   .served = models_.Find("fake")->served}));
  }
  for (const std::string name : {"hidden", "none"}) {
    for (const char* version : {"", "1", "2", "3"}) {
      inference::ModelMetadataRequest request;
      request.set_name(name);
      request.set_version(version);
      LocalCall call =
          NewCall("ModelMetadata", request, {.authorization = "Bearer key"});
      call.Run();
      EXPECT_EQ(call.end(), absl::NotFoundError(absl::StrCat(
                                "model '", name,
                                "' is not served, the models are: 'fake'")))
          << version;
    }
  }
}

TEST_F(ModelCallsTest, TheRepositoryIsThatOfTheStart) {
  BuildWithBroken();
  inference::RepositoryIndexRequest request;
  auto index =
      Ask<inference::RepositoryIndexResponse>("RepositoryIndex", request);
  ASSERT_EQ(index.models_size(), 2);
  EXPECT_EQ(index.models(0).name(), "fake");
  EXPECT_EQ(index.models(0).version(), "1");
  EXPECT_EQ(index.models(0).state(), "READY");
  EXPECT_EQ(index.models(1).state(), "UNAVAILABLE");
  EXPECT_EQ(index.models(1).reason(), "no such file");
  request.set_ready(true);
  EXPECT_EQ(Ask<inference::RepositoryIndexResponse>("RepositoryIndex", request)
                .models_size(),
            1);
  request.set_repository_name("r");
  LocalCall named = NewCall("RepositoryIndex", request);
  named.Run();
  EXPECT_EQ(named.end()->code(), absl::StatusCode::kUnimplemented);
  const inference::RepositoryModelLoadRequest load;
  LocalCall loading = NewCall("RepositoryModelLoad", load);
  loading.Run();
  const inference::RepositoryModelUnloadRequest unload;
  LocalCall unloading = NewCall("RepositoryModelUnload", unload);
  unloading.Run();
  for (const absl::Status& status : {*loading.end(), *unloading.end()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("explicit model load / unload is not allowed"));
  }
}

// Notes what it is asked for, and does nothing.
class NotingControl final : public ModelControl {
 public:
  absl::Status Submit(ModelChange change, Done) override {
    asked = std::move(change);
    return absl::AbortedError("noted");
  }
  ModelChange asked;
};

TEST_F(ModelCallsTest, WithAControlTheRepositoryChanges) {
  NotingControl control;
  service_.control = &control;
  Build({});
  const auto end = [this](const std::string& method,
                          const google::protobuf::Message& request) {
    LocalCall call = NewCall(method, request);
    call.Run();
    return *call.end();
  };
  inference::RepositoryModelLoadRequest load;
  load.set_model_name("m");
  EXPECT_EQ(end("RepositoryModelLoad", load), absl::AbortedError("noted"));
  EXPECT_EQ(control.asked.kind, ModelChange::Kind::kLoad);
  EXPECT_EQ(control.asked.name, "m");
  EXPECT_EQ(control.asked.version, 0);
  (*load.mutable_parameters())["config"].set_string_param("{}");
  const absl::Status configured = end("RepositoryModelLoad", load);
  EXPECT_EQ(configured.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(configured.message()), HasSubstr("config"));
  inference::RepositoryModelUnloadRequest unload;
  unload.set_model_name("n");
  (*unload.mutable_parameters())["unload_dependents"].set_bool_param(false);
  EXPECT_EQ(end("RepositoryModelUnload", unload), absl::AbortedError("noted"));
  EXPECT_EQ(control.asked.kind, ModelChange::Kind::kUnload);
  EXPECT_EQ(control.asked.name, "n");
  unload.set_repository_name("r");
  EXPECT_EQ(end("RepositoryModelUnload", unload).code(),
            absl::StatusCode::kUnimplemented);
}

TEST_F(ModelCallsTest, StatisticsCountBothProtocols) {
  FixtureOptions options;
  options.engine.on_step = [this](const StepPlan&) {
    clock_.Advance(absl::Milliseconds(1));
  };
  Build(options);
  inference::ModelStatisticsRequest of_fake;
  of_fake.set_name("fake");
  const auto statistics = [&] {
    return Ask<inference::ModelStatisticsResponse>("ModelStatistics", of_fake)
        .model_stats(0);
  };
  EXPECT_EQ(statistics().inference_count(), 0);
  EXPECT_EQ(statistics().last_inference(), 0);
  InferRequest request = OfTexts({"a", "bc"});
  Parameter(request, "max_new_tokens").set_int64_param(3);
  Infer(request);
  Ask<v1::GenerateResponse>("Generate", Generate("abc", 3));
  const absl::Time last = clock_.Now();
  InferRequest late = request;
  Parameter(late, "timeout").set_int64_param(1);
  EXPECT_FALSE(StatusOf(late).ok());

  const inference::ModelStatistics counted = statistics();
  EXPECT_EQ(counted.name(), "fake");
  EXPECT_EQ(counted.version(), "1");
  EXPECT_EQ(counted.inference_count(), 3);
  EXPECT_EQ(counted.execution_count(), engine_->steps());
  EXPECT_EQ(counted.last_inference(), absl::ToUnixMillis(last));
  const inference::InferStatistics& stats = counted.inference_stats();
  EXPECT_EQ(stats.success().count(), 2);
  EXPECT_EQ(stats.fail().count(), 1);
  EXPECT_EQ(stats.queue().count(), 2);
  // The clock goes on in steps only: a step before the last of each call.
  EXPECT_GE(stats.compute_infer().ns(), 2 * 3 * 1'000'000);
  EXPECT_EQ(stats.success().ns(),
            stats.queue().ns() + stats.compute_input().ns() +
                stats.compute_infer().ns() + stats.compute_output().ns());
  EXPECT_EQ(Ask<inference::ModelStatisticsResponse>(
                "ModelStatistics", inference::ModelStatisticsRequest())
                .model_stats_size(),
            1);
}

}  // namespace
}  // namespace attend
