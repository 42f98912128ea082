// Signals that come while the server starts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/integration/process.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A Llama of `layers` with weights of zero, which take no room on the disk.
void WriteLargeModel(const fs::path& directory, int layers) {
  constexpr int kHidden = 2048, kInner = 8192, kVocab = 64;
  std::ofstream(directory / "config.json")
      << absl::Substitute(R"({"model_type": "llama", "hidden_size": $0,
          "intermediate_size": $1, "num_attention_heads": 16,
          "num_hidden_layers": $2, "num_key_value_heads": 16,
          "max_position_embeddings": 64, "rms_norm_eps": 1e-6,
          "hidden_act": "silu", "vocab_size": $3, "bos_token_id": 0,
          "eos_token_id": 2, "tie_word_embeddings": true})",
                          kHidden, kInner, layers, kVocab);
  uint64_t end = 0;
  std::string header;
  const auto add = [&](const std::string& name, int rows, int columns) {
    const uint64_t begin = end;
    end += uint64_t{2} * rows * std::max(columns, 1);
    absl::SubstituteAndAppend(
        &header,
        R"($0"model.$1.weight":{"dtype":"BF16","shape":[$2],)"
        R"("data_offsets":[$3,$4]})",
        header.empty() ? "{" : ",", name,
        columns == 0 ? absl::StrCat(rows) : absl::StrCat(rows, ",", columns),
        begin, end);
  };
  add("embed_tokens", kVocab, kHidden);
  add("norm", kHidden, 0);
  for (int i = 0; i < layers; ++i) {
    const std::string layer = absl::StrCat("layers.", i, ".");
    for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj"}) {
      add(absl::StrCat(layer, "self_attn.", name), kHidden, kHidden);
    }
    add(layer + "mlp.gate_proj", kInner, kHidden);
    add(layer + "mlp.up_proj", kInner, kHidden);
    add(layer + "mlp.down_proj", kHidden, kInner);
    add(layer + "input_layernorm", kHidden, 0);
    add(layer + "post_attention_layernorm", kHidden, 0);
  }
  header += "}";
  const uint64_t length = header.size();
  const fs::path file = directory / "model.safetensors";
  std::ofstream(file, std::ios::binary)
          .write(reinterpret_cast<const char*>(&length), sizeof(length))
      << header;
  fs::resize_file(file, sizeof(length) + length + end);
}

// To load it takes seconds, and no thread looks for signals meanwhile.
TEST(SignalsTest, OneEndsTheLoadOfAModel) {
  std::string name = ::testing::TempDir() + "attend_XXXXXX";
  const fs::path directory = mkdtemp(name.data());
  WriteLargeModel(directory, 16);
  for (const int number : {SIGTERM, SIGINT, SIGQUIT}) {
    Process server({ATTEND_SERVER, "--port=0", "--http-port=0", "--threads=1",
                    "--kv-cache-bytes=16MiB", "--model=" + directory.string()});
    ASSERT_TRUE(server.WaitForOutput("event=loading")) << server.output();
    const absl::Time signal = absl::Now();
    server.Signal(number);
    EXPECT_EQ(server.Wait(), 0) << server.output();
    EXPECT_LT(absl::Now() - signal, absl::Seconds(1));
    EXPECT_THAT(server.output(), AllOf(HasSubstr("event=stopped while=loading"),
                                       Not(HasSubstr("event=loaded"))));
  }
  fs::remove_all(directory);
}

}  // namespace
}  // namespace attend
