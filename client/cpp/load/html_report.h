#ifndef ATTEND_CLIENT_CPP_LOAD_HTML_REPORT_H_
#define ATTEND_CLIENT_CPP_LOAD_HTML_REPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "client/cpp/load/load.h"
#include "client/cpp/load/report.h"

namespace attend {

// One run, for the page.
struct MeasuredRun {
  std::string title;  // empty: the only one
  LoadResult result;
  BenchReport report;  // of `result`
};

// What stands at the top of the page: names and values, as they come from
// outside.
using ReportFacts = std::vector<std::pair<std::string, std::string>>;

// A page of HTML that needs no other file: facts, tables of figures, charts. It
// has no scripts, and its policy (CSP) lets a browser load nothing.
std::string ToHtml(const ReportFacts& facts,
                   const std::vector<MeasuredRun>& runs);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LOAD_HTML_REPORT_H_
