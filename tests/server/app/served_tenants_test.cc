#include "server/app/served_tenants.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ServedTenantsTest, ATenantMayNameModelsAndAliases) {
  ServerOptions options;
  options.tenants_file =
      absl::StrCat(::testing::TempDir(), "attend_served_tenants_", getpid());
  options.models = {{.name = "m", .directory = "/m"}};
  options.aliases = {{.name = "alias", .targets = {{.model = "m"}}}};
  std::ofstream(options.tenants_file)
      << R"({"tenants": [{"name": "t", "keys": [")" << std::string(64, 'a')
      << R"("], "models": ["m", "alias", "other"]}]})";
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  {
    Metrics metrics("1", {});
    Log log(options.log, fileno(file));
    EXPECT_TRUE(OpenTenants(options, metrics, log).ok());
  }
  std::filesystem::remove(options.tenants_file);
  std::rewind(file);
  std::string lines;
  for (int byte; (byte = std::fgetc(file)) != EOF;) lines.push_back(byte);
  std::fclose(file);
  EXPECT_THAT(lines,
              AllOf(HasSubstr("\"there is no such model\" name=other "
                              "models=\"m,alias\""),
                    Not(HasSubstr("name=m ")), Not(HasSubstr("name=alias"))));
}

}  // namespace
}  // namespace attend
