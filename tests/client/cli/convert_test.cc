// `attend convert`, with stand-ins for torch and safetensors: a "pickle" is
// JSON, {tensor: [its memory, whether it is contiguous]}, and so is what is
// written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/client/cli/command_line.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTorch[] = R"(
import json, pickle
__version__ = "2.6.0+cpu"
strided = "torch.strided"
class Tensor:
  copies = 0
  def __init__(self, memory, whole, layout=strided):
    self.memory, self.whole, self.layout = memory, whole, layout
  def untyped_storage(self): return self
  def data_ptr(self): return self.memory
  def is_contiguous(self): return self.whole
  def contiguous(self): return self
  def clone(self):
    Tensor.copies += 1
    return Tensor(f"copy {Tensor.copies}", True)
def load(path, map_location, weights_only, mmap):
  assert map_location == "cpu" and weights_only is True and not mmap
  with open(path) as file: text = file.read()
  if text == "evil":
    raise pickle.UnpicklingError("run it. Unsupported global: GLOBAL os.system x")
  if text == "broken": raise RuntimeError("file is cut\nmore")
  return {name: Tensor(*value) if isinstance(value, list) else value
          for name, value in json.loads(text).items()}
)";
constexpr char kSafetensors[] = R"(
import json
def save_file(tensors, path, metadata):
  if "large" in tensors: raise RuntimeError("no space left")
  assert all(each.whole for each in tensors.values())
  memory = [each.memory for each in tensors.values()]
  assert len(set(memory)) == len(memory), "safetensors takes no shared memory"
  with open(path, "w") as file:
    json.dump({**{n: t.memory for n, t in tensors.items()}, **metadata}, file)
)";

class ConvertTest : public CommandLineTest {
 protected:
  ConvertTest() {
    std::filesystem::create_directories(directory_ / "packages/safetensors");
    std::filesystem::create_directories(directory_ / "model/2_Dense");
    File("packages/torch.py", kTorch);
    File("packages/safetensors/__init__.py", "");
    File("packages/safetensors/torch.py", kSafetensors);
    Program("with-packages", "PYTHONPATH=packages python3");
    Program("bare", "python3 -S");
  }

  void Program(const std::string& name, const std::string& command) {
    File(name, "#!/bin/sh\nexec env " + command + " \"$@\"\n");
    std::filesystem::permissions(directory_ / name,
                                 std::filesystem::perms::owner_all);
  }

  Outcome Convert(const std::string& arguments = "model") {
    return Run("convert --python ./with-packages " + arguments);
  }

  nlohmann::json Read(const std::string& name) {
    return nlohmann::json::parse(ReadAll(directory_ / name));
  }
  bool Exists(const std::string& name) {
    return std::filesystem::exists(directory_ / name);
  }
};

TEST_F(ConvertTest, EachTensorHasMemoryOfItsOwn) {
  File("model/pytorch_model.bin",
       R"({"a": ["1", true], "tied": ["1", true], "slice": ["2", false]})");
  const Outcome outcome = Convert();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "model/model.safetensors\n");
  EXPECT_EQ(Read("model/model.safetensors"),
            nlohmann::json({{"a", "1"},
                            {"tied", "copy 1"},
                            {"slice", "copy 2"},
                            {"format", "pt"}}));
  EXPECT_FALSE(Exists("model/model.safetensors.part"));
  EXPECT_EQ(std::filesystem::status(directory_ / "model/model.safetensors")
                .permissions(),
            std::filesystem::status(directory_ / "model/pytorch_model.bin")
                .permissions());
  const Outcome again = Convert();
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("attend: model: nothing to convert"));
  EXPECT_EQ(service_.calls(), 0);
}

TEST_F(ConvertTest, Shards) {
  File("model/pytorch_model-1-of-2.bin", R"({"a": ["1", true]})");
  File("model/pytorch_model-2-of-2.bin", R"({"b": ["2", true]})");
  File("model/pytorch_model.bin.index.json",
       R"({"metadata": {"total_size": 8}, "weight_map": {
          "a": "pytorch_model-1-of-2.bin", "b": "pytorch_model-2-of-2.bin"}})");
  const Outcome outcome = Convert();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Read("model/model-2-of-2.safetensors")["b"], "2");
  EXPECT_EQ(Read("model/model.safetensors.index.json"),
            nlohmann::json::parse(R"({"metadata": {"total_size": 8},
              "weight_map": {"a": "model-1-of-2.safetensors",
                             "b": "model-2-of-2.safetensors"}})"));
}

TEST_F(ConvertTest, ModulesOfSentenceTransformers) {
  File("model/model.safetensors", "stays");
  File("model/2_Dense/pytorch_model.bin", R"({"a": ["1", true]})");
  File("model/modules.json", R"([{"path": ""}, {"path": "2_Dense"}])");
  EXPECT_EQ(Convert().out, "model/2_Dense/model.safetensors\n");
  EXPECT_EQ(ReadAll(directory_ / "model/model.safetensors"), "stays");
}

TEST_F(ConvertTest, WhatIsRefused) {
  const struct {
    const char* file;
    const char* text;
    const char* error;
  } cases[] = {
      {"pytorch_model.bin", "evil",
       "attend: model/pytorch_model.bin: holds more than tensors, which is not "
       "run: os.system\n"},
      {"pytorch_model.bin", "broken",
       "model/pytorch_model.bin: cannot be read: file is cut\n"},
      {"pytorch_model.bin", "{}", "holds no table of tensors"},
      {"pytorch_model.bin", R"({"step": 5})", "'step' is not a tensor"},
      {"pytorch_model.bin", R"({"a": ["1", true, "torch.sparse_coo"]})",
       "'a' is a tensor of layout torch.sparse_coo, must be torch.strided\n"},
      {"pytorch_model.bin", R"({"large": ["1", true]})",
       "model/model.safetensors: cannot be written: no space left\n"},
      {"pytorch_model.bin.index.json", "x", "index.json: not JSON"},
      {"pytorch_model.bin.index.json", "[]", "has no weight_map"},
      {"pytorch_model.bin.index.json", R"({"weight_map": {"a": "../x.bin"}})",
       "'../x.bin' is not a name in its folder"},
      {"pytorch_model.bin.index.json", R"({"weight_map": {"a": "x.bin"}})",
       "model/x.bin"},
      {"modules.json", R"([{"path": "../other"}])",
       "modules.json: '../other' is not a name in its folder"},
  };
  for (const auto& [file, text, error] : cases) {
    const std::string path = File(std::string("model/") + file, text);
    const Outcome outcome = Convert();
    EXPECT_EQ(outcome.exit_code, 1) << error;
    EXPECT_THAT(outcome.err, HasSubstr(error));
    EXPECT_THAT(outcome.err, Not(HasSubstr("Traceback")));
    EXPECT_EQ(outcome.out, "");
    std::filesystem::remove(path);
  }
  EXPECT_THAT(Convert("none").err, HasSubstr("none: no such directory"));
  EXPECT_EQ(Run("convert").exit_code, 2);
}

TEST_F(ConvertTest, SaysWhatToInstall) {
  File("model/pytorch_model.bin", R"({"a": ["1", true]})");
  const Outcome bare = Run("convert --python ./bare model");
  EXPECT_EQ(bare.exit_code, 1);
  EXPECT_THAT(bare.err, HasSubstr(" has no torch and no safetensors; "));
  EXPECT_THAT(bare.err, HasSubstr(" -m pip install torch safetensors\n"));
  const Outcome none = Run("convert --python none/python3 model");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("none/python3: No such file or directory; "
                                  "convert needs Python"));
  File("packages/torch.py", "__version__ = '2.5.1'");
  EXPECT_THAT(Convert().err, HasSubstr("torch is 2.5.1, must be at least 2.6"));
}

// Who converts a model stands in its folder, perhaps.
TEST_F(ConvertTest, RunsNothingOfTheFolder) {
  File("json.py", "print('evil')");
  File("torch.py", "print('evil')");
  // An empty part is the folder where Python is started.
  Program("with-packages", "PYTHONPATH=:packages python3");
  File("model/pytorch_model.bin", R"({"a": ["1", true]})");
  EXPECT_EQ(Convert().out, "model/model.safetensors\n");
}

TEST_F(ConvertTest, FollowsNoLinkOfTheFolder) {
  File("profile", "mine");
  std::filesystem::create_symlink(directory_ / "profile",
                                  directory_ / "model/model.safetensors.part");
  File("model/pytorch_model.bin", R"({"a": ["1", true]})");
  EXPECT_EQ(Convert().out, "model/model.safetensors\n");
  EXPECT_EQ(ReadAll(directory_ / "profile"), "mine");
}

}  // namespace
}  // namespace attend
