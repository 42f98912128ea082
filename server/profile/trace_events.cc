#include "server/profile/trace_events.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace attend {
namespace {

// A name may have any bytes: threads' names are the system's.
std::string Quoted(absl::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/true,
                                   nlohmann::json::error_handler_t::replace);
}

// Empty: the thread has ended.
std::string NameOf(int thread) {
  std::ifstream file(absl::StrCat("/proc/self/task/", thread, "/comm"));
  std::string name;
  std::getline(file, name);
  return name;
}

// Nanoseconds as microseconds.
std::string Micros(int64_t nanos) {
  return absl::StrCat(nanos / 1000, ".",
                      absl::Dec(nanos % 1000, absl::kZeroPad3));
}

class TraceWriter {
 public:
  TraceWriter(const TraceFacts& facts, int64_t dropped)
      : facts_(facts),
        text_(absl::StrCat(R"({"displayTimeUnit":"ns","otherData":{"version":)",
                           Quoted(facts_.version), R"(,"duration_us":)",
                           Micros(facts_.end - facts_.begin),
                           R"(,"dropped_events":)", dropped,
                           R"(},"traceEvents":[)")) {}

  void Add(int thread, const OpTime& op) {
    threads_.insert(thread);
    const int64_t begin = std::max<int64_t>(op.begin - facts_.begin, 0);
    const int64_t end = std::max(op.end - facts_.begin, begin);
    Begin("X", thread, begin, op.name);
    absl::StrAppend(&text_, ",\"dur\":", Micros(end - begin));
    End(op);
  }

  std::string Finish() {
    AddName("process_name", getpid(), "attend-server");
    for (const int thread : threads_) {
      AddName("thread_name", thread, NameOf(thread));
    }
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  void Begin(const char* phase, int thread, int64_t begin, const char* name) {
    absl::StrAppend(&text_, text_.back() == '[' ? "\n" : ",\n", "{\"ph\":\"",
                    phase, "\",\"pid\":", getpid(), ",\"tid\":", thread,
                    ",\"ts\":", Micros(begin), ",\"name\":\"", name, "\"");
  }
  void End(const OpTime& op) {
    bool any = false;
    const auto add = [&](const char* name, int value, int none) {
      if (value == none) return;
      absl::StrAppend(&text_, any ? "," : R"(,"args":{)", "\"", name,
                      "\":", value);
      any = true;
    };
    add("rows", op.rows, 0);
    add("columns", op.columns, 0);
    add("sequences", op.sequences, 0);
    add("layer", op.layer, -1);
    text_ += any ? "}}" : "}";
  }
  void AddName(const char* what, int thread, const std::string& name) {
    if (name.empty()) return;
    Begin("M", thread, 0, what);
    absl::StrAppend(&text_, ",\"args\":{\"name\":", Quoted(name), "}}");
  }

  const TraceFacts facts_;
  std::string text_;  // so far
  std::set<int> threads_;
};

}  // namespace

std::string TraceEvents(const ProfileBuffer& buffer, const TraceFacts& facts) {
  TraceWriter writer(facts, buffer.dropped());
  buffer.ForEach([&](int thread, const OpTime& op) { writer.Add(thread, op); });
  return writer.Finish();
}

}  // namespace attend
