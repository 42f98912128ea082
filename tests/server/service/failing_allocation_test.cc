// Each allocation of a call fails in turn. The call, or one of its inputs, ends
// with RESOURCE_EXHAUSTED or as ever; calls after it answer as before it. The
// engine's destructor checks that no sequence stays.

#include <gmock/gmock.h>

#include <functional>
#include <new>
#include <string>
#include <vector>

#include "tests/server/service/service_fixture.h"
#include "tests/support/allocation_count.h"

namespace attend {
namespace {

constexpr auto kNoMemory = absl::StatusCode::kResourceExhausted;

// Where one chunk ends and the next begins depends on the threads.
template <class Chunk>
std::vector<std::string> ResultOf(const std::vector<Chunk>& chunks) {
  std::string text;
  Chunk all;
  for (Chunk chunk : chunks) {
    text += chunk.text();
    chunk.clear_timings();
    all.MergeFrom(chunk);
  }
  all.set_text(text);
  return {all.SerializeAsString()};
}

// The answers without their times.
template <class Answer>
std::vector<std::string> Results(const LocalCall& call) {
  if constexpr (requires(Answer answer) { answer.set_text(""); }) {
    return ResultOf(call.answers<Answer>());
  }
  std::vector<std::string> results;
  for (Answer& answer : call.answers<Answer>()) {
    if constexpr (requires { answer.mutable_results(0)->clear_timings(); }) {
      for (auto& result : *answer.mutable_results()) result.clear_timings();
    } else if constexpr (requires { answer.clear_timings(); }) {
      answer.clear_timings();
    }
    results.push_back(answer.SerializeAsString());
  }
  return results;
}

class FailingAllocationTest : public ServiceFixture {
 protected:
  struct Outcomes {
    int failed_calls = 0;
    int failed_inputs = 0;
    int unharmed = 0;  // a log line or a metric is missing
  };

  // Lets each allocation of at least `bytes` fail in turn, until the call has
  // no more of them.
  template <class Answer, class Request>
  Outcomes FailEach(const std::string& method, const Request& request,
                    size_t bytes = 0) {
    const std::vector<std::string> expected = Answers<Answer>(method, request);
    EXPECT_FALSE(expected.empty());
    Outcomes outcomes;
    for (long n = 0; n < 100'000; ++n) {
      LocalCall call = NewCall(method, request);
      AllocationFault::Arm(n, bytes);
      const bool began = Begins(call);
      if (began) {
        call.Start();  // throws nothing
        call.Await();
      }
      if (!AllocationFault::Disarm()) return outcomes;
      if (!began) continue;
      Judge<Answer>(call, expected, outcomes);
      EXPECT_EQ(Answers<Answer>(method, request), expected) << "after " << n;
      if (HasFailure()) break;
    }
    ADD_FAILURE() << method << " does not come to its end";
    return outcomes;
  }

  // Some of these failures end the call, others one of its inputs.
  template <class Answer, class Request>
  void FailsAsAWholeAndInParts(const std::string& method,
                               const Request& request, size_t bytes = 0) {
    const Outcomes outcomes = FailEach<Answer>(method, request, bytes);
    EXPECT_GT(outcomes.failed_calls, 0) << method;
    EXPECT_GT(outcomes.failed_inputs, 0) << method;
  }

 private:
  template <class Answer, class Request>
  std::vector<std::string> Answers(const std::string& method,
                                   const Request& request) {
    LocalCall call = NewCall(method, request);
    call.Run();
    EXPECT_EQ(call.end(), absl::OkStatus()) << method;
    return Results<Answer>(call);
  }

  // Where a call has no memory to begin, its protocol ends it.
  static bool Begins(LocalCall& call) try {
    return call.Begin();
  } catch (const std::bad_alloc&) {
    return false;
  }

  template <class Answer>
  static void Judge(const LocalCall& call,
                    const std::vector<std::string>& expected,
                    Outcomes& outcomes) {
    ASSERT_TRUE(call.end().has_value());
    if (!call.end()->ok()) {
      EXPECT_EQ(call.end()->code(), kNoMemory) << *call.end();
      ++outcomes.failed_calls;
    } else if (Results<Answer>(call) == expected) {
      ++outcomes.unharmed;
    } else {
      bool any = false;
      for (const Answer& answer : call.answers<Answer>()) {
        any |= HasFailedInput(answer);
      }
      EXPECT_TRUE(any) << "an answer is another one, but says nothing";
      ++outcomes.failed_inputs;
    }
  }

  template <class Answer>
  static bool HasFailedInput(const Answer& answer) {
    if constexpr (requires { answer.results(0).status(); }) {
      for (const auto& result : answer.results()) {
        if (result.status().code() == static_cast<int>(kNoMemory)) return true;
      }
      return false;
    } else if constexpr (requires { answer.status(); }) {
      return answer.status().code() == static_cast<int>(kNoMemory);
    } else {
      return false;
    }
  }
};

v1::GenerateRequest TwoTexts() {
  v1::GenerateRequest request = Generate("abcdefgh", 3);
  request.add_inputs()->set_text("ijklm");
  request.mutable_params()->set_log_probs(true);
  return request;
}

TEST_F(FailingAllocationTest, Generate) {
  Build({});
  FailsAsAWholeAndInParts<v1::GenerateResponse>("Generate", TwoTexts());
}

TEST_F(FailingAllocationTest, GenerateStream) {
  Build({});
  const Outcomes outcomes =
      FailEach<v1::GenerateChunk>("GenerateStream", Generate("abcdefgh", 3));
  EXPECT_GT(outcomes.failed_calls, 0);
}

TEST_F(FailingAllocationTest, Embed) {
  Build({});
  v1::EmbedRequest request;
  request.add_inputs()->set_text("a");
  request.add_inputs()->set_text("bc");
  FailsAsAWholeAndInParts<v1::EmbedResponse>("Embed", request);
}

TEST_F(FailingAllocationTest, Tokenize) {
  Build({});
  v1::TokenizeRequest request;
  request.add_texts("abc");
  request.add_texts("de");
  EXPECT_GT(FailEach<v1::TokenizeResponse>("Tokenize", request).failed_calls,
            0);
}

TEST_F(FailingAllocationTest, Translate) {
  Build({});
  v1::TranslateRequest request;
  request.add_documents("ab. c");
  request.add_documents("d");
  FailsAsAWholeAndInParts<v1::TranslateResponse>("Translate", request);
  EXPECT_GT(
      FailEach<v1::TranslateChunk>("TranslateStream", request).failed_calls, 0);
}

TEST_F(FailingAllocationTest, Score) {
  Build({});
  v1::ScoreRequest request;
  for (const char* source : {"ab", "c"}) {
    v1::ScorePair& pair = *request.add_pairs();
    pair.mutable_source()->set_text(source);
    pair.mutable_target()->set_text("d");
  }
  request.set_top_log_probs(2);
  FailsAsAWholeAndInParts<v1::ScoreResponse>("Score", request);
}

TEST_F(FailingAllocationTest, FillMask) {
  Build({});
  v1::FillMaskRequest request;
  request.add_inputs()->set_text("a <mask>");
  request.add_inputs()->set_text("<mask>");
  FailsAsAWholeAndInParts<v1::FillMaskResponse>("FillMask", request);
}

TEST_F(FailingAllocationTest, ClassifyAndRerank) {
  FixtureOptions options;
  options.engine.info.generates = false;
  options.engine.info.fills_masks = false;
  options.engine.info.classifies = true;
  options.engine.info.labels = {"score"};
  Build(options);
  v1::ClassifyRequest texts;
  texts.add_inputs()->set_text("ab");
  EXPECT_GT(FailEach<v1::ClassifyResponse>("Classify", texts).failed_calls, 0);
  v1::RerankRequest query;
  query.set_query("a");
  query.add_documents("bc");
  query.add_documents("d");
  FailsAsAWholeAndInParts<v1::RerankResponse>("Rerank", query);
}

TEST_F(FailingAllocationTest, WhatNeedsNoEngine) {
  Build({});
  v1::DetokenizeRequest ids;
  ids.add_sequences()->add_ids(98);
  EXPECT_GT(FailEach<v1::DetokenizeResponse>("Detokenize", ids).failed_calls,
            0);
  EXPECT_GT(
      FailEach<v1::ListModelsResponse>("ListModels", v1::ListModelsRequest())
          .failed_calls,
      0);
  EXPECT_GT(FailEach<v1::Model>("GetModel", v1::GetModelRequest()).failed_calls,
            0);
}

// What a system is short of first: the text, its ids, the room for its output.
TEST_F(FailingAllocationTest, LargeAllocations) {
  Build({});
  v1::GenerateRequest request = Generate(std::string(4000, 'x'), 96);
  request.add_inputs()->set_text("small");
  request.mutable_params()->set_log_probs(true);
  FailsAsAWholeAndInParts<v1::GenerateResponse>("Generate", request, 4096);
}

// The same of an engine: all of its step, and nobody after it.
TEST_F(FailingAllocationTest, AStepWithoutMemoryEndsWhatItComputes) {
  int steps = 0;
  FixtureOptions options;
  options.engine.on_step = [&](const StepPlan&) {
    if (++steps == 2) throw std::bad_alloc();
  };
  Build(options);
  const v1::GenerateRequest request = Generate("abcdefgh", 3);
  for (const auto code : {kNoMemory, absl::StatusCode::kOk}) {
    LocalCall call = NewCall("Generate", request);
    call.Run();
    ASSERT_TRUE(call.end().has_value());
    EXPECT_EQ(call.end()->code(), code) << *call.end();
  }
}

}  // namespace
}  // namespace attend
