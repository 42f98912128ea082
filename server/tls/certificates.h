#ifndef ATTEND_SERVER_TLS_CERTIFICATES_H_
#define ATTEND_SERVER_TLS_CERTIFICATES_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/tls/tls_files.h"
#include "server/tls/tls_options.h"

namespace attend {

// What became of the files. Called from Load(), then from a thread of the
// Certificates, one at a time.
struct CertificateEvents {
  // New connections are served with these from now on.
  std::function<void(const TlsFiles&)> on_served;
  // The files are others now, and cannot be served: those before go on. Once,
  // not again and again for the same files.
  std::function<void(const absl::Status&)> on_refused;
};

struct CertificateWatch {
  // How often the files are looked at. A change counts when two looks in a row
  // see the same, so that files are not taken while they are written, nor one
  // before the other. Higher: new files are served later.
  absl::Duration interval = absl::Seconds(2);
  // Tests replace it.
  std::function<absl::Time()> now = absl::Now;
};

// The certificates that the ports serve with. A thread looks at the files, by
// what is in them: links that are changed, renamed files and files that are
// written in place are all the same. Thread-safe.
class Certificates {
 public:
  // `options` are enabled and valid. The errors of CheckPemTexts().
  static absl::StatusOr<std::unique_ptr<Certificates>> Load(
      const TlsOptions& options, CertificateEvents events,
      CertificateWatch watch = {});
  ~Certificates();
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  const TlsOptions& options() const { return options_; }
  // What a connection that comes now is served with; another object when that
  // has changed. Never null.
  std::shared_ptr<const TlsFiles> current() const;
  // Has the files looked at soon, and taken as they are then; the events tell
  // of them even if they are the same.
  void LookNow();

 private:
  enum class Next { kLook, kTake, kStop };

  Certificates(const TlsOptions& options, CertificateEvents events,
               CertificateWatch watch);
  void RunThread();
  Next Wait();
  void Look(bool take);
  absl::Status Take(const absl::StatusOr<PemTexts>& texts);

  const TlsOptions options_;
  const CertificateEvents events_;
  const CertificateWatch watch_;

  // The thread's own, and Load()'s before there is one.
  absl::StatusOr<PemTexts> seen_;   // at the last look
  absl::StatusOr<PemTexts> taken_;  // of which the events have told

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const TlsFiles> current_;  // guarded by mutex_
  Next asked_ = Next::kLook;                 // guarded by mutex_
  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_TLS_CERTIFICATES_H_
