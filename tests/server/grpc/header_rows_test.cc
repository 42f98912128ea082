// Headers of a call, by kind: tests/field/grpc_headers.json.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/server/grpc/raw_connection.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "tests/support/field_rows.h"

namespace attend {
namespace {

constexpr char kListModels[] = "/attend.v1.Attend/ListModels";
constexpr char kToTable = '\x40';  // a literal that goes into the table
constexpr char kNewest = '\xbe';   // the newest entry of the table

std::string Repeated(const std::string& text, int times) {
  std::string repeated;
  for (int i = 0; i < times; ++i) repeated += text;
  return repeated;
}

// Those that the row adds.
std::string AddedHeaders(const nlohmann::json& row) {
  std::string block;
  for (const nlohmann::json& header : row.at("headers")) {
    const std::string field =
        Header(Repeated(header.at("name"), header.value("name_times", 1)),
               Repeated(header.at("value"), header.value("times", 1)),
               header.value("indexed", false) ? kToTable : '\0');
    block += Repeated(field, header.value("count", 1));
  }
  return block;
}

std::string HeadersOf(const nlohmann::json& row) {
  const std::string added = AddedHeaders(row);
  std::string block = row.value("first", false) ? added : "";
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{
           {":method", "POST"},
           {":scheme", "http"},
           {":path", kListModels},
           {":authority", "a"},
           {"te", "trailers"},
           {"content-type", "application/grpc"}}) {
    if (row.value("without", "") != name) block += Header(name, value);
  }
  return row.value("first", false) ? block : block + added;
}

std::string Message(int stream) {
  return RawConnection::Frame(RawConnection::kData, RawConnection::kEndStream,
                              stream, MessageHead(0));
}

// The head of a frame of headers that ends a stream.
std::string EndOf(int stream) {
  return {'\x01', RawConnection::kEndStream | RawConnection::kEndHeaders,
          0,      0,
          0,      static_cast<char>(stream)};
}

// Of clients behind a proxy, many share a connection.
TEST(HeaderRowsTest, ACallWhoseHeadersAreWrongEndsAlone) {
  RpcFixture fixture;
  for (const nlohmann::json& row : FieldRows("grpc_headers")) {
    for (const size_t frame : {16384, 1000, 100}) {
      const std::string block = HeadersOf(row);
      if (block.size() / frame > 10'000) continue;  // frames have heads, too
      SCOPED_TRACE(absl::StrCat(std::string(row.at("case")), ", in frames of ",
                                frame, " bytes"));
      RawConnection connection(fixture.server->port());
      // The first call is under way meanwhile; the last one uses the table.
      ASSERT_TRUE(connection.Send(BlockInFrames(1, Headers(kListModels), 1000) +
                                  BlockInFrames(3, block, frame) + Message(3)));
      EXPECT_EQ(connection.ReceiveStatus(),
                row.at("status").get<std::string>());
      ASSERT_TRUE(connection.Send(
          Message(1) +
          BlockInFrames(5, Headers(kListModels) + Header("x", "y", kToTable),
                        1000) +
          Message(5) + BlockInFrames(7, Headers(kListModels) + kNewest, 1000) +
          Message(7)));
      for (const int stream : {1, 5, 7}) {
        EXPECT_TRUE(connection.ReceiveUntil(EndOf(stream))) << stream;
      }
      EXPECT_TRUE(connection.Answers());
    }
  }
}

}  // namespace
}  // namespace attend
