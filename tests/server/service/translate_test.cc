#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/server/service/service_fixture.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

v1::TranslateRequest Request(const std::vector<std::string>& documents) {
  v1::TranslateRequest request;
  for (const std::string& document : documents) {
    request.add_documents(document);
  }
  request.mutable_params()->set_max_new_tokens(2);
  request.mutable_params()->set_num_beams(1);
  return request;
}

std::string Dogs(int sentences) {
  std::string text;
  for (int i = 0; i < sentences; ++i) absl::StrAppend(&text, "Dog ", i, ".\n");
  return text;
}

// The fake's translation of n bytes, 8 or more, is "w<31 * (n + 1)> w<... +
// 1>".
class TranslateTest : public ServiceFixture {
 protected:
  v1::TranslateResponse Answer(const v1::TranslateRequest& request) {
    LocalCall call = NewCall("Translate", request);
    call.Run();
    EXPECT_EQ(call.end(), absl::OkStatus());
    const auto answers = call.answers<v1::TranslateResponse>();
    return answers.empty() ? v1::TranslateResponse() : answers[0];
  }
  absl::Status ErrorOf(const v1::TranslateRequest& request) {
    LocalCall call = NewCall("Translate", request);
    call.Run();
    EXPECT_THAT(call.answers<v1::TranslateResponse>(), IsEmpty());
    return call.end().value_or(absl::OkStatus());
  }
  // The texts of the chunks of each document.
  std::vector<std::string> Streamed(const v1::TranslateRequest& request) {
    LocalCall call = NewCall("TranslateStream", request);
    call.Run();
    EXPECT_EQ(call.end(), absl::OkStatus());
    std::vector<std::string> texts;
    bool ended = true;
    for (const auto& chunk : call.answers<v1::TranslateChunk>()) {
      if (ended) texts.emplace_back();
      EXPECT_EQ(chunk.document(), texts.size() - 1);
      ended = chunk.has_status();
      EXPECT_NE(ended, chunk.has_sentence());
      texts.back() += chunk.text();
      if (ended) continue;
      EXPECT_EQ(chunk.sentence().target_end(), texts.back().size());
    }
    EXPECT_TRUE(ended);
    return texts;
  }
};

TEST_F(TranslateTest, PutsSentencesBackIntoTheirDocuments) {
  Build({});
  const std::vector<std::string> documents = {" A b c d.\n\nEf g h i.  ", "",
                                              "42\n", "One two."};
  const v1::TranslateResponse response = Answer(Request(documents));
  ASSERT_EQ(response.results_size(), 4);
  EXPECT_EQ(response.model(), "fake");
  EXPECT_EQ(response.results(0).text(), " w279 w280\n\nw310 w311  ");
  EXPECT_EQ(response.results(1).text(), "");
  EXPECT_EQ(response.results(2).text(), "42\n");
  EXPECT_EQ(response.results(3).text(), "w279 w280");
  for (int i = 0; i < 4; ++i) {
    const v1::Translation& result = response.results(i);
    EXPECT_EQ(result.status().code(), 0);
    std::string rebuilt;
    int at = 0;
    for (const v1::TranslatedSentence& s : result.sentences()) {
      rebuilt += documents[i].substr(at, s.source_begin() - at);
      EXPECT_EQ(rebuilt.size(), s.target_begin());
      rebuilt += s.choice().text();
      EXPECT_EQ(rebuilt.size(), s.target_end());
      EXPECT_EQ(s.text(),
                documents[i].substr(s.source_begin(),
                                    s.source_end() - s.source_begin()));
      at = s.source_end();
    }
    EXPECT_EQ(rebuilt + documents[i].substr(at), result.text());
  }
  EXPECT_EQ(response.results(0).usage().source_tokens(), 9 + 10);
  EXPECT_EQ(response.results(0).usage().generated_tokens(), 4);
  EXPECT_TRUE(response.results(0).timings().has_total());
  EXPECT_FALSE(response.results(1).timings().has_total());
  ExpectCounted("Translate", "OK");
}

TEST_F(TranslateTest, AStreamHasTheSameTexts) {
  Build({});
  const v1::TranslateRequest request =
      Request({" A b.\n\nC de.  ", "", "One. Two."});
  const v1::TranslateResponse response = Answer(request);
  EXPECT_THAT(Streamed(request), ElementsAre(response.results(0).text(), "",
                                             response.results(2).text()));
}

TEST_F(TranslateTest, AlternativesAreOfSentencesAndOfDocuments) {
  Build({});
  v1::TranslateRequest request = Request({"<p>A <b>b</b>.</p>"});
  request.set_format(v1::DOCUMENT_FORMAT_HTML);
  request.set_alternatives(2);
  request.mutable_params()->clear_num_beams();
  const v1::TranslateResponse response = Answer(request);
  const v1::Translation& result = response.results(0);
  ASSERT_THAT(result.alternatives(), SizeIs(2));
  // All choices of the fake are the same.
  EXPECT_EQ(result.alternatives(1), result.text());
  EXPECT_THAT(result.text(), HasSubstr("<b>"));
  ASSERT_THAT(result.sentences(0).alternatives(), SizeIs(2));
  EXPECT_EQ(absl::StrCat("<p>", result.sentences(0).alternatives(0), "</p>"),
            result.text());
}

TEST_F(TranslateTest, AlignmentsAreThereIfAskedFor) {
  Build({});
  v1::TranslateRequest request = Request({"A {b} c."});
  const v1::TranslateResponse without = Answer(request);
  EXPECT_FALSE(without.results(0).sentences(0).choice().has_alignment());
  EXPECT_THAT(without.results(0).sentences(0).source_tokens(), IsEmpty());
  EXPECT_THAT(without.results(0).text(), HasSubstr("{b}"));
  request.set_alignments(v1::ALIGNMENTS_SOFT);
  const v1::TranslateResponse with = Answer(request);
  const v1::TranslatedSentence& sentence = with.results(0).sentences(0);
  EXPECT_THAT(sentence.choice().alignment().source(), SizeIs(2));
  EXPECT_EQ(sentence.choice().alignment().weights_size(),
            2 * sentence.source_tokens_size());
}

TEST_F(TranslateTest, ManySentencesWaitForRoom) {
  FixtureOptions options;
  options.scheduler.max_running = 1;
  options.scheduler.max_queued_requests = 2;
  service_.max_batch_inputs = 4;
  Build(options);
  const v1::TranslateResponse response = Answer(Request({Dogs(200)}));
  EXPECT_THAT(response.results(0).sentences(), SizeIs(200));
  EXPECT_EQ(Streamed(Request({Dogs(50)}))[0],
            Answer(Request({Dogs(50)})).results(0).text());
}

TEST_F(TranslateTest, NoMoreRunThanABatchMayHave) {
  FixtureOptions options;
  size_t most = 0;
  options.engine.on_step = [&](const StepPlan& plan) {
    most = std::max(most, plan.pieces.size());
  };
  service_.max_batch_inputs = 3;
  Build(options);
  // How many run at once is a matter of threads; never are there more.
  for (int call = 0; call < 50 && most < 3; ++call) {
    Answer(Request({Dogs(40)}));
  }
  EXPECT_EQ(most, 3);
}

class CancelledTranslateTest : public TranslateTest,
                               public testing::WithParamInterface<const char*> {
};

TEST_P(CancelledTranslateTest, LeavesWhatWaits) {
  FixtureOptions options;
  options.engine.allowed_steps = 3;
  service_.max_batch_inputs = 2;
  Build(options);
  const v1::TranslateRequest request = Request({Dogs(1000)});
  LocalCall call = NewCall(GetParam(), request);
  std::thread client([&] { call.Run(); });
  engine_->WaitUntilBlocked();
  call.Cancel();
  engine_->OpenGate();
  client.join();
  EXPECT_EQ(call.end(), std::nullopt);
  EXPECT_LT(engine_->steps(), 100);
  ExpectCounted(GetParam(), "CANCELLED");
}

INSTANTIATE_TEST_SUITE_P(Methods, CancelledTranslateTest,
                         testing::Values("Translate", "TranslateStream"),
                         [](const auto& method) { return method.param; });

// Long documents are read in turns.
TEST_F(TranslateTest, LongDocumentsAreCutAsShortOnes) {
  Build({});
  std::string words;  // 25 times the longest source
  while (words.size() < 100000) words += "aaaaaaa ";
  const auto answer = Answer(Request({Dogs(3000), words, "Dog."}));
  ASSERT_THAT(answer.results(), SizeIs(3));
  EXPECT_THAT(answer.results(0).sentences(), SizeIs(3000));
  EXPECT_THAT(answer.results(1).sentences(), SizeIs(32));
  EXPECT_THAT(answer.results(2).sentences(), SizeIs(1));
}

// Data is no language; see FindLongWords().
TEST_F(TranslateTest, AWordThatIsTooLongIsKept) {
  Build({});
  const std::string word(200 << 10, 'a');
  const auto answer =
      Answer(Request({word, absl::StrCat("A b ", word, " c.")}));
  EXPECT_EQ(answer.results(0).text(), word);
  EXPECT_THAT(answer.results(0).sentences(), IsEmpty());
  EXPECT_THAT(answer.results(1).text(), HasSubstr(word));
  ASSERT_THAT(answer.results(1).sentences(), SizeIs(1));
  EXPECT_EQ(answer.results(1).sentences(0).text(), "A b Tom c.");
}

// A text in a tag is translated on its own, and is in the translation of the
// sentence around the tag.
TEST_F(TranslateTest, TextsOfAttributesAreInTheirTags) {
  Build({});
  v1::TranslateRequest request = Request(
      {"<p>A dog <img alt='Two cats'> runs.</p><img alt='Three cows'>"});
  request.set_format(v1::DOCUMENT_FORMAT_HTML);
  request.set_alternatives(1);
  request.mutable_params()->set_num_beams(2);
  const v1::TranslateResponse response = Answer(request);
  const v1::Translation& result = response.results(0);
  ASSERT_THAT(result.sentences(), SizeIs(2));
  EXPECT_EQ(result.sentences(0).text(), "A dog runs.");
  EXPECT_EQ(result.sentences(1).text(), "Three cows");
  EXPECT_THAT(result.text(), HasSubstr("<img alt='w279 w280'>"));
  EXPECT_THAT(result.text(), HasSubstr("<img alt='w341 w342'>"));
  ASSERT_THAT(result.alternatives(), SizeIs(1));
  EXPECT_EQ(result.alternatives(0), result.text());
  EXPECT_THAT(Streamed(request), ElementsAre(result.text()));
}

// The fake tokenizer refuses the byte 0x01.
TEST_F(TranslateTest, AFailedSentenceFailsItsDocumentAlone) {
  Build({});
  v1::TranslateRequest request = Request({"A b.\nC \x01 d.\nE.", "One two."});
  const v1::TranslateResponse response = Answer(request);
  EXPECT_EQ(response.results(0).status().code(), 3);
  EXPECT_THAT(response.results(0).status().message(),
              HasSubstr("documents[0], sentence 1"));
  EXPECT_EQ(response.results(0).text(), "");
  EXPECT_EQ(response.results(1).text(), "w279 w280");

  LocalCall call = NewCall("TranslateStream", request);
  call.Run();
  EXPECT_EQ(call.end(), absl::OkStatus());
  const auto chunks = call.answers<v1::TranslateChunk>();
  EXPECT_EQ(chunks.back().status().code(), 0);

  EXPECT_EQ(ErrorOf(Request({"\x01 a", "b \x01"})).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(TranslateTest, AFailedStepFailsTheCall) {
  Build({});
  engine_->FailNextStep(absl::InternalError("broken"));
  EXPECT_EQ(ErrorOf(Request({"A b."})),
            absl::InternalError("step failed: broken"));
}

TEST_F(TranslateTest, ErrorsNameFieldValueAndLimit) {
  service_.max_document_sentences = 3;
  service_.max_batch_inputs = 2;
  FixtureOptions options;
  Build(options);
  const auto with = [](auto change) {
    v1::TranslateRequest request = Request({"A b."});
    change(request);
    return request;
  };
  EXPECT_EQ(ErrorOf(Request({"One. Two.", Dogs(3)})).message(),
            "documents[1] has more than 1 sentences; all documents may have 3 "
            "(max_document_sentences)");
  EXPECT_EQ(ErrorOf(with([](auto& r) {
              r.set_documents(0, Dogs(3));
              r.set_alignments(v1::ALIGNMENTS_SOFT);
            })).message(),
            "documents[0] has more than 2 sentences; all documents may have 2 "
            "(max_batch_inputs, for soft alignments and log_probs)");
  EXPECT_EQ(ErrorOf(Request({"a", "b", "c"})).message(),
            "documents has 3 entries, must be 1 to 2 (max_batch_inputs)");
  EXPECT_EQ(ErrorOf(with([](auto& r) { r.set_alternatives(8); })).message(),
            "alternatives is 8, must be 0 to 7");
  EXPECT_EQ(ErrorOf(with([](auto& r) { r.set_alternatives(-1); })).message(),
            "alternatives is -1, must be 0 to 7");
  EXPECT_EQ(ErrorOf(with([](auto& r) {
              r.set_documents(0, std::string((4 << 20) + 1, ' '));
              r.set_alternatives(3);
            })).message(),
            "documents have 4194305 bytes, limit is 4194304 with alternatives "
            "= 3");
  EXPECT_EQ(ErrorOf(with([](auto& r) {
              r.set_format(static_cast<v1::DocumentFormat>(7));
            })).message(),
            "format is 7, must be in [0, 3]");
  EXPECT_EQ(ErrorOf(with([](auto& r) {
              r.mutable_params()->set_num_return_sequences(1);
            })).message(),
            "params.num_return_sequences is set, but Translate does not take "
            "it");
  EXPECT_EQ(ErrorOf(with([](auto& r) {
              r.add_glossary()->set_source("a");
            })).message(),
            "glossary[0].target has 0 bytes, must be 1 to 256");
  EXPECT_EQ(ErrorOf(with([](auto& r) {
              for (int i = 0; i < 1001; ++i) r.add_glossary();
            })).message(),
            "glossary has 1001 terms, limit is 1000");
  EXPECT_EQ(ErrorOf(with([](auto& r) {
              r.set_alignments(static_cast<v1::Alignments>(9));
            })).message(),
            "alignments is 9, must be in [0, 2]");
  EXPECT_EQ(ErrorOf(with([](auto& r) { r.set_priority(11); })).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(TranslateTest, AModelThatContinuesTextsTranslatesNone) {
  FixtureOptions options;
  options.engine.info.continues_source = true;
  Build(options);
  EXPECT_EQ(ErrorOf(Request({"A b."})).message(),
            "model 'fake' continues texts, it translates none");
}

}  // namespace
}  // namespace attend
