#include "engine/runtime/source_encode.h"

#include <numeric>
#include <utility>

namespace attend {
namespace {

// EncodeState::Tokens::table_positions, if tokens `uncounted_id` are not
// counted; else empty.
std::vector<int> TablePositions(const SourceTokens& source, int uncounted_id) {
  if (uncounted_id < 0) return {};
  // Masked tokens are not in `source`: they count as padding.
  std::vector<int> positions;
  positions.reserve(source.ids.size());
  int counted = 0;
  for (const int id : source.ids) {
    positions.push_back(id == uncounted_id ? -1 : counted++);
  }
  return positions;
}

}  // namespace

std::unique_ptr<SourceEncode> SourceEncode::Make(const Transformer& transformer,
                                                 SourceTokens tokens,
                                                 const Options& options) {
  if (tokens.positions.empty()) {
    tokens.positions.resize(tokens.ids.size());
    std::iota(tokens.positions.begin(), tokens.positions.end(), 0);
  }
  std::vector<int> table_positions =
      TablePositions(tokens, transformer.spec().SourceEmbedding().uncounted_id);
  return std::make_unique<SourceEncode>(transformer, std::move(tokens),
                                        std::move(table_positions), options);
}

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
              .types = tokens_.types,
              .attended = tokens_.attended,
              .adapter = options.adapter},
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
      done_ = cross_.ShareSource(tokens_.ids, options_.salt);
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
  if (Shares()) cross_.SealSource(tokens_.ids, options_.salt);
  state_.Release();
  done_ = true;
}

void SourceEncode::Clear() {
  state_.Release();
  cross_.Clear();
  done_ = false;
}

}  // namespace attend
