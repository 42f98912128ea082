#ifndef ATTEND_TESTS_SUPPORT_LIMIT_CASES_H_
#define ATTEND_TESTS_SUPPORT_LIMIT_CASES_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/api/generation_limits.h"

namespace attend {

// A value at, or next to, a limit in the tables of generation_limits.h, in each
// form in which parameters come. Other fields that this one needs are set too.
struct LimitCase {
  GenerationParams params;
  // The same in words: name and number.
  std::vector<std::pair<std::string, std::string>> fields;
  bool allowed;
  bool in_file;  // of the row
  const std::string& name() const { return fields.back().first; }
};

namespace limit_cases {

inline std::string Text(int value) { return absl::StrCat(value); }
inline std::string Text(float value) { return absl::StrFormat("%.9g", value); }

template <class T>
void Add(const FieldLimits<T>& row, T value, std::vector<LimitCase>& cases) {
  LimitCase c;
  // The largest lengths and widths, on which the limits of other fields depend.
  for (const FieldLimits<int>& other : kIntLimits) {
    if (other.field != &GenerationParams::max_new_tokens &&
        other.field != &GenerationParams::num_beams) {
      continue;
    }
    c.params.*other.field = other.highest;
    if (other.name == std::string(row.name)) continue;
    c.fields.emplace_back(other.name, Text(other.highest));
  }
  c.params.*row.field = value;
  c.fields.emplace_back(row.name, Text(value));
  // Computed here, not by FieldLimits::Allow().
  c.allowed = row.above_lowest ? value > row.lowest && value <= row.highest
                               : value >= row.lowest && value <= row.highest;
  c.in_file = row.in_file;
  cases.push_back(std::move(c));
}

}  // namespace limit_cases

// For every row of the tables: values below, at and above both limits.
inline std::vector<LimitCase> LimitCases() {
  std::vector<LimitCase> cases;
  for (const FieldLimits<int>& row : kIntLimits) {
    for (const int64_t limit : {row.lowest, row.highest}) {
      for (const int64_t value : {limit - 1, limit, limit + 1}) {
        if (value > std::numeric_limits<int>::max()) continue;
        limit_cases::Add(row, static_cast<int>(value), cases);
      }
    }
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const FieldLimits<float>& row : kFloatLimits) {
    for (const float limit : {row.lowest, row.highest}) {
      for (const float value : {std::nextafter(limit, -kInfinity), limit,
                                std::nextafter(limit, kInfinity)}) {
        limit_cases::Add(row, value, cases);
      }
    }
  }
  return cases;
}

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_LIMIT_CASES_H_
