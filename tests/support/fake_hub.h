#ifndef ATTEND_TESTS_SUPPORT_FAKE_HUB_H_
#define ATTEND_TESTS_SUPPORT_FAKE_HUB_H_

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/support/raw_http.h"

namespace attend {

// A hub of models on this machine, in a process of its own: fake_hub.py says
// which models and faults it has.
class FakeHub {
 public:
  // `source`: the root of Attend's sources. `tls`: the files of a certificate
  // and its key; empty: no TLS.
  explicit FakeHub(const std::string& source, const std::string& tls = "")
      : pipe_(popen(
            absl::StrCat("exec python3 ", source, "/tests/support/fake_hub.py ",
                         source, "/models/en-de ", tls)
                .c_str(),
            "re")),
        tls_(!tls.empty()) {
    // Those of this machine do not lead here.
    for (const char* name :
         {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
          "no_proxy", "NO_PROXY"}) {
      unsetenv(name);
    }
    EXPECT_EQ(std::fscanf(pipe_, "%d %d", &port_, &other_port_), 2);
  }
  ~FakeHub() { pclose(pipe_); }
  FakeHub(const FakeHub&) = delete;
  FakeHub& operator=(const FakeHub&) = delete;

  std::string endpoint() const {
    return absl::StrCat(tls_ ? "https" : "http", "://127.0.0.1:", port_);
  }
  // The requests since the last call, a line each: METHOD PATH RANGE TOKEN.
  std::string Journal() const {
    const std::string answer = HttpGet(port_, "/journal");
    return answer.substr(answer.find("\r\n\r\n") + 4);
  }
  // As if nobody had asked it yet.
  void Forget() const { HttpGet(port_, "/forget"); }

 private:
  FILE* const pipe_;
  const bool tls_;
  int port_ = 0;
  int other_port_ = 0;
};

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_FAKE_HUB_H_
