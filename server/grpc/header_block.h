#ifndef ATTEND_SERVER_GRPC_HEADER_BLOCK_H_
#define ATTEND_SERVER_GRPC_HEADER_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/grpc/field_rules.h"
#include "server/grpc/hpack_strings.h"

struct nghttp2_hd_inflater;

namespace attend {

// The most bytes of the headers of a call: names, values, and 32 bytes for each
// header (RFC 9113, section 6.5.2).
inline constexpr uint32_t kMaxHeaderBytes = 8192;
// The most bytes of a header block as it is sent, with 9 for each frame. A
// client that sends more of a call that is refused anyway wants to keep the
// server busy.
inline constexpr size_t kMaxBlockBytes = 4 << 20;

// Metadata that the server itself adds to a call; a client cannot send it.
// The number of the call; see IncomingCalls.
inline constexpr char kIncomingCallKey[] = "attend-incoming-call";
// The value of grpc-encoding if that is an encoding that gRPC does not know.
inline constexpr char kUnknownEncodingKey[] = "attend-unknown-encoding";

// Reads the header blocks of one connection to a server, of any number of
// frames. An error of a call's headers does not impair the next blocks, since
// the table of HPACK is kept up to date whatever a call sends. libnghttp2
// decodes HPACK. libgrpc gets the headers of a complete block as literals,
// which do not use its own table. Memory is bounded while a block arrives. Not
// thread-safe.
class HeaderBlock {
 public:
  HeaderBlock();
  ~HeaderBlock();
  HeaderBlock(const HeaderBlock&) = delete;
  HeaderBlock& operator=(const HeaderBlock&) = delete;

  // A frame begins: HEADERS, or CONTINUATION if the last one did not end its
  // block. `has_priority`: five bytes of priority come first.
  void BeginFrame(bool ends_block, bool has_priority);
  // The next bytes of the frame. After an error nothing of the connection can
  // be read any more.
  absl::Status Add(absl::string_view bytes, bool ends_frame);

  // The last frame of the block has come.
  bool complete() const { return complete_; }
  // Of a complete block. Not OK: the call is to be ended with this status.
  const absl::Status& refusal() const { return refusal_; }
  // Messages of the call may be compressed, in whatever way.
  bool has_encoding() const { return has_encoding_; }
  // Adds a header. Of a complete block.
  void AddField(absl::string_view name, absl::string_view value);
  // The headers in HPACK. Of a complete block, once.
  std::string TakeFields() { return std::move(fields_); }

 private:
  struct Deleter {
    void operator()(nghttp2_hd_inflater* inflater) const;
  };

  absl::Status Decode(absl::string_view bytes, bool is_last);
  void OnField(absl::string_view name, absl::string_view value);
  void OnBinary(absl::string_view name, absl::string_view value);
  void OnEncoding(absl::string_view value);
  void Refuse(absl::Status status);

  const std::unique_ptr<nghttp2_hd_inflater, Deleter> inflater_;
  HpackStrings strings_;

  // Of the frame.
  bool ends_block_ = true;
  size_t priority_left_ = 0;

  // Of the block.
  bool complete_ = true;
  bool has_encoding_ = false;
  size_t sent_bytes_ = 0;
  size_t header_bytes_ = 0;
  absl::Status refusal_;
  FieldRules rules_;
  std::string fields_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_HEADER_BLOCK_H_
