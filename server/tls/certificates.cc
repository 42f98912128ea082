#include "server/tls/certificates.h"

#include <utility>

#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"

namespace attend {

Certificates::Certificates(const TlsOptions& options, CertificateEvents events,
                           CertificateWatch watch)
    : options_(options), events_(std::move(events)), watch_(std::move(watch)) {}

Certificates::~Certificates() {
  {
    MutexLock lock(mutex_);
    asked_ = Next::kStop;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<std::unique_ptr<Certificates>> Certificates::Load(
    const TlsOptions& options, CertificateEvents events,
    CertificateWatch watch) {
  std::unique_ptr<Certificates> loaded(
      new Certificates(options, std::move(events), std::move(watch)));
  loaded->seen_ = loaded->taken_ = ReadPemTexts(options);
  RETURN_IF_ERROR(loaded->Take(loaded->taken_));
  loaded->thread_ = std::thread([self = loaded.get()] { self->RunThread(); });
  return loaded;
}

std::shared_ptr<const TlsFiles> Certificates::current() const {
  MutexLock lock(mutex_);
  return current_;
}

void Certificates::LookNow() {
  {
    MutexLock lock(mutex_);
    if (asked_ == Next::kLook) asked_ = Next::kTake;
  }
  changed_.notify_all();
}

void Certificates::RunThread() {
  bool again = false;  // the last look had no memory
  for (Next next = Wait(); next != Next::kStop; next = Wait()) {
    const bool take = next == Next::kTake || again;
    again = !CatchOutOfMemory([&] {
               Look(take);
               return absl::OkStatus();
             }).ok();
  }
}

Certificates::Next Certificates::Wait() {
  MutexLock lock(mutex_);
  changed_.wait_for(lock, absl::ToChronoNanoseconds(watch_.interval),
                    [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
                      return asked_ != Next::kLook;
                    });
  const Next next = asked_;
  if (next == Next::kTake) asked_ = Next::kLook;
  return next;
}

void Certificates::Look(bool take) {
  absl::StatusOr<PemTexts> texts = ReadPemTexts(options_);
  const bool settled = texts == seen_;
  seen_ = std::move(texts);
  if (!take && (!settled || seen_ == taken_)) return;
  taken_ = seen_;
  if (const absl::Status status = Take(taken_); !status.ok()) {
    events_.on_refused(status);
  }
}

absl::Status Certificates::Take(const absl::StatusOr<PemTexts>& texts) {
  RETURN_IF_ERROR(texts.status());
  ASSIGN_OR_RETURN(TlsFiles files,
                   CheckPemTexts(options_, *texts, watch_.now()));
  auto served = std::make_shared<const TlsFiles>(std::move(files));
  {
    MutexLock lock(mutex_);
    current_ = served;
  }
  events_.on_served(*served);
  return absl::OkStatus();
}

}  // namespace attend
