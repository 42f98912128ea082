package attend;

import attend.v1.*;
import io.grpc.Channel;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/**
 * Calls one or several servers of the same models. Threads may share it.
 *
 * <p>Results come in the order of the inputs. Methods throw {@link AttendException};
 * an interrupt of the thread cancels the call. Options are functions that set fields
 * of the request:
 *
 * <pre>{@code
 * client.generate(Inputs.texts("How are you?"),
 *     request -> request.getParamsBuilder().setNumBeams(4));
 * }</pre>
 */
public final class AttendClient implements AutoCloseable {
  private final AsyncAttendClient async;

  AttendClient(AsyncAttendClient async) {
    this.async = async;
  }

  /**
   * Options of a client of {@code HOST:PORT}, or of several of them with commas
   * between. Of one, DNS may name several servers.
   */
  public static ClientBuilder builder(String target) {
    return new ClientBuilder(target);
  }

  /** Options of a client of {@code ATTEND_ADDRESS}, or else of localhost:50051. */
  public static ClientBuilder builder() {
    return new ClientBuilder("");
  }

  /** The same methods, which do not wait for their answers. */
  public AsyncAttendClient async() {
    return async;
  }

  /** A client with the same connections, whose calls have another timeout; null: none. */
  public AttendClient withTimeout(Duration timeout) {
    return new AttendClient(async.withTimeout(timeout));
  }

  /** A client with the same connections, whose calls send more metadata. */
  public AttendClient withMetadata(String key, String value) {
    return new AttendClient(async.withMetadata(key, value));
  }

  /**
   * For stubs, which make calls with whole messages, balanced and retried, but
   * without the client's token, metadata and timeout.
   */
  public Channel channel() {
    return async.calls().channel();
  }

  /** Ends the calls that run, and the connections: also those of {@code withTimeout}. */
  @Override
  public void close() {
    async.calls().close();
  }

  /** Continues texts, answers chats, or translates sentences. */
  @SafeVarargs
  public final List<GenerateResult> generate(
      List<Input> inputs, Consumer<GenerateRequest.Builder>... options) {
    return await(async.generate(inputs, options));
  }

  /** The text that {@code generate} returns, in parts as they are computed. */
  @SafeVarargs
  public final TextStream stream(
      Input input, Consumer<GenerateRequest.Builder>... options) {
    return new TextStream(async.stream(input, options));
  }

  /** Translates documents of any number of sentences: text, HTML, XML, Markdown. */
  @SafeVarargs
  public final List<Translation> translate(
      List<String> documents, Consumer<TranslateRequest.Builder>... options) {
    return await(async.translate(documents, options));
  }

  /** A document's translation, sentence by sentence. */
  @SafeVarargs
  public final TextStream translateStream(
      String document, Consumer<TranslateRequest.Builder>... options) {
    return new TextStream(async.translateStream(document, options));
  }

  /** The log-probability of each pair's target after its source. */
  @SafeVarargs
  public final List<ScoreResult> score(
      List<ScorePair> pairs, Consumer<ScoreRequest.Builder>... options) {
    return await(async.score(pairs, options));
  }

  /** A vector of each input: [inputs][width]. */
  @SafeVarargs
  public final float[][] embed(
      List<Input> inputs, Consumer<EmbedRequest.Builder>... options) {
    return await(async.embed(inputs, options));
  }

  /** The vectors of each input's tokens: [inputs][tokens][width]. */
  @SafeVarargs
  public final float[][][] embedTokens(
      List<Input> inputs, Consumer<EmbedRequest.Builder>... options) {
    return await(async.embedTokens(inputs, options));
  }

  /** Labels texts, pairs of texts, or the tokens of texts. */
  @SafeVarargs
  public final List<ClassifyResult> classify(
      List<Input> inputs, Consumer<ClassifyRequest.Builder>... options) {
    return await(async.classify(inputs, options));
  }

  /** Finds tokens for the masks in texts. */
  @SafeVarargs
  public final List<FillMaskResult> fillMask(
      List<Input> inputs, Consumer<FillMaskRequest.Builder>... options) {
    return await(async.fillMask(inputs, options));
  }

  /** The answers to questions in texts, best first. */
  @SafeVarargs
  public final List<AnswerResult> answer(
      List<Question> questions, Consumer<AnswerRequest.Builder>... options) {
    return await(async.answer(questions, options));
  }

  /** The documents' indices and scores, those first that answer the query best. */
  @SafeVarargs
  public final List<RerankResult> rerank(
      String query, List<String> documents, Consumer<RerankRequest.Builder>... options) {
    return await(async.rerank(query, documents, options));
  }

  /** The token ids of texts, then of the request's chats. */
  @SafeVarargs
  public final List<Tokenization> tokenize(
      List<String> texts, Consumer<TokenizeRequest.Builder>... options) {
    return await(async.tokenize(texts, options));
  }

  /** The texts of lists of token ids. */
  @SafeVarargs
  public final List<String> detokenize(
      List<List<Integer>> sequences, Consumer<DetokenizeRequest.Builder>... options) {
    return await(async.detokenize(sequences, options));
  }

  /** The models of the server, the default model first. */
  public List<Model> models() {
    return await(async.models());
  }

  /** A model of the server; of an empty name its default model. */
  public Model model(String name) {
    return await(async.model(name));
  }

  /**
   * Loads a model, or loads it anew; version 0: the highest. Needs a server with
   * {@code --model-control=explicit}, and time: see {@link #withTimeout}.
   */
  public Model loadModel(String name, long version) {
    return await(async.loadModel(name, version));
  }

  /** Takes a model out of service. Calls that run go on. */
  public void unloadModel(String name) {
    await(async.unloadModel(name));
  }

  /** Makes a name an alias of models with weights; of none: ends it. */
  public void setAlias(String name, Map<String, Integer> targets) {
    await(async.setAlias(name, targets));
  }

  /**
   * Records what the server computes, at most a minute: JSON for ui.perfetto.dev. The
   * timeout begins after that time.
   */
  public byte[] profile(Duration time) {
    return await(async.profile(time));
  }

  private static <R> R await(CompletableFuture<R> future) {
    try {
      return future.get();
    } catch (InterruptedException error) {
      future.cancel(true);
      Thread.currentThread().interrupt();
      throw new AttendException(Status.Code.CANCELLED, "the thread was interrupted");
    } catch (ExecutionException error) {
      if (error.getCause() instanceof RuntimeException known) {
        known.fillInStackTrace(); // of the caller; the cause has the other
        throw known;
      }
      throw new IllegalStateException(error.getCause());
    }
  }
}
