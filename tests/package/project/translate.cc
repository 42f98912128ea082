// translate ADDRESS TEXT: prints the text's translation.

#include <cstdio>

#include "attend/v1/attend.pb.h"
#include "client/cpp/lib/client.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  attend::Client client({.address = argv[1]});
  attend::v1::GenerateRequest request;
  request.add_inputs()->set_text(argv[2]);
  const auto response = client.Generate(request);
  if (!response.ok()) {
    std::fprintf(stderr, "%s\n", response.status().ToString().c_str());
    return 1;
  }
  std::printf("%s\n", response->results(0).choices(0).text().c_str());
  return 0;
}
