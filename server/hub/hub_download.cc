#include "server/hub/hub_download.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/tensor/status_macros.h"
#include "server/hub/content_hash.h"
#include "server/scheduler/clock.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kLineInterval = absl::Seconds(10);
constexpr int64_t kMaxFileBytes = int64_t{1} << 42;

// An ETag without its quotes and its mark of weakness.
absl::string_view Unquoted(absl::string_view tag) {
  absl::ConsumePrefix(&tag, "W/");
  absl::ConsumePrefix(&tag, "\"");
  absl::ConsumeSuffix(&tag, "\"");
  return tag;
}

// Returns true if "bytes 100-199/200" begins at `offset`.
bool BeginsAt(absl::string_view range, int64_t offset) {
  int64_t begin = -1;
  return absl::ConsumePrefix(&range, "bytes ") &&
         absl::SimpleAtoi(range.substr(0, range.find('-')), &begin) &&
         begin == offset;
}

// The first that is there.
std::string HeaderOf(const HubAnswer& answer, const std::string& first,
                     const std::string& second) {
  const std::string value = answer.Header(first);
  return value.empty() ? answer.Header(second) : value;
}

}  // namespace

absl::StatusOr<HubFile> LookUp(HubHttp& http, const std::string& url,
                               const std::string& path, bool with_token) {
  HubAnswer answer;
  RETURN_IF_ERROR(http.Retry([&]() -> absl::Status {
    ASSIGN_OR_RETURN(answer, http.Head(url));
    // A redirect leads to where the bytes are.
    if (answer.status == 200 || answer.status / 100 == 3) {
      return absl::OkStatus();
    }
    return HubStatusError(answer, url, with_token);
  }));
  HubFile file;
  file.path = path;
  file.url = url;
  file.hash = std::string(Unquoted(HeaderOf(answer, "x-linked-etag", "etag")));
  const std::string size = HeaderOf(
      answer, "x-linked-size", answer.status == 200 ? "content-length" : "");
  if (!IsContentHash(file.hash)) {
    return absl::FailedPreconditionError(absl::StrCat(
        url, ": the server does not say the file's hash (X-Linked-Etag or ",
        "ETag), without which it cannot be checked"));
  }
  if (!absl::SimpleAtoi(size, &file.size) || file.size < 0 ||
      file.size > kMaxFileBytes) {
    return absl::FailedPreconditionError(absl::StrCat(
        url, ": the server does not say the file's size (X-Linked-Size or ",
        "Content-Length) in bytes, at most ", kMaxFileBytes));
  }
  return file;
}

absl::Status HubDownload::Fetch(const HubFile& file) {
  if (access(cache_.Blob(file.hash).c_str(), R_OK) != 0) {
    RETURN_IF_ERROR(FetchBlob(file));
  }
  return cache_.Link(commit_, file.path, file.hash);
}

absl::Status HubDownload::FetchBlob(const HubFile& file) {
  const auto stopping = [this] { return http_.CheckStopping(); };
  ASSIGN_OR_RETURN(const BlobLock lock,
                   BlobLock::Take(cache_.Lock(file.hash), stopping));
  const std::string path = cache_.Blob(file.hash);
  if (access(path.c_str(), R_OK) == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(BlobFile blob,
                   BlobFile::Open(cache_.Incomplete(file.hash), file.size));
  const absl::Time begin = SteadyNow();
  const int64_t before = blob.written();
  RETURN_IF_ERROR(CheckSpace(file, blob));
  RETURN_IF_ERROR(Complete(file, blob));
  absl::Status good = blob.CheckHash(file.hash, stopping);
  if (absl::IsDataLoss(good) && before > 0) {
    // The existing part may have belonged to another file.
    RETURN_IF_ERROR(blob.Clear());
    RETURN_IF_ERROR(Complete(file, blob));
    good = blob.CheckHash(file.hash, stopping);
  }
  if (!good.ok()) {
    if (absl::IsDataLoss(good)) RETURN_IF_ERROR(blob.Clear());
    return absl::Status(good.code(),
                        absl::StrCat(file.url, ": ", good.message()));
  }
  RETURN_IF_ERROR(blob.MoveTo(path));
  log_.Write(LogLevel::kInfo, "hub_file",
             {{"model", model_},
              {"file", file.path},
              {"bytes", file.size},
              {"had", before},
              {"seconds", SteadyNow() - begin}});
  return absl::OkStatus();
}

absl::Status HubDownload::CheckSpace(const HubFile& file,
                                     const BlobFile& blob) const {
  std::error_code error;
  const fs::space_info space =
      fs::space(fs::path(cache_.Blob(file.hash)).parent_path(), error);
  const auto missing = static_cast<uintmax_t>(file.size - blob.written());
  if (error || space.available >= missing) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      file.path, " of ", model_, " takes ", missing, " more bytes, but ",
      cache_.Blob(file.hash), " has ", space.available, " on its disk"));
}

absl::Status HubDownload::Complete(const HubFile& file, BlobFile& blob) {
  next_line_ = SteadyNow() + kLineInterval;
  return http_.Retry([&] { return Try(file, blob); });
}

absl::Status HubDownload::Try(const HubFile& file, BlobFile& blob) {
  if (blob.whole()) return absl::OkStatus();
  bool first = true;
  ASSIGN_OR_RETURN(
      const HubAnswer answer,
      http_.Get(file.url, blob.written(),
                [&](const HubAnswer& head, absl::string_view bytes) {
                  const bool begins = std::exchange(first, false);
                  return Take(file, head, bytes, begins, blob);
                }));
  if (answer.status == 416) RETURN_IF_ERROR(blob.Clear());
  if (answer.status != 200 && answer.status != 206) {
    return HubStatusError(answer, file.url, with_token_);
  }
  if (blob.whole()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      file.url, ": ended after ", blob.written(), " of ", file.size, " bytes"));
}

absl::Status HubDownload::Take(const HubFile& file, const HubAnswer& answer,
                               absl::string_view bytes, bool first,
                               BlobFile& blob) {
  if (first && blob.written() > 0) {
    if (answer.status == 200) RETURN_IF_ERROR(blob.Clear());
    const std::string range = answer.Header("content-range");
    if (answer.status == 206 && !BeginsAt(range, blob.written())) {
      return absl::FailedPreconditionError(
          absl::StrCat(file.url, ": asked for what follows byte ",
                       blob.written(), ", got other bytes"));
    }
  }
  bytes_ += static_cast<int64_t>(bytes.size());
  LogProgress(file, blob);
  return blob.Append(bytes);
}

void HubDownload::LogProgress(const HubFile& file, const BlobFile& blob) {
  if (SteadyNow() < next_line_) return;
  next_line_ = SteadyNow() + kLineInterval;
  log_.Write(LogLevel::kInfo, "hub_progress",
             {{"model", model_},
              {"file", file.path},
              {"bytes", blob.written()},
              {"of", file.size}});
}

}  // namespace attend
