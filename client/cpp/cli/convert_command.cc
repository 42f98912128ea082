#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "client/cpp/cli/command.h"
#include "client/cpp/cli/convert_script.h"

namespace attend {
namespace {

struct ConvertOptions {
  std::string directory;
  std::string python = "python3";
};

// Ends as the script does, in the place of this program; returns only if there
// is no Python.
int RunConvert(const ConvertOptions& options) {
  execlp(options.python.c_str(), options.python.c_str(), "-c", kConvertScript,
         options.directory.c_str(), nullptr);
  std::fprintf(stderr,
               "attend: %s: %s; convert needs Python with the packages torch "
               "and safetensors (--python PROGRAM)\n",
               options.python.c_str(), std::strerror(errno));
  return kExitCallFailed;
}

}  // namespace

Command AddConvert(CLI::App& attend) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App& command =
      *attend.add_subcommand("convert",
                             "Write model.safetensors for a pytorch_model.bin "
                             "that the server cannot read");
  command.footer(
      "Needs Python 3.9 or later with the packages torch (2.6 or later) and "
      "safetensors, but no\nserver. Code in a pickle is never executed. "
      "Existing files are unchanged.");
  command.add_option("directory", options->directory, "Directory of the model")
      ->required();
  command.add_option("--python", options->python, "Python interpreter to use")
      ->envname("ATTEND_PYTHON")
      ->type_name("PROGRAM")
      ->capture_default_str();
  return {&command, [options] { return RunConvert(*options); }};
}

}  // namespace attend
