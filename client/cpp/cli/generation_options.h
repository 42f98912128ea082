#ifndef ATTEND_CLIENT_CPP_CLI_GENERATION_OPTIONS_H_
#define ATTEND_CLIENT_CPP_CLI_GENERATION_OPTIONS_H_

#include "attend/v1/attend.pb.h"

namespace CLI {
class App;
}

namespace attend {

// Each function adds the options of one subject to a subcommand. The options
// fill the parameters of a request. An option that is not given leaves its
// field unset, and then the model's default counts. `params` and `request` must
// outlive the parsing.
void AddLength(CLI::App& app, v1::GenerationParams* params);
void AddBeams(CLI::App& app, v1::GenerationParams* params);
void AddSampling(CLI::App& app, v1::GenerationParams* params);
void AddPenalties(CLI::App& app, v1::GenerationParams* params);
void AddContent(CLI::App& app, v1::GenerationParams* params);
void AddConstraint(CLI::App& app, v1::GenerationParams* params);
void AddLanguages(CLI::App& app, v1::GenerateRequest& request);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_GENERATION_OPTIONS_H_
