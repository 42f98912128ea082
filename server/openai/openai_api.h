#ifndef ATTEND_SERVER_OPENAI_OPENAI_API_H_
#define ATTEND_SERVER_OPENAI_OPENAI_API_H_

#include <memory>

#include "server/http_call/http_api.h"

namespace attend {

using MakeTranslator = std::unique_ptr<HttpTranslator>();

MakeTranslator NewModelListTranslator;
MakeTranslator NewModelTranslator;

// The routes of OpenAI's API, and those that vLLM has beside them.
HttpApi OpenAiApi();

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_OPENAI_API_H_
