#include "server/http/metrics_form.h"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

// How much a header likes `value`: the highest q of the elements that name it,
// 0 if there is none. Other parameters, such as a version, are left aside.
double Liking(absl::string_view header, absl::string_view value) {
  double liking = 0;
  for (const absl::string_view element : absl::StrSplit(header, ',')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(element, ';');
    if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts[0]), value)) {
      continue;
    }
    double q = 1;
    for (absl::string_view part : parts) {
      part = absl::StripAsciiWhitespace(part);
      if (absl::StartsWithIgnoreCase(part, "q=") &&
          !absl::SimpleAtod(part.substr(2), &q)) {
        q = 0;
      }
    }
    liking = std::max(liking, q);
  }
  return liking;
}

// Gzip's header and trailer, and the largest window.
constexpr int kGzip = 16 + MAX_WBITS;
// The fastest: a page shrinks to a tenth even so.
constexpr int kLevel = Z_BEST_SPEED;

std::string Gzip(const std::string& text) {
  z_stream stream = {};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzip, /*memLevel=*/8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string packed;
  try {
    packed.resize(deflateBound(&stream, text.size()));
  } catch (const std::bad_alloc&) {
    deflateEnd(&stream);
    throw;
  }
  stream.next_in =
      reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // read only
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ATTEND_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  packed.shrink_to_fit();
  return packed;
}

}  // namespace

MetricsForm AskedForm(const HttpRequest& request) {
  const absl::string_view accept = request.Header("Accept").value_or("");
  const double open_metrics = Liking(accept, "application/openmetrics-text");
  return {.open_metrics =
              open_metrics > 0 && open_metrics >= Liking(accept, "text/plain"),
          .gzip = Liking(request.Header("Accept-Encoding").value_or(""),
                         "gzip") > 0};
}

std::string Packed(MetricsForm form, std::string text) {
  return form.gzip ? Gzip(text) : std::move(text);
}

HttpResponse PageResponse(MetricsForm form,
                          std::shared_ptr<const std::string> page) {
  HttpResponse response = {
      .headers = {{"Content-Type",
                   form.open_metrics
                       ? "application/openmetrics-text; version=1.0.0; "
                         "charset=utf-8"
                       : "text/plain; version=0.0.4; charset=utf-8"},
                  {"Cache-Control", "no-store"},
                  {"Vary", "Accept, Accept-Encoding"}},
      .body = std::move(page)};
  if (form.gzip) response.headers.push_back({"Content-Encoding", "gzip"});
  return response;
}

}  // namespace attend
