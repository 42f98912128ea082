#include "tests/fuzz/fuzz_service.h"

#include <fcntl.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "engine/tensor/check.h"
#include "engine/tokenizer/sandbox/sandbox.h"
#include "server/inference/methods.h"
#include "server/reflection/methods.h"
#include "tests/fuzz/fuzz_directory.h"

namespace attend {
namespace {

constexpr char kTemplate[] =
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ m.more }}"
    "{% endfor %}{% if tools %}{{ tools | tojson }}{% endif %}"
    "{% if add_generation_prompt %}<you>{% endif %}";

FakeEngineOptions Options(const std::string& name) {
  FakeEngineOptions options;
  options.info.name = name;
  options.info.max_source_tokens = 256;
  options.info.max_target_tokens = 64;
  options.info.max_beams = 4;
  return options;
}

FakeEngineOptions Labels(const std::string& name, bool of_tokens) {
  FakeEngineOptions options = Options(name);
  options.info.generates = false;
  options.info.fills_masks = false;
  options.info.classifies = true;
  options.info.labels_tokens = of_tokens;
  options.info.labels = of_tokens ? std::vector<std::string>{"x", "y", "z"}
                                  : std::vector<std::string>{"score"};
  return options;
}

FakeEngineOptions Conversations() {
  FakeEngineOptions options = Options("chat");
  options.info.continues_source = true;
  options.info.embeds = false;
  options.info.fills_masks = false;
  return options;
}

// Forked from a process that has no other thread, as the server's are.
[[maybe_unused]] const Sandbox& kProcesses = Sandbox::Shared();

std::unique_ptr<ChatTemplate> LoadTemplate() {
  const FuzzDirectory directory;
  directory.Write("chat_template.jinja", kTemplate);
  auto loaded = ChatTemplate::Load(directory.path());
  ATTEND_CHECK(loaded.ok());
  return *std::move(loaded);
}

}  // namespace

FuzzService::NullDevice::NullDevice()
    : descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC)) {
  ATTEND_CHECK(descriptor >= 0);
}

FuzzService::NullDevice::~NullDevice() { close(descriptor); }

std::vector<Method> FuzzService::Methods() {
  std::vector<Method> methods = AttendMethods();
  for (const Method& method : InferenceMethods()) methods.push_back(method);
  for (const Method& method : ReflectionMethods()) methods.push_back(method);
  for (const Method& method : AdminMethods()) methods.push_back(method);
  return methods;
}

FuzzService::FuzzService(const std::vector<HttpApi>& apis)
    : metrics_("fuzz", AllMethodNames(Methods(), apis)),
      log_(LogOptions(), null_.descriptor),
      service_{.models = models_,
               .clock = clock_,
               .other_calls = metrics_.other_calls(),
               .log = log_,
               .max_batch_inputs = 8,
               .control = &control_,
               .profiles = &profiles_,
               .methods = Methods()} {
  std::unique_ptr<ChatTemplate> chat = LoadTemplate();
  Add(Options("translator"), nullptr);
  Add(Labels("labels", false), nullptr);
  Add(Labels("tags", true), nullptr);
  Add(Conversations(), std::move(chat));
  model_metrics_.push_back(metrics_.AddModel("broken"));
  models_.Put(std::make_shared<const ModelEntry>(
      ModelEntry{.name = "broken",
                 .calls = *model_metrics_.back(),
                 .served = absl::NotFoundError("no such file")}));
  calls_.emplace(service_, /*tokenizer_threads=*/1,
                 /*max_tokenizer_queue=*/64);
}

FuzzService::~FuzzService() {
  for (Serving& serving : serving_) serving.scheduler.reset();
}

void FuzzService::Add(FakeEngineOptions options,
                      std::unique_ptr<ChatTemplate> chat) {
  auto engine = std::make_unique<FakeEngine>(std::move(options));
  model_metrics_.push_back(metrics_.AddModel(engine->info().name));
  ModelMetrics& metrics = *model_metrics_.back();
  metrics.Serve(engine->info(), 1);
  auto scheduler =
      std::make_unique<Scheduler>(SchedulerOptions(), *engine, clock_, turns_,
                                  [&metrics, this](const StepReport& report) {
                                    metrics.OnStep(report);
                                    step_signal_.Notify();
                                  });
  models_.Put(std::make_shared<const ModelEntry>(
      ModelEntry{.name = engine->info().name,
                 .calls = metrics,
                 .served = ServedModel{.engine = *engine,
                                       .tokenizer = tokenizer_,
                                       .scheduler = *scheduler,
                                       .metrics = metrics,
                                       .chat = chat.get()}}));
  serving_.push_back(
      {std::move(engine), std::move(chat), std::move(scheduler)});
}

void FuzzService::RunApart(std::function<void()> work) {
  apart_.Continue(Tenant(), /*bytes=*/0, [this, work = std::move(work)] {
    work();
    step_signal_.Notify();
  });
}

absl::Status FuzzService::Control::Submit(ModelChange change, Done done) {
  service_.RunApart([this, name = std::move(change.name), done] {
    done(service_.models_.Find(name) != nullptr
             ? absl::OkStatus()
             : absl::NotFoundError("no such model"));
  });
  return absl::OkStatus();
}

absl::StatusOr<int64_t> FuzzService::Profiles::Start(absl::Duration time,
                                                     std::string, Done done) {
  if (time < absl::ZeroDuration()) {
    return absl::InvalidArgumentError("duration is negative");
  }
  service_.RunApart(
      [done] { done(std::make_shared<const std::string>("[]")); });
  return 1;
}

void FuzzService::WaitUntilFree() const {
  for (const Serving& serving : serving_) {
    while (serving.engine->live_sequences() > 0) std::this_thread::yield();
  }
}

}  // namespace attend
