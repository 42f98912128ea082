#ifndef ATTEND_CLIENT_CPP_CLI_DOCUMENT_OPTIONS_H_
#define ATTEND_CLIENT_CPP_CLI_DOCUMENT_OPTIONS_H_

#include <string>

#include "absl/status/status.h"
#include "attend/v1/attend.pb.h"
#include "client/cpp/cli/common_options.h"

namespace CLI {
class App;
}

namespace attend {

// A document to translate as a whole.
struct DocumentOptions {
  std::string file;      // empty: there is none; "-": standard input
  std::string format;    // empty: as the name of the file says
  std::string glossary;  // a file of terms; empty: none
};

// Adds --document, --format and --glossary.
void AddDocument(CLI::App& app, DocumentOptions& options);

// Translates the document and prints the translation, or with --json the whole
// answer. `generate` has the parameters and languages. Returns the exit code.
int TranslateDocument(const ConnectionOptions& connection, bool json,
                      const v1::GenerateRequest& generate,
                      const DocumentOptions& options);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_DOCUMENT_OPTIONS_H_
