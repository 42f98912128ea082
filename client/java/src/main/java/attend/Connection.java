package attend;

import attend.v1.AdminGrpc;
import io.grpc.ManagedChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** What all calls of a client share. Thread-safe. */
final class Connection {
  private static final long BETWEEN_RECONNECTS = TimeUnit.SECONDS.toNanos(5);

  final ManagedChannel channel;
  private final ManagedChannel admin; // whatever the health of a server
  final String model;
  final Retry retry;
  final Hedging hedging; // null: none
  final int affinity; // bytes; 0: calls go to servers in turn
  final Budget budget = new Budget();
  private final AtomicLong reconnected = new AtomicLong(System.nanoTime());

  Connection(ManagedChannel channel, ManagedChannel admin, String model, Retry retry,
      Hedging hedging, int affinity) {
    this.channel = channel;
    this.admin = admin;
    this.model = model;
    this.retry = retry;
    this.hedging = hedging;
    this.affinity = affinity;
  }

  /**
   * Is called before each attempt. gRPC waits up to two minutes before it tries a
   * server again that it has lost, and its channels have no option for that.
   */
  void reconnect() {
    long now = System.nanoTime();
    long last = reconnected.get();
    if (now - last > BETWEEN_RECONNECTS && reconnected.compareAndSet(last, now)) {
      channel.resetConnectBackoff();
      admin.resetConnectBackoff();
    }
  }

  /** For the methods of a service. */
  ManagedChannel channelOf(String service) {
    return AdminGrpc.SERVICE_NAME.equals(service) ? admin : channel;
  }

  void close() {
    channel.shutdownNow();
    admin.shutdownNow();
  }
}
