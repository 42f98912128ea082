#include "server/tls/certificates.h"

#include <gmock/gmock.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/certificate_files.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

// What has been told, in order: the certificates that are served, and errors.
class Told {
 public:
  CertificateEvents events() {
    return {.on_served = [this](const TlsFiles& files) { Add(files.pem.cert); },
            .on_refused =
                [this](const absl::Status& status) {
                  Add(std::string(status.message()));
                }};
  }
  // Waits for the next event; a minute, which only a hang takes.
  std::string Next() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::minutes(1),
                      [&] { return told_.size() > heard_; });
    return told_.size() > heard_ ? told_[heard_++] : "";
  }
  // Waits for that event, whatever comes before.
  bool Tells(const std::string& event) {
    for (std::string next = Next(); !next.empty(); next = Next()) {
      if (next == event) return true;
    }
    return false;
  }
  size_t size() {
    std::lock_guard lock(mutex_);
    return told_.size();
  }

 private:
  void Add(std::string event) {
    std::lock_guard lock(mutex_);
    told_.push_back(std::move(event));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;
  size_t heard_ = 0;
};

class CertificatesTest : public testing::Test {
 protected:
  CertificatesTest() {
    for (const char* name : {"a", "b", "c"}) files_.MakeCa(name);
    files_.Run("cp a.crt crt; cp a.key key");
  }
  std::unique_ptr<Certificates> Load(absl::Duration interval) {
    auto loaded = Certificates::Load(
        {.cert = files_.Path("crt"), .key = files_.Path("key")}, told_.events(),
        {.interval = interval});
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded.ok() ? *std::move(loaded) : nullptr;
  }

  const CertificateFiles files_;
  Told told_;
};

TEST_F(CertificatesTest, ServesNewFilesHoweverTheyCome) {
  const auto certificates = Load(absl::Milliseconds(1));
  EXPECT_EQ(told_.Next(), files_.Text("a.crt"));
  files_.Overwrite("b.crt", "crt");
  files_.Overwrite("b.key", "key");
  EXPECT_TRUE(told_.Tells(files_.Text("b.crt")));
  EXPECT_EQ(certificates->current()->pem.key, files_.Text("b.key"));
  // As Kubernetes does: a link to another directory.
  files_.Run("mkdir 1 2; cp c.crt 1/crt; cp c.key 1/key; ln -s 1 data");
  files_.Run("ln -sf data/crt crt; ln -sf data/key key");
  EXPECT_TRUE(told_.Tells(files_.Text("c.crt")));
  files_.Run("cp a.crt 2/crt; cp a.key 2/key; ln -s 2 new; mv -T new data");
  EXPECT_EQ(told_.Next(), files_.Text("a.crt"));
}

TEST_F(CertificatesTest, BadFilesAreToldOnceAndTheOldOnesStay) {
  const auto certificates = Load(absl::Milliseconds(1));
  const auto before = certificates->current();
  told_.Next();
  files_.Rename("b.key", "key");
  EXPECT_THAT(told_.Next(), HasSubstr(files_.Path("key") + ": the key does"));
  files_.Run("rm crt");
  EXPECT_THAT(told_.Next(), HasSubstr(files_.Path("crt") + ": no such file"));
  EXPECT_EQ(certificates->current(), before);
  files_.Rename("a.key", "key");
  files_.Rename("a.crt", "crt");
  EXPECT_EQ(told_.Next(), files_.Text("a.crt"));  // all is well again
}

TEST_F(CertificatesTest, LooksAtOnceWhenItIsAsked) {
  const auto certificates = Load(absl::Hours(1));
  told_.Next();
  files_.Rename("b.crt", "crt");
  for (int i = 0; i < 2; ++i) {  // who asks is answered
    certificates->LookNow();
    EXPECT_THAT(told_.Next(), HasSubstr("does not belong"));
  }
  files_.Rename("b.key", "key");
  certificates->LookNow();
  EXPECT_EQ(told_.Next(), files_.Text("b.crt"));
}

TEST_F(CertificatesTest, BadFilesAtTheStartAreAnError) {
  files_.Run("rm key");
  const auto loaded = Certificates::Load(
      {.cert = files_.Path("crt"), .key = files_.Path("key")}, told_.events());
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(told_.size(), 0);
}

}  // namespace
}  // namespace attend
