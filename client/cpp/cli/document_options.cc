#include "client/cpp/cli/document_options.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/errors.h"
#include "client/cpp/cli/input_lines.h"
#include "client/cpp/cli/messages.h"
#include "client/cpp/cli/output.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

absl::StatusOr<std::string> ReadAll(const std::string& file) {
  std::ifstream stream;
  if (file != "-") {
    const absl::Status opened = OpenFile(file, stream);
    if (!opened.ok()) return opened;
  }
  std::istream& in = file == "-" ? std::cin : stream;
  std::string text(std::istreambuf_iterator<char>(in), {});
  return text;
}

v1::DocumentFormat FormatOf(const DocumentOptions& options) {
  std::string format = options.format;
  if (format.empty()) {
    format = options.file.substr(options.file.rfind('.') + 1);
  }
  if (absl::EqualsIgnoreCase(format, "html") ||
      absl::EqualsIgnoreCase(format, "htm")) {
    return v1::DOCUMENT_FORMAT_HTML;
  }
  if (absl::EqualsIgnoreCase(format, "markdown") ||
      absl::EqualsIgnoreCase(format, "md")) {
    return v1::DOCUMENT_FORMAT_MARKDOWN;
  }
  return absl::EqualsIgnoreCase(format, "xml") ||
                 absl::EqualsIgnoreCase(format, "xhtml")
             ? v1::DOCUMENT_FORMAT_XML
             : v1::DOCUMENT_FORMAT_TEXT;
}

absl::Status AddTerms(const std::string& file, v1::TranslateRequest& request) {
  if (file.empty()) return absl::OkStatus();
  const auto lines = ReadLines(file);
  if (!lines.ok()) return lines.status();
  for (size_t i = 0; i < lines->size(); ++i) {
    const std::string& line = (*lines)[i];
    if (line.empty()) continue;
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat(
          file, ": line ", i + 1, ": no tab between source and target"));
    }
    v1::GlossaryTerm& term = *request.add_glossary();
    term.set_source(line.substr(0, tab));
    term.set_target(line.substr(tab + 1));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Translate(const ConnectionOptions& connection,
                                      bool json,
                                      const v1::GenerateRequest& generate,
                                      const DocumentOptions& options) {
  v1::TranslateRequest request;
  absl::StatusOr<std::string> document = ReadAll(options.file);
  if (!document.ok()) return document.status();
  request.add_documents(*std::move(document));
  request.set_format(FormatOf(options));
  const absl::Status terms = AddTerms(options.glossary, request);
  if (!terms.ok()) return terms;
  request.set_model(connection.model);
  *request.mutable_params() = generate.params();
  request.set_source_language(generate.source_language());
  request.set_target_language(generate.target_language());
  request.set_priority(generate.priority());
  Client client(ToClientOptions(connection));
  const auto response = client.Translate(request);
  if (!response.ok()) return response.status();
  if (json) return ToJsonLine(response->results(0));
  return response->results(0).text();
}

}  // namespace

void AddDocument(CLI::App& app, DocumentOptions& options) {
  CLI::Option* const document = app.add_option(
      "--document", options.file,
      "Translate this file as one document, and print it with everything "
      "between its sentences unchanged; -: standard input");
  for (const char* other :
       {"arguments", "--file", "--stream", "--output", "--resume"}) {
    document->excludes(other);
  }
  app.add_option("--format", options.format,
                 "Format of the document (default: by the file's extension, "
                 "otherwise text)")
      ->check(CLI::IsMember({"text", "html", "xml", "markdown"}))
      ->needs(document);
  app.add_option("--glossary", options.glossary,
                 "File of terms with given translations; each line has a term, "
                 "a tab, and its translation")
      ->needs(document);
}

int TranslateDocument(const ConnectionOptions& connection, bool json,
                      const v1::GenerateRequest& generate,
                      const DocumentOptions& options) {
  const absl::StatusOr<std::string> translated =
      Translate(connection, json, generate, options);
  if (!translated.ok()) {
    PrintError(translated.status());
    return kExitCallFailed;
  }
  return Print(*translated) ? kExitOk : kExitCallFailed;
}

}  // namespace attend
