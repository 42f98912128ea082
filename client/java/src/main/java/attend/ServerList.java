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
 * Resolves the addresses of a list, which gRPC knows as {@code attend:///a:1,b:2}. The
 * names in it are resolved again when a server is lost.
 */
final class ServerList extends NameResolverProvider {
  private static final String SCHEME = "attend";
  private static final Pattern ADDRESS = Pattern.compile("\\[?([^\\[\\]/]+)]?:(\\d{1,5})");

  static {
    NameResolverRegistry.getDefaultRegistry().register(new ServerList());
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

  /** A name that is not known is left out, unless none is. */
  private static NameResolver.ResolutionResult resolve(List<String> addresses) {
    var found = new ArrayList<EquivalentAddressGroup>();
    var unknown = new ArrayList<String>();
    for (var address : addresses) {
      var parsed = parse(address);
      try {
        for (var ip : InetAddress.getAllByName(parsed.getHostString())) {
          found.add(new EquivalentAddressGroup(new InetSocketAddress(ip, parsed.getPort())));
        }
      } catch (UnknownHostException error) {
        unknown.add(parsed.getHostString());
      }
    }
    StatusOr<List<EquivalentAddressGroup>> result = found.isEmpty()
        ? StatusOr.fromStatus(Status.UNAVAILABLE.withDescription(
            "hosts that are not known: " + String.join(", ", unknown)))
        : StatusOr.fromValue(found);
    return NameResolver.ResolutionResult.newBuilder().setAddressesOrError(result).build();
  }

  @Override
  public NameResolver newNameResolver(URI target, NameResolver.Args args) {
    if (!SCHEME.equals(target.getScheme())) {
      return null;
    }
    var addresses = List.of(target.getPath().substring(1).split(","));
    return new NameResolver() {
      private Listener2 listener;

      /** All servers go by the name of the first. */
      @Override
      public String getServiceAuthority() {
        return addresses.get(0);
      }

      @Override
      public void start(Listener2 given) {
        listener = given;
        refresh();
      }

      @Override
      public void refresh() {
        args.getOffloadExecutor().execute(() -> {
          var result = resolve(addresses);
          args.getSynchronizationContext().execute(() -> listener.onResult2(result));
        });
      }

      @Override
      public void shutdown() {}
    };
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
