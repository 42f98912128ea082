#ifndef ATTEND_SERVER_TLS_CERTIFICATE_NAMES_H_
#define ATTEND_SERVER_TLS_CERTIFICATE_NAMES_H_

#include <openssl/types.h>

#include <string>
#include <vector>

namespace attend {

// The names in a certificate: its subject alternative names (DNS, URI, email),
// or without those its common name.
std::vector<std::string> CertificateNames(const X509& certificate);

}  // namespace attend

#endif  // ATTEND_SERVER_TLS_CERTIFICATE_NAMES_H_
