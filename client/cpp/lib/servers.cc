#include "client/cpp/lib/servers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/lib/affinity.h"
#include "client/cpp/lib/ring.h"
#include "client/cpp/lib/target.h"

namespace attend {
namespace {

// While a server is lost, names are looked up this often.
constexpr std::chrono::seconds kLookUpPause(5);

std::vector<std::string> Sorted(std::vector<std::string> addresses) {
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()),
                  addresses.end());
  return addresses;
}

}  // namespace

ServerConnection::ServerConnection(const std::shared_ptr<grpc::Channel>& opened)
    : channel(opened),
      attend(v1::Attend::NewStub(channel)),
      admin(v1::Admin::NewStub(channel)),
      unary(channel) {}

struct Servers::Table {
  std::vector<std::string> addresses;
  std::vector<std::shared_ptr<ServerConnection>> connections;  // one for each
  Ring ring;
};

Servers::Servers(const ClientOptions& options)
    : options_(options), addresses_(AddressesOf(options)) {
  if (options.affinity == 0) {
    const auto all = std::make_shared<ServerConnection>(OpenChannel(options));
    table_ = std::make_shared<Table>(Table{addresses_, {all}, Ring({})});
    return;
  }
  const std::vector<std::string> found = Sorted(LookUp(addresses_));
  has_names_ = found != Sorted(addresses_);
  table_ = MakeTable(found.empty() ? std::vector{addresses_[0]} : found);
}

Servers::~Servers() {
  if (look_up_.joinable()) look_up_.join();
}

std::shared_ptr<const Servers::Table> Servers::MakeTable(
    const std::vector<std::string>& addresses, const Table* known) const {
  std::map<std::string, std::shared_ptr<ServerConnection>> open;
  for (size_t i = 0; known != nullptr && i < known->addresses.size(); ++i) {
    open.emplace(known->addresses[i], known->connections[i]);
  }
  std::vector<std::shared_ptr<ServerConnection>> connections;
  for (const std::string& address : addresses) {
    std::shared_ptr<ServerConnection>& connection = open[address];
    if (connection == nullptr) {
      connection = std::make_shared<ServerConnection>(
          OpenChannel(options_, address, /*name=*/addresses_[0]));
    }
    connections.push_back(connection);
  }
  return std::make_shared<Table>(
      Table{addresses, std::move(connections), Ring(addresses)});
}

std::shared_ptr<const Servers::Table> Servers::table() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return table_;
}

std::shared_ptr<ServerConnection> Servers::For(const std::string& key,
                                               grpc::ClientContext& context) {
  if (!key.empty()) context.AddMetadata(kAffinityHeader, key);
  return Find(key);
}

std::shared_ptr<ServerConnection> Servers::Find(const std::string& key) {
  const std::shared_ptr<const Table> known = table();
  if (options_.affinity == 0) return known->connections[0];
  bool is_lost = false;
  // One that is being connected to will be waited for.
  const auto is_good = [&](size_t server) {
    const bool failing =
        known->connections[server]->channel->GetState(
            /*try_to_connect=*/true) == GRPC_CHANNEL_TRANSIENT_FAILURE;
    is_lost = is_lost || failing;
    return !failing;
  };
  const size_t found = known->ring.Find(
      key.empty() ? absl::StrCat(calls_without_key_++) : key, is_good);
  if (is_lost && has_names_) LookUpAgain();
  return known->connections[found];
}

void Servers::LookUpAgain() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (looking_up_ || now < next_look_up_) return;
  looking_up_ = true;
  next_look_up_ = now + kLookUpPause;
  if (look_up_.joinable()) look_up_.join();  // has ended
  look_up_ = std::thread([this] {
    const std::vector<std::string> found = Sorted(LookUp(addresses_));
    const std::shared_ptr<const Table> known = table();
    const bool is_new = !found.empty() && found != known->addresses;
    const auto made = is_new ? MakeTable(found, known.get()) : known;
    const std::lock_guard<std::mutex> done(mutex_);
    table_ = made;
    looking_up_ = false;
  });
}

}  // namespace attend
