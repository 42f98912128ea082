#ifndef ATTEND_TESTS_CLIENT_FAKE_FAKE_ANSWERS_H_
#define ATTEND_TESTS_CLIENT_FAKE_FAKE_ANSWERS_H_

#include <string>
#include <vector>

#include "attend/v1/attend.pb.h"

namespace attend {

// What FakeService answers to an input that it takes (see there).

// The text of an input; of a chat that of its last message.
std::string TextOf(const v1::Input& input);

std::vector<std::string> Words(const std::string& text);

v1::Model FakeModel();

void MakeAnswer(const std::string& text, const v1::GenerationParams& params,
                v1::GenerateResult& result);
void MakeAnswer(const v1::ScorePair& pair, v1::ScoreResult& result);
// Adds two weights or two vectors, if the request asks for such kinds.
void AnswerKinds(const v1::EmbedRequest& request, v1::EmbedResult& result);
void MakeAnswer(const std::string& text, bool per_token,
                v1::EmbedResult& result);
void MakeAnswer(const v1::Input& input, v1::ClassifyResult& result);
void MakeAnswer(const std::string& text, v1::FillMaskResult& result);
void MakeAnswer(const std::string& text, v1::Tokenization& result);

}  // namespace attend

#endif  // ATTEND_TESTS_CLIENT_FAKE_FAKE_ANSWERS_H_
