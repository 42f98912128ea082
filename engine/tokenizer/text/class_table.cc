#include "engine/tokenizer/text/class_table.h"

#include <map>
#include <string>

namespace attend {
namespace {

using Json = nlohmann::json;

std::map<std::string, Json, std::less<>> ReadRows() {
  std::map<std::string, Json, std::less<>> rows;
  for (const char* table : {kByteLevelClasses, kPieceClasses,
                            kPieceMergeClasses, kWordPieceClasses}) {
    for (const Json& own : Json::parse(table)) {
      Json row = own;
      if (own.contains("like")) {
        row = rows.at(own["like"].get<std::string>());
        row.update(own);
      }
      for (const Json& name : row["names"]) rows[name.get<std::string>()] = row;
    }
  }
  return rows;
}

}  // namespace

const Json* FindClassRow(absl::string_view tokenizer_class) {
  static const auto* rows =
      new std::map<std::string, Json, std::less<>>(ReadRows());
  const auto found = rows->find(tokenizer_class);
  return found == rows->end() ? nullptr : &found->second;
}

}  // namespace attend
