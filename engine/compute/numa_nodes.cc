#include "engine/compute/numa_nodes.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/compute/cgroups.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

// Parses a list in the kernel's format, "0-3,8", of integers below CPU_SETSIZE.
// Returns an empty list for anything else.
std::vector<int> ReadList(const std::string& path) {
  std::vector<int> numbers;
  const std::string line = ReadLine(path);
  for (const absl::string_view part :
       absl::StrSplit(line, ',', absl::SkipWhitespace())) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(part, absl::MaxSplits('-', 1));
    int first = 0;
    if (!absl::SimpleAtoi(ends.first, &first)) return {};
    int last = first;
    if (!ends.second.empty() && !absl::SimpleAtoi(ends.second, &last)) {
      return {};
    }
    if (first < 0 || last >= CPU_SETSIZE) return {};
    for (int number = first; number <= last; ++number) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

}  // namespace

NumaNodes::NumaNodes(std::vector<cpu_set_t> nodes) : nodes_(std::move(nodes)) {
  for (const cpu_set_t& cpus : nodes_) ATTEND_CHECK(CPU_COUNT(&cpus) > 0);
  if (nodes_.size() < 2 || nodes_.size() > kMost) nodes_.clear();
}

NumaNodes NumaNodes::Find(const std::string& root) {
  const std::string directory = root + "/sys/devices/system/node";
  cpu_set_t allowed;
  // More CPUs than a cpu_set_t has: the system refuses.
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
  std::vector<cpu_set_t> nodes;
  for (const int node : ReadList(directory + "/online")) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (const int cpu :
         ReadList(absl::StrCat(directory, "/node", node, "/cpulist"))) {
      if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &cpus);
    }
    // Some nodes are memory only.
    if (CPU_COUNT(&cpus) > 0) nodes.push_back(cpus);
  }
  return NumaNodes(std::move(nodes));
}

int NumaNodes::cpus() const {
  int count = 0;
  for (const cpu_set_t& cpus : nodes_) count += CPU_COUNT(&cpus);
  return count;
}

int NumaNodes::NodeOf(int member, int members) const {
  ATTEND_CHECK(0 <= member && member < members);
  if (nodes_.empty()) return 0;
  // The member stands for this CPU, if they are counted node by node.
  int cpu = static_cast<int>(int64_t{member} * cpus() / members);
  int node = 0;
  while (cpu >= CPU_COUNT(&nodes_[node])) cpu -= CPU_COUNT(&nodes_[node++]);
  return node;
}

void NumaNodes::Enter(int node) const {
  if (nodes_.empty()) return;
  sched_setaffinity(0, sizeof nodes_[node], &nodes_[node]);
}

OnNode::OnNode(const NumaNodes& nodes, int node)
    : entered_(nodes.size() > 1 &&
               sched_getaffinity(0, sizeof before_, &before_) == 0) {
  if (entered_) nodes.Enter(node);
}

OnNode::~OnNode() {
  if (entered_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace attend
