#ifndef ATTEND_CLIENT_CPP_CLI_BATCH_COMMAND_H_
#define ATTEND_CLIENT_CPP_CLI_BATCH_COMMAND_H_

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/for_each_input.h"
#include "client/cpp/cli/messages.h"
#include "client/cpp/cli/ordered_lines.h"
#include "client/cpp/lib/client.h"
#include "client/cpp/lib/utf8.h"

namespace attend {

// Options of a subcommand whose lines are the inputs of a unary method.
template <class Request>
struct BatchOptions {
  ConnectionOptions connection;
  InputOptions input;
  Request request;  // without model and inputs
};

template <class Response>
using ResultOf = std::decay_t<decltype(std::declval<Response>().results(0))>;

// Makes one call for several lines: the lines become the inputs of a request,
// and the results of the response become texts. Thread-safe if the functions
// are.
template <class Request, class Response>
struct BatchCall {
  Request request;  // without inputs
  // Adds the input of a line, or adds nothing and returns an error.
  std::function<absl::Status(const Line&, Request&)> add;
  std::function<absl::StatusOr<Response>(const Request&)> call;
  std::function<std::string(const Line&, const ResultOf<Response>&)> format;

  LineResults operator()(const std::vector<Line>& lines) const {
    LineResults results(lines.size(), absl::StatusOr<std::string>(""));
    std::vector<size_t> sent;
    Request batch = request;
    for (size_t i = 0; i < lines.size(); ++i) {
      // The server refuses a whole request if one text is not UTF-8.
      absl::Status status = IsUtf8(lines[i].text)
                                ? add(lines[i], batch)
                                : absl::InvalidArgumentError("not valid UTF-8");
      if (status.ok()) {
        sent.push_back(i);
      } else {
        results[i] = std::move(status);
      }
    }
    if (!sent.empty()) Send(lines, batch, sent, results);
    return results;
  }

 private:
  void Send(const std::vector<Line>& lines, const Request& batch,
            const std::vector<size_t>& sent, LineResults& results) const {
    absl::StatusOr<Response> response = call(batch);
    if (response.ok() &&
        response->results_size() != static_cast<int>(sent.size())) {
      response = absl::InternalError(
          absl::StrCat("server sent ", response->results_size(),
                       " results for ", sent.size(), " inputs"));
    }
    for (size_t k = 0; k < sent.size(); ++k) {
      const Line& line = lines[sent[k]];
      results[sent[k]] = response.ok() ? ToText(line, response->results(k))
                                       : response.status();
      // The queue had room for a part of the batch only. The client repeats a
      // call that fails as a whole, so this line gets a call of its own.
      if (sent.size() > 1 &&
          absl::IsResourceExhausted(results[sent[k]].status())) {
        results[sent[k]] = (*this)({line}).front();
      }
    }
  }

  absl::StatusOr<std::string> ToText(const Line& line,
                                     const ResultOf<Response>& result) const {
    const absl::Status status = ToAbslStatus(result.status());
    if (!status.ok()) return status;
    return format(line, result);
  }
};

// Calls `method` for all lines of `options` and prints the results: as `format`
// shows them, or with --json as they are. `add` and `format` are called on
// several threads. Returns the exit code.
template <class Request, class Response>
int RunBatches(
    const BatchOptions<Request>& options,
    absl::StatusOr<Response> (Client::*method)(const Request&,
                                               const CallOptions&),
    std::type_identity_t<std::function<absl::Status(const Line&, Request&)>>
        add,
    std::type_identity_t<
        std::function<std::string(const Line&, const ResultOf<Response>&)>>
        format) {
  Client client(ToClientOptions(options.connection));
  BatchCall<Request, Response> call = {
      .request = options.request,
      .add = std::move(add),
      .call =
          [&](const Request& request) { return (client.*method)(request, {}); },
      .format = std::move(format)};
  if (options.input.json) {
    call.format = [](const Line&, const ResultOf<Response>& result) {
      return ToJsonLine(result);
    };
  }
  call.request.set_model(options.connection.model);
  return ForEachBatch(options.input, call);
}

// Adds an input whose text is the line.
template <class Request>
absl::Status AddText(const Line& line, Request& request) {
  request.add_inputs()->set_text(line.text);
  return absl::OkStatus();
}

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_BATCH_COMMAND_H_
