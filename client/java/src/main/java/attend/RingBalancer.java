package attend;

import com.google.common.net.InetAddresses;
import io.grpc.ConnectivityState;
import io.grpc.ConnectivityStateInfo;
import io.grpc.EquivalentAddressGroup;
import io.grpc.LoadBalancer;
import io.grpc.LoadBalancerProvider;
import io.grpc.LoadBalancerRegistry;
import io.grpc.Status;
import io.grpc.protobuf.services.HealthCheckingLoadBalancerUtil;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Sends calls to servers by the value of {@link Affinity#HEADER}: gRPC's policy
 * ring_hash, which in Java is a part of xDS, with the same ring. A server that is
 * being connected to keeps its calls; those of one that is lost, or does not serve,
 * go to others.
 */
final class RingBalancer extends LoadBalancer {
  static final String NAME = "attend_ring";

  static void register() {
    LoadBalancerRegistry.getDefaultRegistry().register(new Provider());
  }

  private final Helper helper;
  private final Map<String, Server> servers = new LinkedHashMap<>();
  private Ring ring = new Ring(List.of());

  private RingBalancer(Helper helper) {
    this.helper = helper;
  }

  @Override
  public Status acceptResolvedAddresses(ResolvedAddresses resolved) {
    var found = new LinkedHashMap<String, EquivalentAddressGroup>();
    resolved.getAddresses().forEach(group -> found.put(nameOf(group), group));
    if (found.isEmpty()) {
      var none = Status.UNAVAILABLE.withDescription("the name stands for no address");
      handleNameResolutionError(none);
      return none;
    }
    servers.entrySet().removeIf(entry -> {
      boolean gone = !found.containsKey(entry.getKey());
      if (gone) {
        entry.getValue().subchannel.shutdown();
      }
      return gone;
    });
    found.forEach((name, group) -> {
      if (!servers.containsKey(name)) {
        var server = new Server(group);
        servers.put(name, server);
        server.start();
      }
    });
    ring = new Ring(servers.keySet());
    update();
    return Status.OK;
  }

  @Override
  public void handleNameResolutionError(Status error) {
    if (servers.isEmpty()) {
      helper.updateBalancingState(ConnectivityState.TRANSIENT_FAILURE,
          new FixedResultPicker(PickResult.withError(error)));
    }
  }

  @Override
  public void shutdown() {
    servers.values().forEach(server -> server.subchannel.shutdown());
    servers.clear();
  }

  /** HOST:PORT, with numbers, as other languages write it. */
  static String nameOf(EquivalentAddressGroup group) {
    if (!(group.getAddresses().get(0) instanceof InetSocketAddress address)) {
      return group.getAddresses().get(0).toString();
    }
    return address.isUnresolved()
        ? address.getHostString() + ":" + address.getPort()
        : InetAddresses.toUriString(address.getAddress()) + ":" + address.getPort();
  }

  private void update() {
    var picker = new Picker(servers, ring);
    helper.updateBalancingState(picker.state(), picker);
  }

  private final class Server {
    private final Subchannel subchannel;
    private ConnectivityState state = ConnectivityState.CONNECTING;
    private Status error = Status.UNAVAILABLE;

    Server(EquivalentAddressGroup group) {
      subchannel = helper.createSubchannel(
          CreateSubchannelArgs.newBuilder().setAddresses(group).build());
    }

    void start() {
      subchannel.start(this::became);
      subchannel.requestConnection();
    }

    private void became(ConnectivityStateInfo info) {
      var now = info.getState();
      if (now == ConnectivityState.SHUTDOWN) {
        return;
      }
      if (now == ConnectivityState.TRANSIENT_FAILURE || now == ConnectivityState.IDLE) {
        helper.refreshNameResolution();
      }
      if (now == ConnectivityState.IDLE) {
        subchannel.requestConnection();
        now = ConnectivityState.CONNECTING;
      }
      if (now == ConnectivityState.TRANSIENT_FAILURE) {
        error = info.getStatus();
      }
      // One that is lost stays lost until it is there again.
      if (state != ConnectivityState.TRANSIENT_FAILURE || now == ConnectivityState.READY) {
        state = now;
      }
      update();
    }
  }

  private static final class Picker extends SubchannelPicker {
    private final Map<String, PickResult> results = new LinkedHashMap<>();
    private final Map<String, ConnectivityState> states = new LinkedHashMap<>();
    private final Ring ring;
    private PickResult none = PickResult.withNoResult();

    Picker(Map<String, Server> servers, Ring ring) {
      this.ring = ring;
      servers.forEach((name, server) -> {
        states.put(name, server.state);
        if (server.state == ConnectivityState.TRANSIENT_FAILURE) {
          none = PickResult.withError(server.error);
        } else {
          results.put(name, server.state == ConnectivityState.READY
              ? PickResult.withSubchannel(server.subchannel) : PickResult.withNoResult());
        }
      });
    }

    ConnectivityState state() {
      for (var each : new ConnectivityState[] {
          ConnectivityState.READY, ConnectivityState.CONNECTING}) {
        if (states.containsValue(each)) {
          return each;
        }
      }
      return ConnectivityState.TRANSIENT_FAILURE;
    }

    @Override
    public PickResult pickSubchannel(PickSubchannelArgs args) {
      var key = args.getHeaders().get(Affinity.HEADER);
      // What has no key goes anywhere.
      long hash = key == null ? ThreadLocalRandom.current().nextLong() : Ring.hashOf(key);
      var server = ring.find(hash, results::containsKey);
      return server == null ? none : results.get(server);
    }
  }

  private static final class Provider extends LoadBalancerProvider {
    @Override
    public LoadBalancer newLoadBalancer(Helper helper) {
      return HealthCheckingLoadBalancerUtil.newHealthCheckingLoadBalancer(
          new Factory() {
            @Override
            public LoadBalancer newLoadBalancer(Helper checked) {
              return new RingBalancer(checked);
            }
          }, helper);
    }

    @Override
    public boolean isAvailable() {
      return true;
    }

    @Override
    public int getPriority() {
      return 5; // the default
    }

    @Override
    public String getPolicyName() {
      return NAME;
    }
  }
}
