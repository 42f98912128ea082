#ifndef ATTEND_TESTS_SUPPORT_CERTIFICATE_FILES_H_
#define ATTEND_TESTS_SUPPORT_CERTIFICATE_FILES_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"

namespace attend {

// Certificates and keys that the program openssl makes, in a directory of their
// own: NAME.crt and NAME.key.
class CertificateFiles {
 public:
  CertificateFiles() {
    std::string name = testing::TempDir() + "tls_XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~CertificateFiles() { std::filesystem::remove_all(directory_); }
  CertificateFiles(const CertificateFiles&) = delete;

  std::string Path(const std::string& file) const {
    return (directory_ / file).string();
  }
  std::string Text(const std::string& file) const {
    std::ifstream in(directory_ / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // A command of the shell, in the directory; false: it failed.
  bool Try(const std::string& command) const {
    const std::string shell = absl::StrCat("cd ", directory_.string(), " && (",
                                           command, ") >log 2>&1");
    return std::system(shell.c_str()) == 0;
  }
  void Run(const std::string& command) const {
    ASSERT_TRUE(Try(command)) << command << "\n" << Text("log");
  }

  // Signed by itself, and a CA.
  void MakeCa(const std::string& name,
              const std::string& more = "-days 90") const {
    Run(absl::StrCat("openssl req -x509 -subj /CN=", name, kNewKey, name,
                     ".key -out ", name, ".crt ", more));
  }
  // Of that CA, for this machine.
  void MakeSigned(const std::string& name, const std::string& ca,
                  const std::string& more = "-days 90") const {
    Run(absl::StrCat(
        "openssl req -subj /CN=", name, kNewKey, name, ".key -out ", name,
        ".csr -addext subjectAltName=DNS:localhost,IP:127.0.0.1 ",
        "&& openssl x509 -req -in ", name, ".csr -CA ", ca, ".crt -CAkey ", ca,
        ".key -copy_extensions copy -out ", name, ".crt ", more));
  }

  // Of that CA, for a client with these subject alternative names, or none.
  void MakeClient(const std::string& name, const std::string& ca,
                  const std::string& alternatives) const {
    Run(absl::StrCat(
        "openssl req -subj /CN=", name, kNewKey, name, ".key -out ", name,
        ".csr ",
        alternatives.empty() ? "" : "-addext subjectAltName=" + alternatives,
        " && openssl x509 -req -in ", name, ".csr -CA ", ca, ".crt -CAkey ", ca,
        ".key -copy_extensions copy -days 90 -out ", name, ".crt"));
  }

  // `to` is another file at once: nobody sees a part of it.
  void Rename(const std::string& from, const std::string& to) const {
    std::filesystem::copy_file(
        directory_ / from, directory_ / "renamed",
        std::filesystem::copy_options::overwrite_existing);
    std::filesystem::rename(directory_ / "renamed", directory_ / to);
  }
  // `to` is emptied, then written.
  void Overwrite(const std::string& from, const std::string& to) const {
    const std::string text = Text(from);
    std::ofstream(directory_ / to, std::ios::binary) << text;
  }

 private:
  static constexpr char kNewKey[] =
      " -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ";

  std::filesystem::path directory_;
};

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_CERTIFICATE_FILES_H_
