#include "engine/checkpoint/foreign_file.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace attend {
namespace {

// As many bytes as tell what a file is.
constexpr size_t kHead = 64;

bool IsSafetensors(absl::string_view head) {
  // The length of the header has 8 bytes, and no header has 2^40 of them.
  return head.size() > 9 &&
         head.substr(5, 4) == absl::string_view("\0\0\0{", 4);
}

// Names the format that `head` begins, and a way out; "" if it may be weights.
std::string Foreign(absl::string_view head, bool safetensors) {
  if (head.empty()) return "is empty; fetch it again";
  if (absl::StartsWith(head, "version https://git-lfs")) {
    return "is a pointer of Git LFS, not the file itself; fetch that by: git "
           "lfs pull";
  }
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(head);
  if (absl::StartsWithIgnoreCase(text, "<!doctype") ||
      absl::StartsWithIgnoreCase(text, "<html")) {
    return "is a page of HTML, not the file itself; fetch it again";
  }
  if (absl::StartsWith(head, "GGUF")) {
    return "is a GGUF file; name it *.gguf, and load the file itself";
  }
  if (absl::StartsWith(head, "\x89HDF")) {
    return "is a file of TensorFlow (HDF5), expected weights of torch";
  }
  if (!safetensors && IsSafetensors(head)) {
    return "has the format of safetensors; name it model.safetensors";
  }
  if (safetensors && absl::StartsWith(head, "PK\x03\x04")) {
    return "has the format of torch.save(); name it pytorch_model.bin";
  }
  return "";
}

}  // namespace

absl::Status CheckNotForeign(const std::string& path,
                             absl::Span<const uint8_t> bytes) {
  const absl::string_view head(reinterpret_cast<const char*>(bytes.data()),
                               std::min(bytes.size(), kHead));
  const std::string text = Foreign(head, absl::EndsWith(path, ".safetensors"));
  if (text.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", text));
}

}  // namespace attend
