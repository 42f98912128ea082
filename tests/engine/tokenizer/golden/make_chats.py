"""Writes chat/expected.json: what transformers 5.23 makes of the conversations
in chat/conversations.json with each template in chat/. An error is null.

  python make_chats.py
"""

import datetime
import json
import pathlib

from transformers.utils import chat_template_utils

HERE = pathlib.Path(__file__).resolve().parent / "chat"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


class Noon(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 7, 4, 12)


def render(template, chat):
    messages = [{"role": m["role"], "content": m["content"],
                 **m.get("fields", {})} for m in chat["messages"]]
    try:
        return chat_template_utils.render_jinja_template(
            [messages], chat_template=template,
            add_generation_prompt=chat.get("add_generation_prompt", True),
            **TOKENS, **chat.get("variables", {}))[0][0]
    except Exception:  # whatever a template runs into
        return None


def main():
    chat_template_utils.datetime = Noon
    chats = json.loads((HERE / "conversations.json").read_text("utf-8"))
    expected = {path.stem: {name: render(path.read_text("utf-8"), chat)
                            for name, chat in chats.items()}
                for path in sorted(HERE.glob("*.jinja"))}
    text = json.dumps(expected, ensure_ascii=False, indent=1)
    (HERE / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
