package attend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What clients are made of, without a server. */
class ClientBuilderTest {
  @Test
  void addressesAreAList() {
    assertEquals("attend:///a:1,b:2", ServerList.target(" a:1, b:2"));
    assertEquals("dns:///attend:1", ServerList.target("attend:1"));
    assertEquals("dns:///%5B::1%5D:1", ServerList.target("[::1]:1"));
    assertEquals("unix:///a:1", ServerList.target("unix:///a:1"));
    assertEquals("attend:///%5B::1%5D:1,b:2", ServerList.target("[::1]:1,b:2"));
  }

  @Test
  void whatCannotBe(@TempDir Path folder) throws IOException {
    var file = Files.writeString(folder.resolve("file"), "text");
    assertRefused("address 'b' must be HOST:PORT", () -> client("a:1,b"));
    assertRefused("address ':2' must be HOST:PORT", () -> client("a:1,:2"));
    assertRefused("address 'b:99999' must be", () -> client("a:1,b:99999"));
    assertRefused("has no certificate in PEM",
        () -> client("a:1", b -> b.tls(Tls.DEFAULT.withCa(file))));
    assertRefused("must be given together",
        () -> client("a:1", b -> b.environment(Map.of("ATTEND_CERT", "x"))));
    assertRefused("no/where",
        () -> client("a:1", b -> b.tls(Tls.DEFAULT.withCa(Path.of("/no/where")))));
    assertRefused("printable ASCII", () -> client("a:1", b -> b.token("ä")));
    assertRefused("'maybe'",
        () -> client("a:1", b -> b.environment(Map.of("ATTEND_TLS", "maybe"))));
    assertRefused("maxAttempts is 0", () -> Retry.DEFAULT.withMaxAttempts(0));
    assertRefused("key", () -> client("a:1", b -> b.metadata("a key", "x")));
  }

  /** A host may have the name of a scheme. */
  @Test
  void hostIsNotAScheme() {
    for (var host : List.of("attend", "dns", "unix", "localhost")) {
      try (var one = AttendClient.builder(host + ":1").environment(Map.of()).build()) {
        assertEquals(host + ":1", one.channel().authority());
      }
    }
  }

  private static void client(String target) {
    client(target, builder -> {});
  }

  private static void client(String target, Consumer<ClientBuilder> options) {
    var builder = AttendClient.builder(target).environment(Map.of());
    options.accept(builder);
    builder.build().close();
  }

  private static void assertRefused(String wanted, Runnable run) {
    var error = assertThrows(RuntimeException.class, run::run);
    assertTrue(error.getMessage().contains(wanted), error.getMessage());
  }
}
