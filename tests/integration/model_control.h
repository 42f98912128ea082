#ifndef ATTEND_TESTS_INTEGRATION_MODEL_CONTROL_H_
#define ATTEND_TESTS_INTEGRATION_MODEL_CONTROL_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "attend/v1/attend.grpc.pb.h"
#include "tests/integration/raw_call.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"

namespace attend {

// A server of --models-dir with "m" in one version, and a model "other".
class ModelControlTest : public ::testing::Test {
 protected:
  ModelControlTest() {
    std::string name = ::testing::TempDir() + "attend_XXXXXX";
    directory_ = mkdtemp(name.data());
    Link("plain", "m/1");
    Link("relu", "other");
  }
  ~ModelControlTest() override { std::filesystem::remove_all(directory_); }

  // A golden model under a name.
  void Link(const std::string& model, const std::string& name) const {
    std::filesystem::create_directories((directory_ / name).parent_path());
    std::filesystem::create_directory_symlink(
        absl::StrCat(ATTEND_SOURCE_DIR "/tests/golden/marian/", model),
        directory_ / name);
  }
  std::vector<std::string> Flags(const std::string& more = "") const {
    std::vector<std::string> flags = {"--models-dir=" + directory_.string(),
                                      "--model-control=explicit"};
    if (!more.empty()) flags.push_back(more);
    return flags;
  }

  static v1::GenerateRequest RequestOf(const std::string& model, int tokens) {
    v1::GenerateRequest request = Exactly({"a small dog"}, tokens);
    request.set_model(model);
    return request;
  }

  std::filesystem::path directory_;
};

// Calls of attend.v1.Admin.
class Admin {
 public:
  explicit Admin(const ServerProcess& server, std::string key = "")
      : stub_(v1::Admin::NewStub(RawChannel(server.address()))),
        key_(std::move(key)) {}

  grpc::Status Load(const std::string& name, int64_t version = 0) {
    v1::LoadModelRequest request;
    request.set_name(name);
    request.set_version(version);
    grpc::ClientContext context;
    AddKey(context);
    return stub_->LoadModel(&context, request, &loaded_);
  }
  // Of the last Load().
  const v1::Model& loaded() const { return loaded_.model(); }
  grpc::Status Unload(const std::string& name) {
    v1::UnloadModelRequest request;
    request.set_name(name);
    grpc::ClientContext context;
    AddKey(context);
    v1::UnloadModelResponse response;
    return stub_->UnloadModel(&context, request, &response);
  }
  grpc::Status SetAlias(
      const std::string& name,
      const std::vector<std::pair<std::string, int>>& targets) {
    v1::SetAliasRequest request;
    request.set_name(name);
    for (const auto& [model, weight] : targets) {
      v1::AliasTarget& target = *request.add_targets();
      target.set_model(model);
      target.set_weight(weight);
    }
    grpc::ClientContext context;
    AddKey(context);
    v1::SetAliasResponse response;
    return stub_->SetAlias(&context, request, &response);
  }

 private:
  void AddKey(grpc::ClientContext& context) const {
    if (!key_.empty()) context.AddMetadata("authorization", "Bearer " + key_);
  }

  const std::unique_ptr<v1::Admin::Stub> stub_;
  const std::string key_;
  v1::LoadModelResponse loaded_;
};
}  // namespace attend

#endif  // ATTEND_TESTS_INTEGRATION_MODEL_CONTROL_H_
