#ifndef ATTEND_SERVER_HTTP_METRICS_FORM_H_
#define ATTEND_SERVER_HTTP_METRICS_FORM_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "server/http/http_message.h"

namespace attend {

// How a client wants to have the page /metrics.
struct MetricsForm {
  bool open_metrics = false;  // OpenMetrics 1.0, else Prometheus' text format
  bool gzip = false;
};
inline constexpr int kNumMetricsForms = 4;

// The form that the headers Accept and Accept-Encoding ask for. OpenMetrics if
// it is named and no less liked than text/plain; gzip if it is named.
MetricsForm AskedForm(const HttpRequest& request);

// The text, packed if the form says so.
std::string Packed(MetricsForm form, std::string text);

// An answer with a page that has been packed.
HttpResponse PageResponse(MetricsForm form,
                          std::shared_ptr<const std::string> page);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_METRICS_FORM_H_
