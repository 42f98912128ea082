package attend;

import io.grpc.ChannelCredentials;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How servers and the client prove who they are. Files are PEM; a key is PKCS #8.
 *
 * @param ca file of the servers' CAs; null: those of Java
 * @param cert file of the client's own certificate; null: none
 * @param key file of its key; null: none
 * @param serverName the name in servers' certificates; null: the (first) host
 */
public record Tls(Path ca, Path cert, Path key, String serverName) {
  /** With Java's CAs, and without a certificate of the client. */
  public static final Tls DEFAULT = new Tls(null, null, null, null);

  public Tls {
    if ((cert == null) != (key == null)) {
      throw new IllegalArgumentException("cert and key must be given together");
    }
  }

  /** The same with other CAs of servers. */
  public Tls withCa(Path file) {
    return new Tls(file, cert, key, serverName);
  }

  /** The same with a certificate of the client. */
  public Tls withCert(Path certFile, Path keyFile) {
    return new Tls(ca, certFile, keyFile, serverName);
  }

  /** The same with another name in servers' certificates. */
  public Tls withServerName(String name) {
    return new Tls(ca, cert, key, name);
  }

  ChannelCredentials credentials() {
    var builder = TlsChannelCredentials.newBuilder();
    try {
      if (ca != null) {
        builder.trustManager(withPem(ca, "CERTIFICATE").toFile());
      }
      if (cert != null) {
        builder.keyManager(withPem(cert, "CERTIFICATE").toFile(),
            withPem(key, "PRIVATE KEY").toFile());
      }
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
    return builder.build();
  }

  /** The file, which has such a thing. */
  private static Path withPem(Path file, String what) throws IOException {
    var text = Files.readString(file, StandardCharsets.ISO_8859_1);
    if (!text.contains(what + "-----")) {
      throw new IllegalArgumentException(
          file + ": has no " + what.toLowerCase() + " in PEM");
    }
    return file;
  }
}
