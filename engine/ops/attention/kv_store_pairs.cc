// The kernel that stores keys and values in pairs of bf16 (see KvLayout). Bound
// by stores, of which there are half as many as in kv_store_kernel.inc.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/attention/kv_store_kernel.h"
#include "engine/ops/simd/simd.h"
#include "engine/ops/simd/simd_narrow.h"

ATTEND_AVX512_BF16_BEGIN
namespace {

constexpr int kTile = KvLayout::kBlockTokens;

// The first min(n, kLanes) numbers at p, then zeros.
inline Vec LoadUpTo(const float* p, int n) {
  return n < kLanes ? LoadFirst(p, std::max(n, 0)) : Load(p);
}

inline __mmask16 LanesOf(int n) { return First(std::min(n, kLanes)); }

// Numbers of bf16 in the lower halves of lanes.
inline __m512i Narrowed(Vec v) {
  return _mm512_maskz_cvtepu16_epi32(
      kAll, reinterpret_cast<__m256i>(_mm512_maskz_cvtneps_pbh(kAll, v)));
}

// Stores the values of two tokens, of which the first has an even place.
inline void StoreTwoValues(const KvTokens& a, const float* value,
                           uint16_t* to) {
  const int n = a.layout->head_dim;
  for (int d = 0; d < n; d += kLanes) {
    const __m512i first = Narrowed(LoadUpTo(value + d, n - d));
    const __m512i second = Narrowed(LoadUpTo(value + a.stride + d, n - d));
    _mm512_mask_storeu_epi32(
        to + 2 * d, LanesOf(n - d),
        _mm512_or_si512(first, _mm512_maskz_slli_epi32(kAll, second, 16)));
  }
}

// Stores the value of one token. Another member may store the other number of
// each pair at the same time.
inline void StoreOneValue(const KvTokens& a, const float* value, uint16_t* to) {
  const int n = a.layout->head_dim;
  for (int d = 0; d < n; d += kLanes) {
    uint16_t numbers[kLanes];
    StoreBf16(numbers, LoadUpTo(value + d, n - d));
    for (int i = 0; i < std::min(kLanes, n - d); ++i) {
      to[2 * (d + i)] = numbers[i];
    }
  }
}

inline void StoreValues(const KvTokens& a) {
  uint16_t* const values =
      reinterpret_cast<uint16_t*>(a.head + a.layout->values_at());
  for (int token = 0; token < a.tokens;) {
    const int place = a.place + token;
    const float* const value =
        a.value + static_cast<ptrdiff_t>(token) * a.stride;
    uint16_t* const to =
        values + place / 2 * 2 * a.layout->head_dim + place % 2;
    if (place % 2 == 0 && token + 1 < a.tokens) {
      StoreTwoValues(a, value, to);
      token += 2;
    } else {
      StoreOneValue(a, value, to);
      token += 1;
    }
  }
}

// Numbers [d, d + 2 * kLanes) of a key, a pair in each lane.
inline __m512i KeyPairs(const float* key, int d, int n) {
  return reinterpret_cast<__m512i>(_mm512_maskz_cvtne2ps_pbh(
      0xffffffff, LoadUpTo(key + d + kLanes, n - d - kLanes),
      LoadUpTo(key + d, n - d)));
}

inline void StoreKey(const KvTokens& a, int token) {
  const int n = a.layout->head_dim;
  const float* const key = a.key + static_cast<ptrdiff_t>(token) * a.stride;
  uint32_t* const keys = reinterpret_cast<uint32_t*>(a.head);
  for (int d = 0; d < n; d += 2 * kLanes) {
    uint32_t pairs[kLanes];
    _mm512_storeu_si512(pairs, KeyPairs(key, d, n));
    for (int i = 0; i < std::min(kLanes, (n - d) / 2); ++i) {
      keys[(d / 2 + i) * kTile + a.place + token] = pairs[i];
    }
  }
}

// Stores all keys of a block, transposed in registers. Places without a key
// become zeros.
inline void StoreKeys(const KvTokens& a) {
  const int n = a.layout->head_dim;
  uint32_t* const keys = reinterpret_cast<uint32_t*>(a.head);
  for (int d = 0; d < n; d += 2 * kLanes) {
    Vec x[kLanes];  // pairs of key i; then the i-th pair of each key
    for (int i = 0; i < kLanes; ++i) {
      const ptrdiff_t token = i;
      x[i] = token < a.tokens
                 ? _mm512_castsi512_ps(KeyPairs(a.key + token * a.stride, d, n))
                 : Zero();
    }
    Transpose(x);
    for (int i = 0; i < std::min(kLanes, (n - d) / 2); ++i) {
      _mm512_storeu_ps(keys + (d / 2 + i) * kTile, x[i]);
    }
  }
}

}  // namespace

void StorePairs(const KvTokens& args) {
  StoreValues(args);
  if (args.together()) return StoreKeys(args);
  for (int token = 0; token < args.tokens; ++token) StoreKey(args, token);
}

ATTEND_AVX512_BF16_END
