#include "server/grpc/unpack.h"

#include <grpc/slice.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <string>

namespace attend {
namespace {

constexpr int kGzipHeader = 16;

std::string Pack(const std::string& text, Packed how) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED,
                         MAX_WBITS + (how == Packed::kGzip ? kGzipHeader : 0),
                         8, Z_DEFAULT_STRATEGY),
            Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = text.size();
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = packed.size();
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

struct SliceBuffer {
  SliceBuffer() { grpc_slice_buffer_init(&buffer); }
  ~SliceBuffer() { grpc_slice_buffer_destroy(&buffer); }
  grpc_slice_buffer buffer;
};

// What comes of bytes that come in slices of `slice`; nothing: it failed.
std::optional<std::string> Unpacked(const std::string& packed, Packed how,
                                    int64_t max_bytes, size_t slice = 1000) {
  SliceBuffer from, to;
  for (size_t at = 0; at < packed.size(); at += slice) {
    grpc_slice_buffer_add(
        &from.buffer,
        grpc_slice_from_copied_buffer(packed.data() + at,
                                      std::min(slice, packed.size() - at)));
  }
  if (!Unpack(from.buffer, how, max_bytes, to.buffer).ok()) {
    EXPECT_EQ(to.buffer.length, 0u);
    return std::nullopt;
  }
  std::string text;
  for (size_t i = 0; i < to.buffer.count; ++i) {
    const grpc_slice& one = to.buffer.slices[i];
    text.append(reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(one)),
                GRPC_SLICE_LENGTH(one));
  }
  return text;
}

// Digits, so that there is something to pack.
std::string Text(size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += std::to_string(i);
  text.resize(bytes);
  return text;
}

TEST(UnpackTest, GivesWhatWasPacked) {
  for (const Packed how : {Packed::kGzip, Packed::kDeflate}) {
    // Around the size of a slice, too.
    for (const size_t bytes : {0, 1, 16383, 16384, 16385, 32768, 300000}) {
      const std::string packed = Pack(Text(bytes), how);
      for (const size_t slice : {size_t{1}, size_t{1000}, packed.size()}) {
        EXPECT_TRUE(Unpacked(packed, how, bytes, slice) == Text(bytes))
            << bytes << " " << slice;
      }
      if (bytes == 0) continue;
      EXPECT_FALSE(Unpacked(packed, how, bytes - 1).has_value()) << bytes;
    }
  }
}

TEST(UnpackTest, WhatIsBrokenFails) {
  const Packed gzip = Packed::kGzip;
  const std::string packed = Pack(Text(50000), gzip);
  EXPECT_FALSE(Unpacked("", gzip, 1 << 20).has_value());
  EXPECT_FALSE(Unpacked(Text(100), gzip, 1 << 20).has_value());
  EXPECT_FALSE(Unpacked(packed + "x", gzip, 1 << 20).has_value());
  EXPECT_FALSE(Unpacked(packed, Packed::kDeflate, 1 << 20).has_value());
  for (const size_t bytes :
       {size_t{1}, size_t{20}, packed.size() / 2, packed.size() - 1}) {
    EXPECT_FALSE(Unpacked(packed.substr(0, bytes), gzip, 1 << 20).has_value());
  }
  std::string changed = packed;
  changed[packed.size() / 2] ^= 1;
  EXPECT_FALSE(Unpacked(changed, gzip, 1 << 20).has_value());
}

}  // namespace
}  // namespace attend
