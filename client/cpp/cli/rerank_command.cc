#include <algorithm>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/cli/command_batches.h"
#include "client/cpp/cli/commands.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

// Scores of documents, of any number of calls. Thread-safe while it grows.
class Ranking {
 public:
  // `index`: among all documents.
  void Add(v1::RerankResult result, int64_t index) {
    result.set_index(static_cast<int32_t>(index));
    const std::lock_guard<std::mutex> lock(mutex_);
    results_.push_back(std::move(result));
  }

  // Best first; `top` 0: all.
  void Print(int top, bool json) {
    std::sort(results_.begin(), results_.end(),
              [](const auto& a, const auto& b) {
                return std::pair(-a.score(), a.index()) <
                       std::pair(-b.score(), b.index());
              });
    if (top > 0 && static_cast<int>(results_.size()) > top) {
      results_.resize(top);
    }
    for (const v1::RerankResult& result : results_) {
      const std::string line =
          json ? ToJsonLine(result)
               : absl::StrFormat("%.6f\t%d\t%s\n", result.score(),
                                 result.index() + 1, result.document());
      std::fwrite(line.data(), 1, line.size(), stdout);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<v1::RerankResult> results_;  // guarded by mutex_ while it grows
};

// The response's results in the order of the request's documents, as other
// methods have them.
absl::StatusOr<v1::RerankResponse> Unsorted(
    absl::StatusOr<v1::RerankResponse> response) {
  if (!response.ok()) return response;
  auto& results = *response->mutable_results();
  std::sort(results.begin(), results.end(),
            [](const auto& a, const auto& b) { return a.index() < b.index(); });
  return response;
}

}  // namespace

int Run(const RerankOptions& options) {
  v1::RerankRequest base = options.request;
  base.set_query(options.query);
  base.set_model(options.connection.model);
  base.clear_top_n();  // it is of all calls together
  Client client(ToClientOptions(options.connection));
  Ranking ranking;
  const BatchCall<v1::RerankRequest, v1::RerankResponse, v1::RerankResult>
      call = {.request = base,
              .add =
                  [](const Line& line, v1::RerankRequest& request) {
                    request.add_documents(line.text);
                    return absl::OkStatus();
                  },
              .call =
                  [&](const auto& request) {
                    return Unsorted(client.Rerank(request));
                  },
              .format =
                  [&](const Line& line, v1::RerankResult result) {
                    result.set_document(line.text);
                    ranking.Add(std::move(result), line.number - 1);
                    return std::string();
                  }};
  const int exit_code = ForEachBatch(options.input, call, /*failed=*/"");
  ranking.Print(options.request.top_n(), options.input.json);
  return exit_code;
}

}  // namespace attend
