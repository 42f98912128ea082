#ifndef ATTEND_CLIENT_CPP_CLI_ENCODER_OPTIONS_H_
#define ATTEND_CLIENT_CPP_CLI_ENCODER_OPTIONS_H_

#include "client/cpp/cli/options.h"

namespace CLI {
class App;
}

namespace attend {

// The subcommands for what encoders do. `options` must outlive the parsing.
void AddEmbed(CLI::App& app, EmbedOptions& options);
void AddClassify(CLI::App& app, ClassifyOptions& options);
void AddFillMask(CLI::App& app, FillMaskOptions& options);
void AddRerank(CLI::App& app, RerankOptions& options);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_ENCODER_OPTIONS_H_
