#include "server/grpc/header_block.h"

#include <gmock/gmock.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/server/grpc/raw_connection.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr char kToTable = '\x40';  // a literal that goes into the table
constexpr char kNewest = '\xbe';   // the newest entry of the table

std::string Text(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

// A block as libnghttp2 decodes it; nothing: it is wrong.
class Inflater {
 public:
  Inflater() { nghttp2_hd_inflate_new(&inflater_); }
  ~Inflater() { nghttp2_hd_inflate_del(inflater_); }

  std::optional<Fields> Decode(const std::string& block) {
    Fields fields;
    auto left = reinterpret_cast<const uint8_t*>(block.data());
    const auto* const end = left + block.size();
    for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
      nghttp2_nv field;
      const auto read = nghttp2_hd_inflate_hd2(inflater_, &field, &flags, left,
                                               end - left, /*in_final=*/1);
      if (read < 0) return std::nullopt;
      left += read;
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0) continue;
      fields.emplace_back(Text(field.name, field.namelen),
                          Text(field.value, field.valuelen));
    }
    nghttp2_hd_inflate_end_headers(inflater_);
    return fields;
  }

 private:
  nghttp2_hd_inflater* inflater_ = nullptr;
};

class Deflater {
 public:
  Deflater() { nghttp2_hd_deflate_new(&deflater_, 4096); }
  ~Deflater() { nghttp2_hd_deflate_del(deflater_); }

  std::string Encode(const Fields& fields) {
    std::vector<nghttp2_nv> list;
    for (const auto& [name, value] : fields) {
      list.push_back({Bytes(name), Bytes(value), name.size(), value.size(),
                      NGHTTP2_NV_FLAG_NONE});
    }
    std::vector<uint8_t> block(
        nghttp2_hd_deflate_bound(deflater_, list.data(), list.size()));
    const auto size = nghttp2_hd_deflate_hd(
        deflater_, block.data(), block.size(), list.data(), list.size());
    EXPECT_GE(size, 0);
    return Text(block.data(), size);
  }

 private:
  static uint8_t* Bytes(const std::string& text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  }
  nghttp2_hd_deflater* deflater_ = nullptr;
};

// Reads a whole block, in one frame of slices of `slice` bytes.
absl::Status Read(HeaderBlock& block, const std::string& bytes,
                  size_t slice = 1000) {
  block.BeginFrame(/*ends_block=*/true, /*has_priority=*/false);
  size_t at = 0;
  do {
    const bool last = at + slice >= bytes.size();
    const absl::Status status =
        block.Add(absl::string_view(bytes).substr(at, slice), last);
    if (!status.ok()) return status;
    at += slice;
  } while (at < bytes.size());
  EXPECT_TRUE(block.complete());
  return absl::OkStatus();
}

Fields FieldsOf(HeaderBlock& block) {
  return Inflater().Decode(block.TakeFields()).value();
}

// Headers that recur, so that the table is used, and are of all lengths.
Fields RandomFields(std::mt19937& random) {
  Fields fields;
  for (int i = random() % 12; i >= 0; --i) {
    const size_t size = random() % 50 == 0 ? random() % 30000 : random() % 60;
    fields.emplace_back(absl::StrCat("key", random() % 20),
                        std::string(size, 'a' + random() % 3));
  }
  return fields;
}

size_t BytesOf(const Fields& fields) {
  size_t bytes = 0;
  for (const auto& [name, value] : fields) {
    bytes += name.size() + value.size() + 32;
  }
  return bytes;
}

// A call that is refused in between does not change how others are read.
TEST(HeaderBlockTest, ReadsWhatAnEncoderHasWritten) {
  std::mt19937 random(1);
  Deflater deflater;
  HeaderBlock block;
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    const Fields fields = RandomFields(random);
    const std::string bytes = deflater.Encode(fields);
    size_t at = 0;
    while (!block.complete() || at == 0) {
      const size_t size = std::min(bytes.size() - at, random() % 200 + 1);
      const bool last = at + size == bytes.size();
      block.BeginFrame(last, /*has_priority=*/false);
      ASSERT_TRUE(block.Add(bytes.substr(at, size), true).ok());
      at += size;
    }
    const bool too_large = BytesOf(fields) > kMaxHeaderBytes;
    ASSERT_EQ(absl::IsResourceExhausted(block.refusal()), too_large);
    refused += too_large;
    if (!too_large) {
      ASSERT_EQ(FieldsOf(block), fields);
    }
  }
  EXPECT_GT(refused, 50);
}

// RFC 7541, section 4.4: an entry that is larger than the table empties it.
TEST(HeaderBlockTest, AStringOfAnyLengthHasItsEffectOnTheTable) {
  for (const size_t bytes : {4000, 20000, 60000, 70000, 1'000'000}) {
    for (const char first : {kToTable, '\0'}) {
      for (const bool long_name : {false, true}) {
        const std::string text(bytes, 'b');
        const std::string with_long =
            Header("a", "b", kToTable) +
            Header(long_name ? text : "c", long_name ? "c" : text, first);
        HeaderBlock block;
        ASSERT_TRUE(Read(block, with_long).ok());
        EXPECT_EQ(block.refusal().ok(), bytes == 4000);
        const bool emptied = first == kToTable;
        const absl::Status after = Read(block, std::string(1, kNewest));
        if (bytes == 4000) {
          EXPECT_TRUE(after.ok());
          continue;
        }
        EXPECT_EQ(after.ok(), !emptied) << bytes;
        if (!emptied) {
          EXPECT_THAT(FieldsOf(block), ElementsAre(Pair("a", "b")));
        }
        if (bytes > 65536) continue;  // as libnghttp2 itself, where it can
        Inflater plain;
        ASSERT_TRUE(plain.Decode(with_long).has_value());
        EXPECT_EQ(plain.Decode(std::string(1, kNewest)).has_value(), !emptied);
      }
    }
  }
}

TEST(HeaderBlockTest, BinaryValuesAreDecoded) {
  const std::string zero(1, '\0');
  const std::pair<std::string, std::string> good[] = {
      {"", ""},
      {"AAEC", zero + std::string("\0\1\2", 3)},
      {"/+8=", zero + "\xff\xef"},
      {"/+8", zero + "\xff\xef"},
      {zero + "not \xff base64", zero + "not \xff base64"}};
  for (const auto& [sent, read] : good) {
    HeaderBlock block;
    ASSERT_TRUE(Read(block, Header("x-bin", sent)).ok());
    ASSERT_TRUE(block.refusal().ok()) << sent;
    EXPECT_THAT(FieldsOf(block), ElementsAre(Pair("x-bin", read)));
  }
  HeaderBlock joined;
  ASSERT_TRUE(Read(joined, Header("x-bin", "AAEC,,/+8")).ok());
  EXPECT_THAT(
      FieldsOf(joined),
      ElementsAre(Pair("x-bin", zero + std::string("\0\1\2", 3)),
                  Pair("x-bin", zero), Pair("x-bin", zero + "\xff\xef")));
  for (const std::string bad :
       {"%", "A", "AAEC!", "AA=C", "\xff\xfe\xfd\xfc"}) {
    HeaderBlock block;
    ASSERT_TRUE(Read(block, Header("x-bin", bad, kToTable)).ok());
    EXPECT_TRUE(absl::IsInvalidArgument(block.refusal())) << bad;
    // The same header again, now of the table.
    ASSERT_TRUE(Read(block, std::string(1, kNewest)).ok());
    EXPECT_TRUE(absl::IsInvalidArgument(block.refusal())) << bad;
    ASSERT_TRUE(Read(block, Header("x", bad)).ok());
    EXPECT_TRUE(block.refusal().ok()) << bad;
  }
}

// A block does not see the pseudo-headers of the one before it.
TEST(HeaderBlockTest, EachBlockHasPseudoHeadersOfItsOwn) {
  HeaderBlock block;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Read(block, Header(":path", "/a") + Header("a", "b")).ok());
    EXPECT_TRUE(block.refusal().ok());
  }
  ASSERT_TRUE(Read(block, Header("a", "b") + Header(":path", "/a")).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(block.refusal()));
}

TEST(HeaderBlockTest, EncodingsThatNobodyKnowsAreSaidSo) {
  for (const std::string encoding : {"gzip", "deflate", "identity"}) {
    HeaderBlock block;
    ASSERT_TRUE(Read(block, Header("grpc-encoding", encoding)).ok());
    EXPECT_EQ(block.has_encoding(), encoding != "identity");
    EXPECT_FALSE(absl::StrContains(block.TakeFields(), kUnknownEncodingKey));
  }
  for (const std::string encoding : {"snappy", "GZIP", "", "gzip, gzip"}) {
    HeaderBlock block;
    ASSERT_TRUE(Read(block, Header("grpc-encoding", encoding)).ok());
    EXPECT_TRUE(block.has_encoding());
    EXPECT_THAT(FieldsOf(block),
                ElementsAre(Pair(kUnknownEncodingKey, encoding)));
  }
}

TEST(HeaderBlockTest, ClientsCannotSendTheServersOwnMetadata) {
  HeaderBlock block;
  ASSERT_TRUE(Read(block, Header(kIncomingCallKey, "1") + Header("a", "b") +
                              Header(kUnknownEncodingKey, "x"))
                  .ok());
  block.AddField(kIncomingCallKey, "7");
  EXPECT_THAT(FieldsOf(block),
              ElementsAre(Pair("a", "b"), Pair(kIncomingCallKey, "7")));
}

TEST(HeaderBlockTest, PriorityIsSkipped) {
  HeaderBlock block;
  block.BeginFrame(/*ends_block=*/false, /*has_priority=*/true);
  ASSERT_TRUE(block.Add(std::string(2, '\xff'), false).ok());
  ASSERT_TRUE(block.Add(std::string(3, '\xff') + Header("a", "b"), true).ok());
  block.BeginFrame(/*ends_block=*/true, /*has_priority=*/false);
  ASSERT_TRUE(block.Add(Header("c", "d"), true).ok());
  EXPECT_THAT(FieldsOf(block), ElementsAre(Pair("a", "b"), Pair("c", "d")));

  block.BeginFrame(/*ends_block=*/true, /*has_priority=*/true);
  EXPECT_FALSE(block.Add("1234", true).ok());
}

TEST(HeaderBlockTest, WhatIsNotHpackIsAnErrorOfTheConnection) {
  const std::string whole = Header("key", "value");
  for (const std::string& bad :
       {std::string("\x80"), std::string("\xff\xff\xff\xff\xff\xff\xff"),
        std::string("\0\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10),
        std::string(1, kNewest), whole.substr(0, 1), whole.substr(0, 4),
        whole.substr(0, 7), std::string("\x3f\xff\xff\xff\x7f")}) {
    HeaderBlock block;
    EXPECT_FALSE(Read(block, bad).ok()) << bad;
  }
}

TEST(HeaderBlockTest, ABlockEndsSomeTime) {
  for (const std::string& bytes : {std::string(), std::string(1000, '\x82')}) {
    HeaderBlock block;
    size_t sent = 0;
    absl::Status status;
    while (status.ok() && sent <= 2 * kMaxBlockBytes) {
      block.BeginFrame(/*ends_block=*/false, /*has_priority=*/false);
      status = block.Add(bytes, true);
      sent += 9 + bytes.size();
    }
    EXPECT_LE(sent, kMaxBlockBytes + 9 + bytes.size());
    EXPECT_GT(sent, kMaxBlockBytes);
  }
}

}  // namespace
}  // namespace attend
