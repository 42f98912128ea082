#include "engine/grammar/compiled_grammar.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/rust/rust_call.h"

namespace attend {
namespace {

constexpr size_t kMaxEnding = 1024;  // tokens

class GrammarState final : public ConstraintState {
 public:
  GrammarState(std::shared_ptr<const CompiledGrammar> grammar,
               HfMatcher* matcher)
      : grammar_(std::move(grammar)), matcher_(matcher) {}
  ~GrammarState() override {
    const RustCall<bool> call;
    hf_matcher_free(matcher_);
  }

  std::unique_ptr<ConstraintState> Copy() const override {
    const RustCall<bool> call;
    return std::make_unique<GrammarState>(grammar_, hf_matcher_copy(matcher_));
  }

  absl::Status Append(int id) override {
    if (!grammar_->texts().HasText(id)) return absl::OkStatus();
    RustCall<bool> call;
    return Taken(call, hf_matcher_append(matcher_, id, TakeError<bool>, &call));
  }

  absl::StatusOr<bool> Mask(absl::Span<uint32_t> mask) override {
    RustCall<bool> call;
    RETURN_IF_ERROR(
        Taken(call, hf_matcher_mask(matcher_, mask.data(), mask.size(),
                                    &call.result, TakeError<bool>, &call)));
    return call.result;
  }

  std::optional<std::vector<int>> Ending(size_t most) const override {
    std::vector<uint32_t> ids(std::min(most, kMaxEnding));
    size_t count = 0;
    const RustCall<bool> call;
    if (!hf_matcher_ending(matcher_, ids.data(), ids.size(), &count)) {
      return std::nullopt;
    }
    return std::vector<int>(ids.begin(), ids.begin() + count);
  }

 private:
  absl::Status Taken(RustCall<bool>& call, bool good) const {
    absl::Status status = call.Take(good).status();
    if (!status.ok()) grammar_->Fail();
    return status;
  }

  const std::shared_ptr<const CompiledGrammar> grammar_;
  HfMatcher* const matcher_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const TokenTexts>> TokenTexts::Create(
    const Tokenizer& tokenizer, int vocab) {
  std::string texts;
  std::vector<uint64_t> ends;
  ends.reserve(vocab);
  for (int id = 0; id < vocab; ++id) {
    absl::StrAppend(&texts, tokenizer.TokenText(id));
    ends.push_back(texts.size());
  }
  RustCall<std::string> call;
  HfTokenTexts* const handle = hf_token_texts_load(
      ToText(texts), ends.data(), ends.size(), TakeError<std::string>, &call);
  RETURN_IF_ERROR(call.Take(handle != nullptr).status());
  return std::shared_ptr<const TokenTexts>(new TokenTexts(tokenizer, handle));
}

absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompiledGrammar::Create(
    std::shared_ptr<const TokenTexts> texts, const Source& source) {
  RustCall<std::string> call;
  HfMatcher* const begin =
      hf_matcher_load(texts->handle(), source.kind, ToText(source.text),
                      source.spaced, TakeError<std::string>, &call);
  RETURN_IF_ERROR(call.Take(begin != nullptr).status());
  return std::shared_ptr<const CompiledGrammar>(
      new CompiledGrammar(std::move(texts), begin, source.bytes));
}

std::unique_ptr<ConstraintState> CompiledGrammar::Begin() const {
  const RustCall<bool> call;
  return std::make_unique<GrammarState>(shared_from_this(),
                                        hf_matcher_copy(begin_));
}

size_t CompiledGrammar::bytes() const {
  const RustCall<bool> call;
  return bytes_ + hf_matcher_bytes(begin_);
}

}  // namespace attend
