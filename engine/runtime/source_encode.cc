#include "engine/runtime/source_encode.h"

#include <utility>

namespace attend {

SourceEncode::SourceEncode(const Transformer& transformer, SourceTokens tokens,
                           std::vector<int> table_positions,
                           const Options& options)
    : transformer_(transformer),
      tokens_(std::move(tokens)),
      table_positions_(std::move(table_positions)),
      options_(options),
      state_({.ids = tokens_.ids,
              .positions = tokens_.positions,
              .table_positions = table_positions_,
              .types = tokens_.types},
             Blocks()),
      cross_(max_blocks() * options.block_tokens, options.block_tokens) {}

Work SourceEncode::Next() const {
  if (state_.started()) {
    return {.phase = Phase::kEncode,
            .rows = transformer_.EncodeRowsLeft(state_),
            .uses_blocks = options_.for_decoder};
  }
  return {.phase = Phase::kEncode,
          .rows = tokens(),
          .blocks = max_blocks(),
          .encode_rows = Blocks() * options_.block_tokens,
          .uses_blocks = options_.for_decoder};
}

int SourceEncode::max_blocks() const {
  return options_.for_decoder ? Blocks() : 0;
}

int SourceEncode::own_blocks() const {
  int blocks = 0;
  for (size_t i = 0; i < cross_.blocks().size(); ++i) {
    if (cross_.references(static_cast<int>(i)) == 1) ++blocks;
  }
  return blocks;
}

std::optional<EncodePiece> SourceEncode::Plan(EncodeBuffer& buffer,
                                              BlockPool& pool, int rows,
                                              StepCounts& counts) {
  if (!state_.started()) {
    cross_.Attach(pool);
    if (Shares()) {
      counts.queried_tokens += tokens();
      done_ = cross_.ShareSource(tokens_.ids);
      counts.hit_tokens += cross_.tokens();
      if (done_) return std::nullopt;
    }
    if (options_.for_decoder) cross_.PrepareAppend(tokens());
    state_.Start(buffer);
  }
  return EncodePiece{.state = &state_,
                     .cross_blocks = cross_.blocks(),
                     .cross_layout = &pool.layout(),
                     .rows = rows};
}

void SourceEncode::Finish() {
  if (Shares()) cross_.SealSource(tokens_.ids);
  state_.Release();
  done_ = true;
}

void SourceEncode::Clear() {
  state_.Release();
  cross_.Clear();
  done_ = false;
}

}  // namespace attend
