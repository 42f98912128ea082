// The kernel that stores keys and values in fours of int8 (see KvLayout): one
// token from registers; several of a block as bytes, which are then moved in
// whole words.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/attention/kv_store_kernel.h"
#include "engine/ops/simd/simd.h"
#include "engine/ops/simd/simd_narrow.h"

ATTEND_AVX512_BEGIN

#include "engine/ops/attention/kv_store_int8.inc"

namespace {

constexpr int kTile = KvLayout::kBlockTokens;
constexpr int kMaxDim = KvLayout::kMaxTogetherDim;
constexpr int kFour = 4;
// Numbers of a key in a vector.
constexpr int kBytes = kFour * kLanes;

// Tokens of a block as bytes.
struct Bytes {
  alignas(64) int8_t rows[kTile][kMaxDim];
};

inline __m128i LoadBytes(const int8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
inline void StoreBytes(int8_t* p, __m128i v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
}

// Sixteen codes.
inline __m128i CodeBytes(Vec x, Vec inverse) {
  return _mm512_maskz_cvtsepi32_epi8(kAll, ToInt(Int8s::Code(x, inverse)));
}

// Rounds a row of n numbers to int8, up to a whole vector of 16. Returns the
// scale.
inline float RoundRow(const float* row, int n, int8_t* to) {
  const Int8s numbers = Int8s::Of(row, n);
  const Vec inverse = Broadcast(numbers.inverse());
  int d = 0;
  for (; d + kBytes <= n; d += kBytes) {
    Vec codes[kFour];
    for (int i = 0; i < kFour; ++i) {
      codes[i] = Int8s::Code(Load(row + d + i * kLanes), inverse);
    }
    StoreAndSum(codes, to + d);
  }
  for (; d < n; d += kLanes) {
    StoreBytes(to + d, CodeBytes(LoadSome(row + d, n - d), inverse));
  }
  return numbers.scale();
}

// Rounds all rows of a call; row i is of token i. Stores the scales.
inline void RoundRows(const KvTokens& a, const float* from, float* scales,
                      Bytes& bytes) {
  for (int token = 0; token < a.tokens; ++token) {
    scales[a.place + token] = RoundRow(from + ptrdiff_t{token} * a.stride,
                                       a.layout->head_dim, bytes.rows[token]);
  }
}

// The same numbers with kFoursZero added.
inline __m128i WithZero(__m128i bytes) {
  static_assert(KvLayout::kFoursZero == 128);
  return _mm_xor_si128(bytes, _mm_set1_epi8(-128));
}

// The same of a row. In vectors that are not larger than those that RoundRow()
// has just stored: larger ones would wait for the cache.
inline void AddZero(int8_t* row, int n) {
  for (int d = 0; d < n; d += kLanes) {
    StoreBytes(row + d, WithZero(LoadBytes(row + d)));
  }
}

// Stores the values of four tokens.
inline void StoreFourValues(const int8_t (*rows)[kMaxDim], int n, int8_t* to) {
  for (int d = 0; d < n; d += kLanes) {
    const __m128i a = LoadBytes(rows[0] + d);
    const __m128i b = LoadBytes(rows[1] + d);
    const __m128i c = LoadBytes(rows[2] + d);
    const __m128i e = LoadBytes(rows[3] + d);
    const __m128i pairs[2][2] = {
        {_mm_unpacklo_epi8(a, b), _mm_unpacklo_epi8(c, e)},
        {_mm_unpackhi_epi8(a, b), _mm_unpackhi_epi8(c, e)}};
    const __m128i fours[kFour] = {_mm_unpacklo_epi16(pairs[0][0], pairs[0][1]),
                                  _mm_unpackhi_epi16(pairs[0][0], pairs[0][1]),
                                  _mm_unpacklo_epi16(pairs[1][0], pairs[1][1]),
                                  _mm_unpackhi_epi16(pairs[1][0], pairs[1][1])};
    // head_dim is a multiple of four.
    for (int i = 0; i < std::min(kFour, (n - d) / kFour); ++i) {
      StoreBytes(to + (d + i * kFour) * kFour, fours[i]);
    }
  }
}

// Stores the next bytes of a token's value. Another member may store other
// tokens of the same four at the same time: only the token's own are written.
inline void StoreValueBytes(__m128i bytes, int lanes, int place, int8_t* to) {
  const __m128i shift = _mm_cvtsi32_si128(8 * place);
  const __mmask64 all = ~__mmask64{0} >> (kBytes - kFour * lanes);
  const __mmask64 own = (__mmask64{0x1111111111111111} << place) & all;
  _mm512_mask_storeu_epi8(
      to, own,
      _mm512_maskz_sll_epi32(kAll, _mm512_maskz_cvtepu8_epi32(kAll, bytes),
                             shift));
}

// Stores the next bytes of a token's key: each four in a line of its own.
inline void StoreKeyBytes(__m128i bytes, int lanes, std::byte* to) {
  int32_t fours[kFour];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(fours), bytes);
  for (int i = 0; i < lanes / kFour; ++i) {
    std::memcpy(to + ptrdiff_t{i} * kFour * kTile, fours + i, kFour);
  }
}

// Stores all values of a block, which begin in its first place.
inline void StoreValues(const KvTokens& a, const Bytes& bytes) {
  const int n = a.layout->head_dim;
  int8_t* const values =
      reinterpret_cast<int8_t*>(a.head + a.layout->values_at());
  int token = 0;
  for (; token + kFour <= a.tokens; token += kFour) {
    StoreFourValues(bytes.rows + token, n, values + token * n);
  }
  int8_t* const last = values + token * n;
  for (; token < a.tokens; ++token) {
    for (int d = 0; d < n; d += kLanes) {
      StoreValueBytes(LoadBytes(bytes.rows[token] + d), std::min(kLanes, n - d),
                      token % kFour, last + d * kFour);
    }
  }
}

// Rounds and stores one token, whose bytes stay in registers.
inline void StoreToken(const KvTokens& a, int token, float* scales) {
  const int n = a.layout->head_dim;
  const int place = a.place + token;
  const float* const key = a.key + ptrdiff_t{token} * a.stride;
  const float* const value = a.value + ptrdiff_t{token} * a.stride;
  const Int8s keys = Int8s::Of(key, n);
  const Int8s values = Int8s::Of(value, n);
  scales[place] = keys.scale();
  scales[kTile + place] = values.scale();
  const Vec key_inverse = Broadcast(keys.inverse());
  const Vec value_inverse = Broadcast(values.inverse());
  std::byte* const key_to = a.head + place * kFour;
  int8_t* const value_to =
      reinterpret_cast<int8_t*>(a.head + a.layout->values_at()) +
      place / kFour * kFour * n;
  for (int d = 0; d < n; d += kLanes) {
    const int lanes = std::min(kLanes, n - d);
    StoreKeyBytes(WithZero(CodeBytes(LoadSome(key + d, n - d), key_inverse)),
                  lanes, key_to + d * kTile);
    StoreValueBytes(CodeBytes(LoadSome(value + d, n - d), value_inverse), lanes,
                    place % kFour, value_to + d * kFour);
  }
}

// Stores all keys of a block, transposed in registers. Places without a key
// become zeros.
inline void StoreKeys(const KvTokens& a, const Bytes& bytes) {
  const int n = a.layout->head_dim;
  for (int d = 0; d < n; d += kBytes) {
    Vec x[kLanes];  // fours of key i; then the i-th four of each key
    for (int i = 0; i < kLanes; ++i) {
      x[i] = i < a.tokens
                 ? Load(reinterpret_cast<const float*>(bytes.rows[i] + d))
                 : Zero();
    }
    Transpose(x);
    for (int i = 0; i < std::min(kLanes, (n - d) / kFour); ++i) {
      Store(reinterpret_cast<float*>(a.head + (d + i * kFour) * kTile), x[i]);
    }
  }
}

}  // namespace

void StoreFours(const KvTokens& args) {
  float* const scales =
      reinterpret_cast<float*>(args.head + args.layout->scales_at());
  if (!args.together()) {
    for (int token = 0; token < args.tokens; ++token) {
      StoreToken(args, token, scales);
    }
    return;
  }
  Bytes bytes;
  RoundRows(args, args.value, scales + kTile, bytes);
  StoreValues(args, bytes);
  RoundRows(args, args.key, scales, bytes);
  for (int token = 0; token < args.tokens; ++token) {
    AddZero(bytes.rows[token], args.layout->head_dim);
  }
  StoreKeys(args, bytes);
}

ATTEND_AVX512_END
