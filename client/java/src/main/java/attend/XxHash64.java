package attend;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** XXH64 with the seed 0. */
final class XxHash64 {
  private static final long P1 = 0x9E3779B185EBCA87L;
  private static final long P2 = 0xC2B2AE3D27D4EB4FL;
  private static final long P3 = 0x165667B19E3779F9L;
  private static final long P4 = 0x85EBCA77C2B2AE63L;
  private static final long P5 = 0x27D4EB2F165667C5L;

  private XxHash64() {}

  static long of(String text) {
    var bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8))
        .order(ByteOrder.LITTLE_ENDIAN);
    int length = bytes.remaining();
    long hash = (length >= 32 ? blocks(bytes) : P5) + length;
    while (bytes.remaining() >= 8) {
      hash ^= round(0, bytes.getLong());
      hash = Long.rotateLeft(hash, 27) * P1 + P4;
    }
    if (bytes.remaining() >= 4) {
      hash ^= Integer.toUnsignedLong(bytes.getInt()) * P1;
      hash = Long.rotateLeft(hash, 23) * P2 + P3;
    }
    while (bytes.hasRemaining()) {
      hash ^= Byte.toUnsignedLong(bytes.get()) * P5;
      hash = Long.rotateLeft(hash, 11) * P1;
    }
    hash = (hash ^ (hash >>> 33)) * P2;
    hash = (hash ^ (hash >>> 29)) * P3;
    return hash ^ (hash >>> 32);
  }

  /** Of all whole blocks of 32 bytes. */
  private static long blocks(ByteBuffer bytes) {
    long[] sums = {P1 + P2, P2, 0, -P1};
    while (bytes.remaining() >= 32) {
      for (int i = 0; i < 4; i++) {
        sums[i] = round(sums[i], bytes.getLong());
      }
    }
    long hash = Long.rotateLeft(sums[0], 1) + Long.rotateLeft(sums[1], 7)
        + Long.rotateLeft(sums[2], 12) + Long.rotateLeft(sums[3], 18);
    for (long sum : sums) {
      hash = (hash ^ round(0, sum)) * P1 + P4;
    }
    return hash;
  }

  private static long round(long sum, long word) {
    return Long.rotateLeft(sum + word * P2, 31) * P1;
  }
}
