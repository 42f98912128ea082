package attend;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * The options of a client. {@code ATTEND_ADDRESS}, {@code ATTEND_TLS}, {@code
 * ATTEND_CA}, {@code ATTEND_CERT}, {@code ATTEND_KEY}, {@code ATTEND_SERVER_NAME} and
 * {@code ATTEND_TOKEN} are read for what they do not say.
 */
public final class ClientBuilder {
  private static final List<String> YES = List.of("1", "true", "on", "yes");
  private static final List<String> NO = List.of("", "0", "false", "off", "no");

  private final String target;
  private Map<String, String> environment = System.getenv();
  private String model = "";
  private String token = "";
  private Tls tls;
  private Retry retry = Retry.DEFAULT;
  private boolean healthChecks = true;
  private Duration timeout = Duration.ofMinutes(1);
  private final Map<String, String> metadata = new HashMap<>();
  private Consumer<ManagedChannelBuilder<?>> channel = builder -> {};

  ClientBuilder(String target) {
    this.target = target;
  }

  /** The model of calls that do not say. Default: the server's default model. */
  public ClientBuilder model(String name) {
    model = name;
    return this;
  }

  /** Sends {@code authorization: Bearer TOKEN} with each call. */
  public ClientBuilder token(String text) {
    token = text;
    return this;
  }

  /** Connects by TLS. */
  public ClientBuilder tls(Tls files) {
    tls = files;
    return this;
  }

  /** Of a call, all attempts together. Default: a minute. null: no limit. */
  public ClientBuilder timeout(Duration limit) {
    timeout = limit;
    return this;
  }

  /** Replaces {@link Retry#DEFAULT}. */
  public ClientBuilder retry(Retry rules) {
    retry = rules;
    return this;
  }

  /**
   * Watches the health of each server. Not behind a proxy that balances calls: the
   * health of one server would speak for all. Default: true.
   */
  public ClientBuilder healthChecks(boolean yes) {
    healthChecks = yes;
    return this;
  }

  /** Is sent with each call. */
  public ClientBuilder metadata(String key, String value) {
    Calls.key(key); // refuses what is no key
    metadata.put(key, value);
    return this;
  }

  /** More options of gRPC's channel. */
  public ClientBuilder channel(Consumer<ManagedChannelBuilder<?>> options) {
    channel = options;
    return this;
  }

  /** Variables that take the place of the process's. */
  public ClientBuilder environment(Map<String, String> variables) {
    environment = Map.copyOf(variables);
    return this;
  }

  /**
   * Makes the client, which connects when it is first used. Throws {@link
   * IllegalArgumentException} or {@link java.io.UncheckedIOException} if an option
   * cannot be.
   */
  public AttendClient build() {
    var bearer = or(token, "TOKEN");
    if (!bearer.chars().allMatch(each -> each > ' ' && each <= '~')) {
      throw new IllegalArgumentException(
          "the token has a character that is not printable ASCII, or a space");
    }
    if (!bearer.isEmpty()) {
      metadata.put("authorization", "Bearer " + bearer);
    }
    var files = tlsOrVariables();
    var builder = open(files);
    if (files != null && files.serverName() != null) {
      builder.overrideAuthority(files.serverName());
    }
    channel.accept(builder);
    var checked = builder.build();
    // A server that does not serve may wait for its first model.
    var any = builder.defaultServiceConfig(serviceConfig(false)).build();
    var reconnected = new AtomicLong(System.nanoTime());
    return new AttendClient(new AsyncAttendClient(
        new Calls(checked, any, reconnected, timeout, Map.copyOf(metadata)), model));
  }

  private ManagedChannelBuilder<?> open(Tls files) {
    var address = or(target, "ADDRESS");
    ChannelCredentials credentials =
        files == null ? InsecureChannelCredentials.create() : files.credentials();
    return Grpc.newChannelBuilder(
            ServerList.target(address.isEmpty() ? "localhost:50051" : address), credentials)
        .disableServiceConfigLookUp()
        .maxRetryAttempts(Math.max(2, retry.maxAttempts()))
        // A request of any size is kept for its next attempt.
        .perRpcBufferLimit(Integer.MAX_VALUE)
        .retryBufferSize(Long.MAX_VALUE)
        .defaultServiceConfig(serviceConfig(healthChecks))
        .maxInboundMessageSize(Integer.MAX_VALUE)
        // A server that does not answer a ping is given up: its calls fail as
        // UNAVAILABLE. A server takes a ping in 10 s (--min-ping-interval).
        .keepAliveTime(12, TimeUnit.SECONDS)
        .keepAliveTimeout(5, TimeUnit.SECONDS);
  }

  /** Calls are balanced, perhaps to servers that are serving only, and retried. */
  private Map<String, ?> serviceConfig(boolean checked) {
    var config = new HashMap<String, Object>();
    config.put("loadBalancingConfig", List.of(Map.of("round_robin", Map.of())));
    if (retry.maxAttempts() > 1) {
      config.put("methodConfig", List.of(retry.methodConfig()));
    }
    if (checked) {
      config.put("healthCheckConfig", Map.of("serviceName", ""));
    }
    return config;
  }

  /** null: no TLS. */
  private Tls tlsOrVariables() {
    var given = tls == null ? Tls.DEFAULT : tls;
    var name = or(given.serverName(), "SERVER_NAME");
    var found = new Tls(or(given.ca(), "CA"), or(given.cert(), "CERT"),
        or(given.key(), "KEY"), name.isEmpty() ? null : name);
    boolean wanted = isYes(environment.getOrDefault("ATTEND_TLS", ""));
    return wanted || tls != null || !found.equals(Tls.DEFAULT) ? found : null;
  }

  private static boolean isYes(String text) {
    if (YES.contains(text.toLowerCase())) {
      return true;
    }
    if (NO.contains(text.toLowerCase())) {
      return false;
    }
    throw new IllegalArgumentException(
        "ATTEND_TLS is '" + text + "', must be true or false");
  }

  private Path or(Path file, String variable) {
    var found = or("", variable);
    return file != null || found.isEmpty() ? file : Path.of(found);
  }

  /** A value, or that of a variable of the environment if it is empty. */
  private String or(String value, String variable) {
    return value != null && !value.isEmpty()
        ? value : environment.getOrDefault("ATTEND_" + variable, "");
  }
}
