// Schemas that users have sent.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "engine/grammar/grammar_compiler.h"
#include "tests/engine/grammar/piece_tokenizer.h"
#include "tests/support/field_rows.h"

namespace attend {
namespace {

constexpr int kBytes = 256;

const PieceTokenizer& ByteTokens() {
  static const auto& tokenizer = *new PieceTokenizer([] {
    std::vector<std::string> texts;
    for (int byte = 0; byte < kBytes; ++byte) {
      texts.push_back(std::string(1, static_cast<char>(byte)));
    }
    return texts;
  }());
  return tokenizer;
}

// The bytes that may follow; `can_end`: the text may end here.
std::vector<int> Following(ConstraintState& state, bool& can_end) {
  std::vector<uint32_t> mask(MaskWords(kBytes));
  const auto end = state.Mask(absl::MakeSpan(mask));
  EXPECT_TRUE(end.ok()) << end.status();
  can_end = end.ok() && *end;
  std::vector<int> bytes;
  for (int byte = 0; byte < kBytes; ++byte) {
    if (mask[byte / 32] >> (byte % 32) & 1) bytes.push_back(byte);
  }
  return bytes;
}

// Returns true if all of the text may come, and, if it `ends`, may end then.
bool Allows(const Constraint& constraint, const std::string& text, bool ends) {
  const auto state = constraint.Begin();
  bool can_end = false;
  for (const char c : text) {
    const std::vector<int> bytes = Following(*state, can_end);
    const int byte = static_cast<unsigned char>(c);
    if (std::find(bytes.begin(), bytes.end(), byte) == bytes.end()) {
      return false;
    }
    EXPECT_TRUE(state->Append(byte).ok());
  }
  Following(*state, can_end);
  return can_end || !ends;
}

// Follows texts of which each byte is chosen by `seed`, with signs of JSON more
// often than others: none comes to where nothing may follow.
void ExpectNoDeadEnd(const Constraint& constraint, uint64_t seed) {
  const auto state = constraint.Begin();
  std::string text;
  for (int step = 0; step < 60; ++step) {
    bool can_end = false;
    std::vector<int> bytes = Following(*state, can_end);
    if (bytes.empty()) {
      EXPECT_TRUE(can_end) << text;
      return;
    }
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    std::vector<int> signs;
    for (const int byte : bytes) {
      if (absl::string_view("{}[]\",: ").find(static_cast<char>(byte)) !=
          absl::string_view::npos) {
        signs.push_back(byte);
      }
    }
    if (!signs.empty() && (seed >> 60) > 4) bytes = signs;
    const int byte = bytes[(seed >> 33) % bytes.size()];
    text += static_cast<char>(byte);
    ASSERT_TRUE(state->Append(byte).ok()) << text;
  }
}

TEST(SchemaRowsTest, AllowWhatTheyShouldAndLeadToNoDeadEnd) {
  const GrammarCompiler compiler(ByteTokens(), kBytes, /*begins_text=*/false);
  for (const nlohmann::json& row : FieldRows("schemas")) {
    SCOPED_TRACE(row["case"].get<std::string>());
    const auto constraint =
        compiler.Compile({GrammarKind::kJsonSchema, row["schema"].dump()});
    if (row.contains("error")) {
      EXPECT_TRUE(absl::IsInvalidArgument(constraint.status()));
      EXPECT_THAT(constraint.status().message(),
                  testing::HasSubstr(row["error"].get<std::string>()));
      continue;
    }
    ASSERT_TRUE(constraint.ok()) << constraint.status();
    for (const std::string text : row["allows"]) {
      EXPECT_TRUE(Allows(**constraint, text, /*ends=*/true)) << text;
    }
    for (const std::string text : row["refuses"]) {
      EXPECT_FALSE(Allows(**constraint, text, /*ends=*/false)) << text;
    }
    for (uint64_t seed = 0; seed < 50; ++seed) {
      ExpectNoDeadEnd(**constraint, seed);
    }
  }
}

}  // namespace
}  // namespace attend
