#include "server/app/port_option_list.h"

namespace attend {
namespace {

void AddPage(OptionParser& parser, bool& page) {
  parser.Add("page", page,
             "Serve a web page on the HTTP port, at /: the models, live "
             "charts, and a playground.");
}

void AddPorts(OptionParser& parser, RpcOptions& rpc, HttpOptions& http) {
  parser.Add("host", rpc.host, "Address that the gRPC port listens on.");
  parser.Add("port", rpc.port,
             "gRPC port. 0: any free port, which the log names.");
  parser.Add(
      "http-host", http.host,
      "Address or name that the HTTP port listens on. A name: all of its "
      "addresses. 0.0.0.0 and :: are all addresses of IPv4 and IPv6.");
  parser.Add("http-port", http.port,
             "Port of the HTTP APIs, and of /metrics, /livez and /readyz. 0: "
             "any free port.");
  parser.Add(
      "http-max-connections", http.max_connections,
      "Maximum number of connections of the HTTP port. A further connection "
      "replaces the one that has waited longest for its client. Higher: more "
      "memory and file descriptors. The HTTP port gets at most a quarter of "
      "the file descriptors. At most seven eighths may be running calls.");
  parser.Add(
      "http-allowed-host", http.allowed_hosts,
      "Allowed values of the header Host on the HTTP port, separated by "
      "commas: names, addresses, *.example.com, or * for all. Addresses, "
      "localhost, the server's own names and names outside the public DNS are "
      "always allowed. Empty: with neither --tenants nor --http-tls, only "
      "requests from the same machine are checked (docs/security.md).");
  parser.Add("http-idle-timeout", http.idle_timeout,
             "Idle time between two requests after which the HTTP port closes "
             "a connection. Set it longer than that of a proxy in front, so "
             "the proxy never sends on a connection that is closing. Higher: "
             "idle clients hold connections longer.");
  parser.Add("http-stream-keepalive", http.stream_keepalive,
             "Idle time after which a stream of server-sent events sends a "
             "comment, which clients skip. 0: never. Higher: proxies that cut "
             "silent connections cut streams with slow tokens.");
  parser.Add("http-cors-origins", http.cors_origins,
             "Origins of web pages whose scripts may read answers of the HTTP "
             "port, such as https://app.example, separated by commas, or * for "
             "all. Empty: only the server's own page.");
}

void AddTls(OptionParser& parser, TlsOptions& o, HttpOptions& http) {
  parser.Add("tls-cert", o.cert,
             "PEM file of the certificate chain of the gRPC port. Empty: no "
             "TLS. The files of this option and the next two are reloaded when "
             "they change, and on SIGHUP.");
  parser.Add("tls-key", o.key, "PEM file of the private key.");
  parser.Add(
      "tls-client-ca", o.client_ca,
      "PEM file of the CAs that sign the certificates of clients. Empty: "
      "clients need no certificate.");
  parser.Add("tls-client-auth", o.client_auth,
             "With --tls-client-ca. require (the default): clients need a "
             "certificate, and calls over HTTP --http-tls. optional: clients "
             "without a certificate may call too.");
  parser.Add("http-tls", http.tls,
             "Also serve the HTTP port with TLS, with the same certificate. "
             "Calls need a certificate as on the gRPC port, probes do not. A "
             "connection then takes about 100 KB.");
}

}  // namespace

void AddPortOptions(OptionParser& parser, ServerOptions& o) {
  AddPorts(parser, o.rpc, o.http);
  AddPage(parser, o.page);
  AddTls(parser, o.tls, o.http);
}

}  // namespace attend
