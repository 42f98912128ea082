package attend;

import attend.v1.AdminGrpc;
import attend.v1.AliasTarget;
import attend.v1.AnswerRequest;
import attend.v1.AnswerResult;
import attend.v1.AttendGrpc;
import attend.v1.ClassifyRequest;
import attend.v1.ClassifyResult;
import attend.v1.DetokenizeRequest;
import attend.v1.Detokenization;
import attend.v1.EmbedRequest;
import attend.v1.EmbedResult;
import attend.v1.EmbeddingEncoding;
import attend.v1.FillMaskRequest;
import attend.v1.FillMaskResult;
import attend.v1.GenerateRequest;
import attend.v1.GenerateResult;
import attend.v1.GetModelRequest;
import attend.v1.Input;
import attend.v1.ListModelsRequest;
import attend.v1.LoadModelRequest;
import attend.v1.LoadModelResponse;
import attend.v1.Model;
import attend.v1.ProfileChunk;
import attend.v1.ProfileRequest;
import attend.v1.Question;
import attend.v1.RerankRequest;
import attend.v1.RerankResult;
import attend.v1.ScorePair;
import attend.v1.ScoreRequest;
import attend.v1.ScoreResult;
import attend.v1.SetAliasRequest;
import attend.v1.TokenizeRequest;
import attend.v1.Tokenization;
import attend.v1.Tokens;
import attend.v1.TranslateRequest;
import attend.v1.Translation;
import attend.v1.UnloadModelRequest;
import com.google.protobuf.ByteString;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The methods of {@link AttendClient}, which do not wait for their answers. A future
 * fails with an {@link AttendException}. Cancelling it cancels the call; a future
 * that was made of it does not.
 */
public final class AsyncAttendClient {
  private final Connection connection;
  private final CallSettings settings;

  AsyncAttendClient(Connection connection, CallSettings settings) {
    this.connection = connection;
    this.settings = settings;
  }

  /** See {@link AttendClient#withTimeout}. */
  public AsyncAttendClient withTimeout(Duration timeout) {
    return new AsyncAttendClient(connection, settings.withTimeout(timeout));
  }

  /** See {@link AttendClient#withMetadata}. */
  public AsyncAttendClient withMetadata(String key, String value) {
    return new AsyncAttendClient(connection, settings.withMetadata(key, value));
  }

  Connection connection() {
    return connection;
  }

  /** See {@link AttendClient#generate}. */
  @SafeVarargs
  public final CompletableFuture<List<GenerateResult>> generate(
      List<Input> inputs, Consumer<GenerateRequest.Builder>... options) {
    var request = GenerateRequest.newBuilder()
        .setModel(connection.model).addAllInputs(inputs);
    return unary(AttendGrpc.getGenerateMethod(), changed(request, options).build(),
        answer -> Results.readAll(answer.getResultsList(), GenerateResult::getStatus));
  }

  /** See {@link AttendClient#stream}. Each subscriber gets a call of its own. */
  @SafeVarargs
  public final Flow.Publisher<String> stream(
      Input input, Consumer<GenerateRequest.Builder>... options) {
    var request = GenerateRequest.newBuilder().setModel(connection.model).addInputs(input);
    if (!changed(request, options).getParams().hasSeed()) {
      request.getParamsBuilder().setSeed(newSeed());
    }
    return streamed(AttendGrpc.getGenerateStreamMethod(), request.build(), Results::text);
  }

  /** See {@link AttendClient#translate}. */
  @SafeVarargs
  public final CompletableFuture<List<Translation>> translate(
      List<String> documents, Consumer<TranslateRequest.Builder>... options) {
    var request = TranslateRequest.newBuilder()
        .setModel(connection.model).addAllDocuments(documents);
    return unary(AttendGrpc.getTranslateMethod(), changed(request, options).build(),
        answer -> Results.readAll(answer.getResultsList(), Translation::getStatus));
  }

  /** See {@link AttendClient#translateStream}. Each subscriber gets a call of its own. */
  @SafeVarargs
  public final Flow.Publisher<String> translateStream(
      String document, Consumer<TranslateRequest.Builder>... options) {
    var request = TranslateRequest.newBuilder()
        .setModel(connection.model).addDocuments(document);
    if (!changed(request, options).getParams().hasSeed()) {
      request.getParamsBuilder().setSeed(newSeed());
    }
    return streamed(AttendGrpc.getTranslateStreamMethod(), request.build(), Results::text);
  }

  /** See {@link AttendClient#score}. */
  @SafeVarargs
  public final CompletableFuture<List<ScoreResult>> score(
      List<ScorePair> pairs, Consumer<ScoreRequest.Builder>... options) {
    var request = ScoreRequest.newBuilder().setModel(connection.model).addAllPairs(pairs);
    return unary(AttendGrpc.getScoreMethod(), changed(request, options).build(),
        answer -> Results.readAll(answer.getResultsList(), ScoreResult::getStatus));
  }

  /** See {@link AttendClient#embed}. */
  @SafeVarargs
  public final CompletableFuture<float[][]> embed(
      List<Input> inputs, Consumer<EmbedRequest.Builder>... options) {
    return embed(inputs, false, options,
        (List<EmbedResult> found) -> Results.readAll(found, EmbedResult::getStatus,
            Results::vector, null).toArray(float[][]::new));
  }

  /** See {@link AttendClient#embedTokens}. */
  @SafeVarargs
  public final CompletableFuture<float[][][]> embedTokens(
      List<Input> inputs, Consumer<EmbedRequest.Builder>... options) {
    return embed(inputs, true, options,
        (List<EmbedResult> found) -> Results.readAll(found, EmbedResult::getStatus,
            Results::vectors, null).toArray(float[][][]::new));
  }

  private <R> CompletableFuture<R> embed(List<Input> inputs, boolean perToken,
      Consumer<EmbedRequest.Builder>[] options, Function<List<EmbedResult>, R> read) {
    var request = EmbedRequest.newBuilder().setModel(connection.model).addAllInputs(inputs);
    changed(request, options).setPerToken(perToken)
        .setEncoding(EmbeddingEncoding.EMBEDDING_FLOAT32);
    return unary(AttendGrpc.getEmbedMethod(), request.build(),
        answer -> read.apply(answer.getResultsList()));
  }

  /** See {@link AttendClient#classify}. */
  @SafeVarargs
  public final CompletableFuture<List<ClassifyResult>> classify(
      List<Input> inputs, Consumer<ClassifyRequest.Builder>... options) {
    var request = ClassifyRequest.newBuilder()
        .setModel(connection.model).addAllInputs(inputs);
    return unary(AttendGrpc.getClassifyMethod(), changed(request, options).build(),
        answer -> Results.readAll(answer.getResultsList(), ClassifyResult::getStatus));
  }

  /** See {@link AttendClient#fillMask}. */
  @SafeVarargs
  public final CompletableFuture<List<FillMaskResult>> fillMask(
      List<Input> inputs, Consumer<FillMaskRequest.Builder>... options) {
    var request = FillMaskRequest.newBuilder()
        .setModel(connection.model).addAllInputs(inputs);
    return unary(AttendGrpc.getFillMaskMethod(), changed(request, options).build(),
        answer -> Results.readAll(answer.getResultsList(), FillMaskResult::getStatus));
  }

  /** See {@link AttendClient#answer}. */
  @SafeVarargs
  public final CompletableFuture<List<AnswerResult>> answer(
      List<Question> questions, Consumer<AnswerRequest.Builder>... options) {
    var request = AnswerRequest.newBuilder()
        .setModel(connection.model).addAllQuestions(questions);
    return unary(AttendGrpc.getAnswerMethod(), changed(request, options).build(),
        answer -> Results.readAll(answer.getResultsList(), AnswerResult::getStatus));
  }

  /** See {@link AttendClient#rerank}. */
  @SafeVarargs
  public final CompletableFuture<List<RerankResult>> rerank(
      String query, List<String> documents, Consumer<RerankRequest.Builder>... options) {
    var request = RerankRequest.newBuilder()
        .setModel(connection.model).setQuery(query).addAllDocuments(documents);
    return unary(AttendGrpc.getRerankMethod(), changed(request, options).build(),
        // They are ordered by their scores.
        answer -> Results.readAll(answer.getResultsList(), RerankResult::getStatus,
            Function.identity(), RerankResult::getIndex));
  }

  /** See {@link AttendClient#tokenize}. */
  @SafeVarargs
  public final CompletableFuture<List<Tokenization>> tokenize(
      List<String> texts, Consumer<TokenizeRequest.Builder>... options) {
    var request = TokenizeRequest.newBuilder().setModel(connection.model).addAllTexts(texts);
    return unary(AttendGrpc.getTokenizeMethod(), changed(request, options).build(),
        answer -> Results.readAll(answer.getResultsList(), Tokenization::getStatus));
  }

  /** See {@link AttendClient#detokenize}. */
  @SafeVarargs
  public final CompletableFuture<List<String>> detokenize(
      List<List<Integer>> sequences, Consumer<DetokenizeRequest.Builder>... options) {
    var request = DetokenizeRequest.newBuilder().setModel(connection.model);
    sequences.forEach(ids -> request.addSequences(Tokens.newBuilder().addAllIds(ids)));
    return unary(AttendGrpc.getDetokenizeMethod(), changed(request, options).build(),
        answer -> Results.readAll(answer.getResultsList(), Detokenization::getStatus,
            Detokenization::getText, null));
  }

  /** See {@link AttendClient#models}. */
  public CompletableFuture<List<Model>> models() {
    return unary(AttendGrpc.getListModelsMethod(), ListModelsRequest.getDefaultInstance(),
        answer -> answer.getModelsList());
  }

  /** See {@link AttendClient#model}. */
  public CompletableFuture<Model> model(String name) {
    return unary(AttendGrpc.getGetModelMethod(),
        GetModelRequest.newBuilder().setName(name).build(), Function.identity());
  }

  /** See {@link AttendClient#loadModel}. */
  public CompletableFuture<Model> loadModel(String name, long version) {
    return unary(AdminGrpc.getLoadModelMethod(),
        LoadModelRequest.newBuilder().setName(name).setVersion(version).build(),
        LoadModelResponse::getModel);
  }

  /** See {@link AttendClient#unloadModel}. */
  public CompletableFuture<Void> unloadModel(String name) {
    return unary(AdminGrpc.getUnloadModelMethod(),
        UnloadModelRequest.newBuilder().setName(name).build(), answer -> null);
  }

  /** See {@link AttendClient#setAlias}. */
  public CompletableFuture<Void> setAlias(String name, Map<String, Integer> targets) {
    var request = SetAliasRequest.newBuilder().setName(name);
    targets.forEach((model, weight) -> request.addTargets(
        AliasTarget.newBuilder().setModel(model).setWeight(weight)));
    return unary(AdminGrpc.getSetAliasMethod(), request.build(), answer -> null);
  }

  /** See {@link AttendClient#profile}. */
  public CompletableFuture<byte[]> profile(Duration time) {
    var request = ProfileRequest.newBuilder().setDuration(
        com.google.protobuf.Duration.newBuilder()
            .setSeconds(time.getSeconds()).setNanos(time.getNano())).build();
    var timeout = settings.timeout();
    var longer = settings.withTimeout(timeout == null ? null : timeout.plus(time));
    return UnaryCall.start(
        new Call<>(connection, longer, AdminGrpc.getProfileMethod(), request),
        pieces -> pieces.stream().map(ProfileChunk::getTrace)
            .reduce(ByteString.EMPTY, ByteString::concat).toByteArray());
  }

  /**
   * The seed that the server would draw, so that a second attempt has the same. It
   * does nothing where results are not sampled.
   */
  private static long newSeed() {
    return ThreadLocalRandom.current().nextLong();
  }

  private static <B> B changed(B request, Consumer<B>[] options) {
    for (var option : options) {
      option.accept(request);
    }
    return request;
  }

  private <Q, A, R> CompletableFuture<R> unary(
      MethodDescriptor<Q, A> method, Q request, Function<A, R> read) {
    return UnaryCall.start(new Call<>(connection, settings, method, request),
        answers -> read.apply(answers.get(0)));
  }

  private <Q, A> Flow.Publisher<String> streamed(
      MethodDescriptor<Q, A> method, Q request, Function<A, String> read) {
    return subscriber -> StreamedCall.start(
        new Call<>(connection, settings, method, request), read, subscriber);
  }
}
