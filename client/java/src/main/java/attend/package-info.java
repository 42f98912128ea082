/**
 * A client of Attend, a server of transformer models on CPUs.
 *
 * <pre>{@code
 * try (var client = AttendClient.builder("localhost:50051").build()) {
 *   for (var part : client.translateStream("How are you?")) {
 *     System.out.print(part);
 *   }
 * }
 * }</pre>
 *
 * <p>Requests and results are the messages of package {@code attend.v1};
 * {@code docs/api.md} of Attend's repository has the meaning of their fields.
 */
package attend;
