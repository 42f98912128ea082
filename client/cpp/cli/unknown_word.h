#ifndef ATTEND_CLIENT_CPP_CLI_UNKNOWN_WORD_H_
#define ATTEND_CLIENT_CPP_CLI_UNKNOWN_WORD_H_

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace attend {

// What is wrong with a command line that `attend` could not parse because of a
// word that it does not know: "unknown command 'transalte'; did you mean
// translate?". Empty if `error` is another.
std::string UnknownWord(const CLI::App& attend, const CLI::ParseError& error);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_UNKNOWN_WORD_H_
