#include "server/tls/tls_options.h"

#include <gmock/gmock.h>

namespace attend {
namespace {

using ::testing::HasSubstr;

TEST(TlsOptionsTest, NamesWhatDoesNotGoTogether) {
  const TlsOptions good[] = {
      {},
      {.cert = "c", .key = "k"},
      {.cert = "c", .key = "k", .client_ca = "a"},
      {.cert = "c",
       .key = "k",
       .client_ca = "a",
       .client_auth = ClientAuth::kOptional},
  };
  for (const TlsOptions& options : good) {
    EXPECT_TRUE(options.Validate().ok()) << options.Validate();
  }
  const auto error = [](const TlsOptions& options) {
    return std::string(options.Validate().message());
  };
  EXPECT_THAT(error({.cert = "c"}), HasSubstr("tls_cert and tls_key"));
  EXPECT_THAT(error({.key = "k"}), HasSubstr("tls_cert and tls_key"));
  EXPECT_EQ(error({.client_ca = "a"}),
            "tls_client_ca is a, needs tls_cert and tls_key");
  EXPECT_EQ(
      error({.cert = "c", .key = "k", .client_auth = ClientAuth::kRequire}),
      "tls_client_auth is require, needs tls_client_ca");
}

}  // namespace
}  // namespace attend
