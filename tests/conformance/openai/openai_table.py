"""What the tests of OpenAI's API share: their table, and names of its calls."""

from conformance import Table

TABLE = Table("openai.md", "OpenAI")
CHAT_PATH, COMPLETIONS = "POST /v1/chat/completions", "POST /v1/completions"
