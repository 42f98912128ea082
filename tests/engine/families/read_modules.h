#ifndef ATTEND_TESTS_ENGINE_FAMILIES_READ_MODULES_H_
#define ATTEND_TESTS_ENGINE_FAMILIES_READ_MODULES_H_

#include <string>

#include "engine/families/shared/sentence_transformers.h"
#include "engine/tensor/status_macros.h"

namespace attend {

// Reads the files of sentence-transformers beside a model, whose texts take one
// route or several of the same first module.
inline absl::Status ReadSentenceModules(const std::string& directory,
                                        Family& family) {
  ASSIGN_OR_RETURN(const ModuleList modules, ReadModuleList(directory));
  return ReadSentenceTransformers(modules.groups.front(), family);
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_FAMILIES_READ_MODULES_H_
