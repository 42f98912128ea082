#ifndef ATTEND_TESTS_SERVER_DOCUMENTS_READ_DOCUMENT_H_
#define ATTEND_TESTS_SERVER_DOCUMENTS_READ_DOCUMENT_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "engine/tensor/status_macros.h"
#include "server/documents/document.h"

namespace attend {

// The whole document, read in parts of `bytes` bytes.
inline absl::StatusOr<Document> ReadDocument(std::string source,
                                             DocumentOptions options,
                                             size_t bytes = 100) {
  ASSIGN_OR_RETURN(const std::unique_ptr<DocumentReader> reader,
                   DocumentReader::Open(std::move(source), std::move(options)));
  for (bool all = false; !all;) {
    ASSIGN_OR_RETURN(all, reader->Read(bytes));
  }
  return reader->Take();
}

// A model takes texts of so many bytes.
inline MeasureText MeasureBytes(int limit) {
  return [limit](absl::string_view text) {
    return static_cast<double>(text.size()) / limit;
  };
}

}  // namespace attend

#endif  // ATTEND_TESTS_SERVER_DOCUMENTS_READ_DOCUMENT_H_
