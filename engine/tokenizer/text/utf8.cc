#include "engine/tokenizer/text/utf8.h"

#include <algorithm>
#include <iterator>

namespace attend {

bool IsSpace(absl::string_view character) {
  static constexpr absl::string_view kSpaces[] = {
      "\t",           "\n",
      "\v",           "\f",
      "\r",           "\x1c",
      "\x1d",         "\x1e",
      "\x1f",         " ",
      "\xc2\x85",     "\xc2\xa0",
      "\xe1\x9a\x80", "\xe2\x80\x80",
      "\xe2\x80\x81", "\xe2\x80\x82",
      "\xe2\x80\x83", "\xe2\x80\x84",
      "\xe2\x80\x85", "\xe2\x80\x86",
      "\xe2\x80\x87", "\xe2\x80\x88",
      "\xe2\x80\x89", "\xe2\x80\x8a",
      "\xe2\x80\xa8", "\xe2\x80\xa9",
      "\xe2\x80\xaf", "\xe2\x81\x9f",
      "\xe3\x80\x80"};
  return std::find(std::begin(kSpaces), std::end(kSpaces), character) !=
         std::end(kSpaces);
}

}  // namespace attend
