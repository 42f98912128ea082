#ifndef ATTEND_ENGINE_OPS_MATMUL_SPREAD_BLOCK_H_
#define ATTEND_ENGINE_OPS_MATMUL_SPREAD_BLOCK_H_

namespace attend {

// How many numbers of a row of `columns` numbers in int8 are spread together;
// 0: none. A large number would make the levels of its group coarse. So each
// block of numbers is multiplied by signs and by an orthogonal matrix, which
// distributes each number over all (QuaRot, Ashkboos et al. 2024). Operands and
// weights are spread in the same way, and so are keys in int8 and queries, so
// that their products stay what they were.
constexpr int SpreadBlock(int columns) {
  return columns % 64 == 0 ? 64 : columns % 16 == 0 ? 16 : 0;
}

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_SPREAD_BLOCK_H_
