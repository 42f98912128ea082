#ifndef ATTEND_TESTS_SERVER_OPENAI_CHAT_FIXTURE_H_
#define ATTEND_TESTS_SERVER_OPENAI_CHAT_FIXTURE_H_

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "engine/tokenizer/sandbox/sandbox.h"
#include "tests/server/openai/openai_fixture.h"

namespace attend {

// Forked before there are threads, as the server's are.
[[maybe_unused]] inline const Sandbox& kProcesses = Sandbox::Shared();

// Shows what it is given.
inline constexpr char kTemplate[] =
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}"
    "[{{ c.function.name }} {{ c.function.arguments.x }}]{% endfor %}"
    "{{ m.tool_call_id }}{% endfor %}"
    "{% for t in tools or [] %}({{ t | tojson }}){% endfor %}"
    "{{ style }}{# <tool_call> #}{% if add_generation_prompt %}>{% endif %}";

// A server of a model that chats.
inline HttpFixtureOptions WithTemplate(const std::string& source = kTemplate) {
  HttpFixtureOptions options = OpenAiFixture();
  const std::string directory =
      absl::StrCat(testing::TempDir(), "/openai_chat", getpid());
  std::filesystem::create_directories(directory);
  std::ofstream(directory + "/chat_template.jinja") << source;
  auto loaded = ChatTemplate::Load(directory);
  std::filesystem::remove_all(directory);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  options.chat = *std::move(loaded);
  return options;
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_OPENAI_CHAT_FIXTURE_H_
