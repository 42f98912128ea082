#ifndef ATTEND_TESTS_ENGINE_TOKENIZER_SANDBOX_PROCESSES_H_
#define ATTEND_TESTS_ENGINE_TOKENIZER_SANDBOX_PROCESSES_H_

#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace attend {

// "123 (attend-sandbox) S 1 ...": the number of the process, its name, its
// state and its parent. Empty: there is no such process.
inline std::string ProcessStat(const std::filesystem::path& directory) {
  std::ostringstream stat;
  stat << std::ifstream(directory / "stat").rdbuf();
  return stat.str();
}

// False also if it has ended and its parent does not know yet.
inline bool Lives(pid_t process) {
  const std::string stat = ProcessStat("/proc/" + std::to_string(process));
  return stat.find(")") != stat.npos && stat.find(") Z ") == stat.npos;
}

// Processes of the Sandbox that `parent` has started.
inline std::vector<pid_t> SandboxProcesses(pid_t parent) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string stat = ProcessStat(entry.path());
    const size_t name = stat.find("(attend-sandbox) ");
    if (name != stat.npos && std::stoi(stat.substr(name + 19)) == parent) {
      found.push_back(std::stoi(stat));
    }
  }
  return found;
}

// Those that do the jobs of this process.
inline std::vector<pid_t> SandboxWorkers() {
  std::vector<pid_t> found;
  for (const pid_t starter : SandboxProcesses(getpid())) {
    for (const pid_t worker : SandboxProcesses(starter)) {
      found.push_back(worker);
    }
  }
  return found;
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_TOKENIZER_SANDBOX_PROCESSES_H_
