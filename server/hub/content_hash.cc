#include "server/hub/content_hash.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr size_t kSha1Digits = 40;
constexpr size_t kSha256Digits = 64;
constexpr size_t kPiece = size_t{1} << 20;

class Digest {
 public:
  explicit Digest(const EVP_MD* kind)
      : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    // It fails only if there is no memory.
    ATTEND_CHECK(context_ != nullptr &&
                 EVP_DigestInit_ex(context_.get(), kind, nullptr) == 1);
  }
  void Add(const void* bytes, size_t size) {
    ATTEND_CHECK(EVP_DigestUpdate(context_.get(), bytes, size) == 1);
  }
  std::string Hex() {
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    ATTEND_CHECK(EVP_DigestFinal_ex(context_.get(), bytes, &size) == 1);
    return absl::BytesToHexString(
        absl::string_view(reinterpret_cast<const char*>(bytes), size));
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

}  // namespace

bool IsContentHash(absl::string_view text) {
  return (text.size() == kSha1Digits || text.size() == kSha256Digits) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
         });
}

absl::StatusOr<std::string> ContentHash(
    int descriptor, int64_t size, absl::string_view like,
    absl::FunctionRef<absl::Status()> stopping) {
  const bool is_git = like.size() == kSha1Digits;
  Digest digest(is_git ? EVP_sha1() : EVP_sha256());
  const std::string head = absl::StrCat("blob ", size);
  if (is_git) digest.Add(head.c_str(), head.size() + 1);
  std::vector<char> piece(kPiece);
  for (int64_t at = 0; at < size;) {
    RETURN_IF_ERROR(stopping());
    const ssize_t count = pread(descriptor, piece.data(), piece.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          "reading it ended after ", at, " of ", size,
          " bytes: ", count < 0 ? std::strerror(errno) : "no more is there"));
    }
    digest.Add(piece.data(), static_cast<size_t>(count));
    at += count;
  }
  return digest.Hex();
}

}  // namespace attend
