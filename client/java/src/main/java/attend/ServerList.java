package attend;

import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.Status;
import io.grpc.StatusOr;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Servers whose addresses the client was given as a list, which gRPC knows as
 * {@code attend:///a:1,b:2}. The names in it are resolved again when a server is
 * lost.
 */
final class ServerList extends NameResolver {
  private static final String SCHEME = "attend";
  private static final Pattern ADDRESS = Pattern.compile("\\[?([^\\[\\]/]+)]?:(\\d{1,5})");

  static {
    NameResolverRegistry.getDefaultRegistry().register(new Provider());
  }

  private final List<String> addresses;
  private final Args args;
  private Listener2 listener;
  private volatile boolean closed;

  private ServerList(List<String> addresses, Args args) {
    this.addresses = addresses;
    this.args = args;
  }

  /** What gRPC calls the servers: HOST:PORT, or several with commas between. */
  static String target(String text) {
    var addresses = Stream.of(text.split(",", -1)).map(String::trim).toList();
    boolean single = addresses.size() == 1;
    if (single && !ADDRESS.matcher(addresses.get(0)).matches()) {
      return addresses.get(0); // what else gRPC knows, as unix:///path
    }
    addresses.forEach(ServerList::parse);
    try {
      // With a scheme, since a host may have the name of one.
      return new URI(single ? "dns" : SCHEME, "", "/" + String.join(",", addresses), null)
          .toASCIIString();
    } catch (URISyntaxException error) {
      throw new IllegalArgumentException("addresses '" + text + "'", error);
    }
  }

  /** The host is not resolved. */
  private static InetSocketAddress parse(String address) {
    var found = ADDRESS.matcher(address);
    if (!found.matches() || Integer.parseInt(found.group(2)) > 0xffff) {
      throw new IllegalArgumentException("address '" + address + "' must be HOST:PORT");
    }
    return InetSocketAddress.createUnresolved(
        found.group(1), Integer.parseInt(found.group(2)));
  }

  /** All servers go by the name of the first. */
  @Override
  public String getServiceAuthority() {
    return addresses.get(0);
  }

  @Override
  public void start(Listener2 listener) {
    this.listener = listener;
    refresh();
  }

  @Override
  public void refresh() {
    args.getOffloadExecutor().execute(() -> {
      var result = ResolutionResult.newBuilder().setAddressesOrError(resolve()).build();
      args.getSynchronizationContext().execute(() -> {
        if (!closed) {
          listener.onResult2(result);
        }
      });
    });
  }

  /** A name that is not known is left out, unless none is. */
  private StatusOr<List<EquivalentAddressGroup>> resolve() {
    var found = new ArrayList<EquivalentAddressGroup>();
    var unknown = new ArrayList<String>();
    for (var address : addresses) {
      var parsed = parse(address);
      try {
        for (var ip : InetAddress.getAllByName(parsed.getHostString())) {
          found.add(new EquivalentAddressGroup(
              new InetSocketAddress(ip, parsed.getPort())));
        }
      } catch (UnknownHostException error) {
        unknown.add(parsed.getHostString());
      }
    }
    return found.isEmpty()
        ? StatusOr.fromStatus(Status.UNAVAILABLE.withDescription(
            "hosts that are not known: " + String.join(", ", unknown)))
        : StatusOr.fromValue(found);
  }

  @Override
  public void shutdown() {
    closed = true;
  }

  private static final class Provider extends NameResolverProvider {
    @Override
    public NameResolver newNameResolver(URI target, Args args) {
      return SCHEME.equals(target.getScheme())
          ? new ServerList(List.of(target.getPath().substring(1).split(",")), args) : null;
    }

    @Override
    public String getDefaultScheme() {
      return SCHEME;
    }

    @Override
    protected boolean isAvailable() {
      return true;
    }

    @Override
    protected int priority() {
      return 0; // dns, the default for what has no scheme, has more
    }
  }
}
