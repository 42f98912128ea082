// The main function of a target where there is no libFuzzer: gives it its
// seeds, and inputs that are made of them.
//
//   NAME_fuzz --runs=2000 --dictionary=FILE --seeds=LIST
//   NAME_fuzz FILE...                   these inputs alone
//
// LIST has the path of a seed in each line. A run that dies has left its input
// in NAME_fuzz.input, in the current directory.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutator.h"

namespace attend {
namespace {

struct Arguments {
  int64_t runs = 0;
  std::string dictionary;  // its words
  std::vector<std::string> seeds;
};

std::string ReadAll(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  ATTEND_CHECK(stream.is_open());
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    absl::string_view word = argv[i];
    if (absl::ConsumePrefix(&word, "--runs=")) {
      ATTEND_CHECK(absl::SimpleAtoi(word, &arguments.runs));
    } else if (absl::ConsumePrefix(&word, "--dictionary=")) {
      arguments.dictionary = ReadAll(std::string(word));
    } else if (absl::ConsumePrefix(&word, "--seeds=")) {
      const std::string list = ReadAll(std::string(word));
      for (absl::string_view path :
           absl::StrSplit(list, '\n', absl::SkipEmpty())) {
        arguments.seeds.push_back(ReadAll(std::string(path)));
      }
    } else {
      arguments.seeds.push_back(ReadAll(argv[i]));
    }
  }
  return arguments;
}

// Where the input of a run stays if the run dies. One open file: one that is
// written anew each time would be flushed to the disk each time.
class LastInput {
 public:
  explicit LastInput(const std::string& path)
      : path_(path),
        file_(
            open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    ATTEND_CHECK(file_ >= 0);
  }
  ~LastInput() {
    close(file_);
    std::filesystem::remove(path_);
  }
  LastInput(const LastInput&) = delete;
  LastInput& operator=(const LastInput&) = delete;

  void Set(const std::string& input) {
    ATTEND_CHECK(ftruncate(file_, 0) == 0);
    ATTEND_CHECK(pwrite(file_, input.data(), input.size(), 0) ==
                 static_cast<ssize_t>(input.size()));
  }

 private:
  const std::string path_;
  const int file_;
};

void Run(const std::string& input, LastInput& last) {
  last.Set(input);
  // Where an end of the input is not seen, AddressSanitizer sees it.
  const std::vector<uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

int Main(int argc, char** argv) {
  const Arguments arguments = Parse(argc, argv);
  const std::string name = std::filesystem::path(argv[0]).filename();
  LastInput last(name + ".input");
  for (const std::string& seed : arguments.seeds) Run(seed, last);
  const int64_t accepted = accepted_inputs;
  if (arguments.runs > 0) {
    // Else nothing has been tried but the first check.
    ATTEND_CHECK(accepted > 0);
    Mutator mutator(arguments.seeds, ParseDictionary(arguments.dictionary));
    for (int64_t i = 0; i < arguments.runs; ++i) Run(mutator.Next(), last);
  }
  std::printf("%s: %zu seeds, %d accepted; %d mutations, %d accepted\n",
              name.c_str(), arguments.seeds.size(), static_cast<int>(accepted),
              static_cast<int>(arguments.runs),
              static_cast<int>(accepted_inputs - accepted));
  return 0;
}

}  // namespace
}  // namespace attend

int main(int argc, char** argv) { return attend::Main(argc, argv); }
