#ifndef ATTEND_CLIENT_CPP_CLI_COMMANDS_H_
#define ATTEND_CLIENT_CPP_CLI_COMMANDS_H_

#include "client/cpp/cli/options.h"

namespace attend {

// The subcommands of `attend`. Results go to standard output, messages to
// standard error. Each returns the exit code.
int Run(const GenerateOptions& options);
int Run(const ChatOptions& options);
int Run(const ScoreOptions& options);
int Run(const EmbedOptions& options);
int Run(const ClassifyOptions& options);
int Run(const FillMaskOptions& options);
int Run(const RerankOptions& options);
int Run(const TokenizeOptions& options);
int Run(const ModelsOptions& options);
int Run(const BenchOptions& options);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_COMMANDS_H_
