#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_AUTO_CLASS_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_AUTO_CLASS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// Statements of a directory's files about the class of their tokenizer.
struct ClassNames {
  std::string model_type;       // of config.json
  std::string model_name;       // the same; "": none
  std::string config_class;     // tokenizer_class of config.json
  std::string tokenizer_class;  // that of tokenizer_config.json
  bool own_code = false;        // tokenizer_config.json has an auto_map
  bool byte_level = false;      // tokenizer.json contains "ByteLevel"
};

// Returns the class that AutoTokenizer of transformers 5.23 loads, without
// "Fast"; "TokenizersBackend" for the class that takes a tokenizer.json as it
// is. Code of the directory is never run: then the named class counts. The name
// need not be that of a class.
std::string AutoClass(const ClassNames& names);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_AUTO_CLASS_H_
