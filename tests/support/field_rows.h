#ifndef ATTEND_TESTS_SUPPORT_FIELD_ROWS_H_
#define ATTEND_TESTS_SUPPORT_FIELD_ROWS_H_

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace attend {

// Returns the rows of tests/field/`kind`.json: inputs from users' reports with
// the right results (see tests/field/README.md). Ends the program if the file
// cannot be read or has no row, so that a test of rows cannot pass without one.
std::vector<nlohmann::json> FieldRows(std::string_view kind);

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_FIELD_ROWS_H_
