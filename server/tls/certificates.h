#ifndef ATTEND_SERVER_TLS_CERTIFICATES_H_
#define ATTEND_SERVER_TLS_CERTIFICATES_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/tensor/mutex.h"
#include "server/tls/tls_files.h"
#include "server/tls/tls_options.h"

namespace attend {

// Notifications of Certificates about their files. Called by Load(), later by
// the thread of the Certificates; never two calls at once.
struct CertificateEvents {
  // New connections are served with these from now on.
  std::function<void(const TlsFiles&)> on_served;
  // The files have changed, and cannot be served; the earlier certificates stay
  // in use. Called once for each change of the files.
  std::function<void(const absl::Status&)> on_refused;
};

struct CertificateWatch {
  // The time between two looks at the files. A change counts when two
  // successive looks see the same contents, so that files are not taken while
  // somebody is writing them, and a new certificate is not taken before its
  // key. Higher: new files are served later.
  absl::Duration interval = absl::Seconds(2);
  // The clock; tests replace it.
  std::function<absl::Time()> now = absl::Now;
};

// The certificates with which the ports serve. A thread compares the contents
// of the files again and again. Thus it makes no difference whether somebody
// changes a link, renames a file or writes a file in place. Thread-safe.
class Certificates {
 public:
  // `options` must be enabled() and valid. Errors: those of ReadPemTexts() and
  // CheckPemTexts().
  static absl::StatusOr<std::unique_ptr<Certificates>> Load(
      const TlsOptions& options, CertificateEvents events,
      CertificateWatch watch = {});
  ~Certificates();
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  const TlsOptions& options() const { return options_; }
  // The certificates for a connection that comes now. Another object after a
  // change. Never null.
  std::shared_ptr<const TlsFiles> current() const;
  // Makes the thread look at the files soon, and take them as they are then.
  // The events are called even if the files are the same.
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
  absl::StatusOr<PemTexts> taken_;  // last reported by the events

  mutable Mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const TlsFiles> current_ ABSL_GUARDED_BY(mutex_);
  Next asked_ ABSL_GUARDED_BY(mutex_) = Next::kLook;
  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_TLS_CERTIFICATES_H_
