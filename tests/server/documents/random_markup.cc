#include "tests/server/documents/random_markup.h"

#include <algorithm>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace attend {
namespace {

class Writer {
 public:
  explicit Writer(uint32_t seed) : random_(seed) {}

  std::string Write() {
    Open("div");
    const int blocks = Draw(1, 4);
    for (int i = 0; i < blocks; ++i) {
      Open("p");
      AddInline(Draw(1, 12), 0);
      Close();
      text_ += Draw(0, 1) == 0 ? "\n  " : "";
    }
    Close();
    return text_;
  }

 private:
  int Draw(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random_);
  }
  void Open(const std::string& name) {
    absl::StrAppend(&text_, "<", name, " n=\"", ++count_, "\">");
    open_.push_back(name);
  }
  void Close() {
    absl::StrAppend(&text_, "</", open_.back(), ">");
    open_.pop_back();
  }

  void AddInline(int parts, int depth) {
    static const char* const kTexts[] = {
        "dog ",       " man", "red",    " runs. ",  "Two ",
        " cats ",     "ha",   "lf",     "! ",       "A ",
        "&amp; ",     "&lt;", "x. B",   ", ",       "\n   over ",
        "na&#239;ve", " ",    "(one) ", "The end.", " five "};
    static const char* const kNames[] = {"b", "i", "a", "span", "em", "u"};
    for (int i = 0; i < parts; ++i) {
      switch (Draw(0, 9)) {
        case 0:
        case 1:
        case 2:
          if (depth > 8) break;
          Open(kNames[Draw(0, 5)]);
          AddInline(Draw(0, 5), depth + 1);
          Close();
          break;
        case 3:
          absl::StrAppend(&text_, "<img n=\"", ++count_, "\"/>");
          break;
        case 4:
          absl::StrAppend(&text_, "<!--", ++count_, "-->");
          break;
        default:
          text_ += kTexts[Draw(0, 19)];
      }
    }
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<std::string> open_;
  int count_ = 0;  // tags
};

}  // namespace

std::string RandomMarkup(uint32_t seed) { return Writer(seed).Write(); }

Markup Strip(const std::string& marked_up) {
  Markup parts;
  for (size_t at = 0; at < marked_up.size();) {
    if (marked_up[at] != '<') {
      parts.text += marked_up[at++];
      continue;
    }
    const size_t end =
        std::min(marked_up.find('>', at), marked_up.size() - 1) + 1;
    parts.tags.push_back(marked_up.substr(at, end - at));
    at = end;
  }
  parts.text = absl::StrReplaceAll(
      parts.text, {{"&#239;", "\u00ef"}, {"&lt;", "<"}, {"&gt;", ">"}});
  parts.text = absl::StrReplaceAll(parts.text, {{"&amp;", "&"}});
  return parts;
}

bool IsWellFormed(const std::vector<std::string>& tags) {
  std::vector<std::string> open;
  for (const std::string& tag : tags) {
    if (absl::StartsWith(tag, "<!--") || absl::EndsWith(tag, "/>")) continue;
    if (!absl::StartsWith(tag, "</")) {
      open.push_back(tag.substr(1, tag.find_first_of(" >") - 1));
      continue;
    }
    if (open.empty() || tag != absl::StrCat("</", open.back(), ">")) {
      return false;
    }
    open.pop_back();
  }
  return open.empty();
}

}  // namespace attend
