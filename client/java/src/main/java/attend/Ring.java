package attend;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import net.openhft.hashing.LongHashFunction;

/** Points of servers on a circle: the ring of gRPC's policy ring_hash. */
final class Ring {
  /** Of all servers together, at least. */
  private static final int POINTS = 1024;

  private record Point(long hash, String server) {}

  private final List<Point> points = new ArrayList<>();

  Ring(Collection<String> servers) {
    int each = servers.isEmpty() ? 0 : (POINTS + servers.size() - 1) / servers.size();
    for (var server : servers) {
      for (int i = 0; i < each; i++) {
        points.add(new Point(hashOf(server + "_" + i), server));
      }
    }
    points.sort((a, b) -> Long.compareUnsigned(a.hash, b.hash));
  }

  /** The point of a key: XXH64. */
  static long hashOf(String key) {
    return LongHashFunction.xx().hashBytes(key.getBytes(StandardCharsets.UTF_8));
  }

  /** The first server from a point on that is good; null: none is. */
  String find(long hash, Predicate<String> good) {
    int low = 0;
    for (int high = points.size(); low < high; ) {
      int middle = (low + high) / 2;
      if (Long.compareUnsigned(points.get(middle).hash, hash) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    for (int i = 0; i < points.size(); i++) {
      var server = points.get((low + i) % points.size()).server;
      if (good.test(server)) {
        return server;
      }
    }
    return null;
  }
}
