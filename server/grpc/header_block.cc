#include "server/grpc/header_block.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr size_t kFrameHeadBytes = 9;
constexpr size_t kPriorityBytes = 5;
constexpr size_t kFieldBytes = 32;

nghttp2_hd_inflater* NewInflater() {
  nghttp2_hd_inflater* inflater = nullptr;
  // Fails for lack of memory only: then inflater is null, and Decode() fails.
  nghttp2_hd_inflate_new(&inflater);
  return inflater;
}

absl::string_view View(const uint8_t* bytes, size_t size) {
  return absl::string_view(reinterpret_cast<const char*>(bytes), size);
}

}  // namespace

void HeaderBlock::Deleter::operator()(nghttp2_hd_inflater* inflater) const {
  nghttp2_hd_inflate_del(inflater);
}

HeaderBlock::HeaderBlock() : inflater_(NewInflater()) {}

HeaderBlock::~HeaderBlock() = default;

void HeaderBlock::BeginFrame(bool ends_block, bool has_priority) {
  if (std::exchange(complete_, false)) {
    has_encoding_ = false;
    sent_bytes_ = 0;
    header_bytes_ = 0;
    refusal_ = absl::OkStatus();
    rules_.BeginBlock();
    fields_.clear();
  }
  ends_block_ = ends_block;
  priority_left_ = has_priority ? kPriorityBytes : 0;
  sent_bytes_ += kFrameHeadBytes;
}

absl::Status HeaderBlock::Add(absl::string_view bytes, bool ends_frame) {
  sent_bytes_ += bytes.size();
  if (sent_bytes_ > kMaxBlockBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a header block has more than ", kMaxBlockBytes, " bytes"));
  }
  const size_t priority = std::min(priority_left_, bytes.size());
  priority_left_ -= priority;
  bytes.remove_prefix(priority);
  if (ends_frame && priority_left_ > 0) {
    return absl::InvalidArgumentError("a frame of headers is too short");
  }
  std::string shortened;
  RETURN_IF_ERROR(strings_.Copy(bytes, shortened));
  return Decode(shortened, ends_frame && ends_block_);
}

absl::Status HeaderBlock::Decode(absl::string_view bytes, bool is_last) {
  if (inflater_ == nullptr) {
    return absl::ResourceExhaustedError("there is no memory for headers");
  }
  while (!bytes.empty() || is_last) {
    nghttp2_nv field;
    int flags = 0;
    const auto read = nghttp2_hd_inflate_hd2(
        inflater_.get(), &field, &flags,
        reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), is_last);
    if (read < 0) {
      return absl::InvalidArgumentError("a header block is not valid HPACK");
    }
    bytes.remove_prefix(read);
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
      OnField(View(field.name, field.namelen),
              View(field.value, field.valuelen));
    }
    complete_ = (flags & NGHTTP2_HD_INFLATE_FINAL) != 0;
    if (complete_) nghttp2_hd_inflate_end_headers(inflater_.get());
    if (complete_ || (flags == 0 && bytes.empty())) break;
  }
  return absl::OkStatus();
}

void HeaderBlock::OnField(absl::string_view name, absl::string_view value) {
  if (!refusal_.ok()) return;
  header_bytes_ += name.size() + value.size() + kFieldBytes;
  if (header_bytes_ > kMaxHeaderBytes) {
    return Refuse(absl::ResourceExhaustedError(
        absl::StrCat("the call has more than ", kMaxHeaderBytes,
                     " bytes of metadata, counting 32 for each key")));
  }
  if (absl::Status status = rules_.Check(name, value); !status.ok()) {
    return Refuse(std::move(status));
  }
  if (name == kIncomingCallKey || name == kUnknownEncodingKey) return;
  if (absl::EndsWith(name, "-bin")) return OnBinary(name, value);
  if (name == "grpc-encoding") return OnEncoding(value);
  AddField(name, value);
}

// libgrpc ends the connection if it cannot decode a value. So it gets the bytes
// themselves, in the form of clients that do not encode them: a zero first.
void HeaderBlock::OnBinary(absl::string_view name, absl::string_view value) {
  if (value.empty() || value.front() == '\0') return AddField(name, value);
  // Proxies may join the values of a key.
  for (const absl::string_view part : absl::StrSplit(value, ',')) {
    std::string bytes;
    if (!absl::Base64Unescape(part, &bytes)) {
      return Refuse(absl::InvalidArgumentError(
          "the value of a metadata key that ends in -bin is not base64"));
    }
    AddField(name, absl::StrCat(absl::string_view("\0", 1), bytes));
  }
}

void HeaderBlock::OnEncoding(absl::string_view value) {
  has_encoding_ = value != "identity";
  if (!has_encoding_) return;
  const bool known = value == "gzip" || value == "deflate";
  AddField(known ? "grpc-encoding" : kUnknownEncodingKey, value);
}

void HeaderBlock::AddField(absl::string_view name, absl::string_view value) {
  if (!refusal_.ok()) return;
  fields_.push_back('\0');  // a literal with its name, not for the table
  for (const absl::string_view text : {name, value}) {
    AppendHpackInteger(text.size(), /*flag=*/false, fields_);
    fields_.append(text.data(), text.size());
  }
}

void HeaderBlock::Refuse(absl::Status status) {
  refusal_ = std::move(status);
  std::string().swap(fields_);
}

}  // namespace attend
