#include "server/tls/certificate_names.h"

#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

#include "server/tls/pem.h"

namespace attend {
namespace {

std::string TextOf(const ASN1_STRING& text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(&text)),
          static_cast<size_t>(ASN1_STRING_length(&text))};
}

std::vector<std::string> Alternatives(const X509& certificate) {
  const std::unique_ptr<GENERAL_NAMES, FreedBy<GENERAL_NAMES_free>> all(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(
          &certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> names;
  for (const int kind : {GEN_DNS, GEN_URI, GEN_EMAIL}) {
    for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i) {
      const GENERAL_NAME& name = *sk_GENERAL_NAME_value(all.get(), i);
      if (name.type == kind) names.push_back(TextOf(*name.d.ia5));
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> CertificateNames(const X509& certificate) {
  std::vector<std::string> names = Alternatives(certificate);
  if (!names.empty()) return names;
  const X509_NAME* const subject = X509_get_subject_name(&certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return names;
  names.push_back(
      TextOf(*X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
  return names;
}

}  // namespace attend
