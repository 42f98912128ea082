#include "engine/ops/attention/kv_store.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "engine/compute/op_timer.h"
#include "engine/ops/attention/kv_store_kernel.h"
#include "engine/ops/simd/kernel_for.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

constexpr int kTile = KvLayout::kBlockTokens;
// Below this many numbers, waking the team costs more than it saves.
constexpr int kSmallWrite = 1 << 14;

using Kernel = void (*)(const KvTokens&);

void CheckArgs(const Compute& compute, const WriteKvArgs& args) {
  const KvLayout& layout = *args.layout;
  ATTEND_CHECK(layout.together == 1 ||
               layout.together == MostTogether(compute.isa(), layout));
  ATTEND_CHECK(layout.block_tokens == kTile);
  ATTEND_CHECK(0 <= args.layer && args.layer < layout.layers);
  for (const KvWrite& write : args.writes) {
    ATTEND_CHECK(write.rows >= 0 && write.first_token >= 0);
    ATTEND_CHECK(static_cast<size_t>(write.first_token + write.rows) <=
                 write.blocks.size() * kTile);
  }
}

// Stores `rows` rows of a write, from its row `from` on, for all heads. The
// rows are in one block. (One layer of a block is one stretch of memory.)
void StoreInBlock(const WriteKvArgs& args, const KvWrite& write, int from,
                  int rows, Kernel kernel) {
  const KvLayout& layout = *args.layout;
  const int token = write.first_token + from;
  std::byte* const block = write.blocks[token / kTile];
  for (int head = 0; head < layout.kv_heads; ++head) {
    const size_t at =
        static_cast<size_t>(write.first_row - args.first_row + from) *
            args.stride +
        static_cast<size_t>(head) * layout.head_dim;
    kernel({.layout = &layout,
            .key = args.key + at,
            .value = args.value + at,
            .stride = args.stride,
            .head = block + layout.head_at(args.layer, head),
            .place = token % kTile,
            .tokens = rows,
            .last = from + rows == write.rows || (token + rows) % kTile == 0});
  }
}

// Stores rows [range.begin, range.end) of all writes, counted one write after
// the other.
void StoreRows(const WriteKvArgs& args, Range range, Kernel kernel) {
  int first = 0;
  for (const KvWrite& write : args.writes) {
    int row = std::max(range.begin - first, 0);
    const int end = std::min(range.end - first, write.rows);
    while (row < end) {
      const int left_in_block = kTile - (write.first_token + row) % kTile;
      const int rows = std::min(end - row, left_in_block);
      StoreInBlock(args, write, row, rows, kernel);
      row += rows;
    }
    first += write.rows;
    if (first >= range.end) return;
  }
}

Kernel KernelOf(Isa isa, const KvLayout& layout) {
  switch (layout.together) {
    case 2:
      return avx512::StorePairs;
    case 4:
      return avx512::StoreFours;
    default:
      return KernelFor(isa, baseline::StoreTokens, avx2::StoreTokens,
                       avx512::StoreTokens);
  }
}

}  // namespace

void WriteKv(Compute& compute, const WriteKvArgs& args) {
  CheckArgs(compute, args);
  const KvLayout& layout = *args.layout;
  const Kernel kernel = KernelOf(compute.isa(), layout);
  int rows = 0;
  for (const KvWrite& write : args.writes) rows += write.rows;
  const OpTimer timer({.name = "write_kv", .rows = rows});
  if (rows * layout.kv_heads * layout.head_dim < kSmallWrite) {
    return StoreRows(args, {0, rows}, kernel);
  }
  const int members = compute.team().size();
  compute.team().Run([&](int member) {
    StoreRows(args, Share(rows, member, members), kernel);
  });
}

void CopyKv(const KvLayout& layout, const std::byte* from, int tokens,
            std::byte* to) {
  ATTEND_CHECK(0 <= tokens && tokens <= kTile);
  const int together = layout.together;
  const size_t copied = (tokens + together - 1) / together * together;
  const size_t values = copied * layout.head_dim * BytesOf(layout.dtype);
  const int heads = layout.layers * layout.kv_heads;
  for (int head = 0; head < heads; ++head) {
    const size_t begin = head * layout.head_bytes();
    const size_t end = begin + layout.head_bytes();
    const size_t scales = begin + layout.scales_at();
    // Keys of different tokens are interleaved, so all keys are copied; of the
    // values, those of the tokens and those that lie together with them.
    std::memcpy(to + begin, from + begin, layout.values_at() + values);
    std::memcpy(to + scales, from + scales, end - scales);
  }
}

void CopyKv(Compute& compute, const KvLayout& layout,
            absl::Span<const KvCopy> copies) {
  if (copies.empty()) return;
  const int count = static_cast<int>(copies.size());
  const OpTimer timer({.name = "copy_kv", .rows = count});
  const auto copy = [&](Range range) {
    for (int i = range.begin; i < range.end; ++i) {
      CopyKv(layout, copies[i].from, copies[i].tokens, copies[i].to);
    }
  };
  if (count == 1) return copy({0, count});
  const int members = compute.team().size();
  compute.team().Run([&](int member) { copy(Share(count, member, members)); });
}

}  // namespace attend
