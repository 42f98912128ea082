package attend;

import attend.v1.*;
import com.google.protobuf.ByteString;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The methods of {@link AttendClient}, which do not wait for their answers. A future
 * fails with an {@link AttendException}. Cancelling it cancels the call; a future
 * that was made of it does not.
 */
public final class AsyncAttendClient {
  private final Calls calls;
  private final String model;

  AsyncAttendClient(Calls calls, String model) {
    this.calls = calls;
    this.model = model;
  }

  /** See {@link AttendClient#withTimeout}. */
  public AsyncAttendClient withTimeout(Duration timeout) {
    return new AsyncAttendClient(calls.withTimeout(timeout), model);
  }

  /** See {@link AttendClient#withMetadata}. */
  public AsyncAttendClient withMetadata(String key, String value) {
    return new AsyncAttendClient(calls.withMetadata(key, value), model);
  }

  Calls calls() {
    return calls;
  }

  /** See {@link AttendClient#generate}. */
  @SafeVarargs
  public final CompletableFuture<List<GenerateResult>> generate(
      List<Input> inputs, Consumer<GenerateRequest.Builder>... options) {
    var request = GenerateRequest.newBuilder().setModel(model).addAllInputs(inputs);
    return unary(AttendGrpc.getGenerateMethod(), changed(request, options).build(),
        answer -> Results.readAll(answer.getResultsList(), GenerateResult::getStatus));
  }

  /** See {@link AttendClient#stream}. Each subscriber gets a call of its own. */
  @SafeVarargs
  public final Flow.Publisher<String> stream(
      Input input, Consumer<GenerateRequest.Builder>... options) {
    var request = GenerateRequest.newBuilder().setModel(model).addInputs(input);
    return calls.publish(
        AttendGrpc.getGenerateStreamMethod(), changed(request, options).build(), Results::text);
  }

  /** See {@link AttendClient#translate}. */
  @SafeVarargs
  public final CompletableFuture<List<Translation>> translate(
      List<String> documents, Consumer<TranslateRequest.Builder>... options) {
    var request = TranslateRequest.newBuilder().setModel(model).addAllDocuments(documents);
    return unary(AttendGrpc.getTranslateMethod(), changed(request, options).build(),
        answer -> Results.readAll(answer.getResultsList(), Translation::getStatus));
  }

  /** See {@link AttendClient#translateStream}. Each subscriber gets a call of its own. */
  @SafeVarargs
  public final Flow.Publisher<String> translateStream(
      String document, Consumer<TranslateRequest.Builder>... options) {
    var request = TranslateRequest.newBuilder().setModel(model).addDocuments(document);
    return calls.publish(
        AttendGrpc.getTranslateStreamMethod(), changed(request, options).build(), Results::text);
  }

  /** See {@link AttendClient#score}. */
  @SafeVarargs
  public final CompletableFuture<List<ScoreResult>> score(
      List<ScorePair> pairs, Consumer<ScoreRequest.Builder>... options) {
    var request = ScoreRequest.newBuilder().setModel(model).addAllPairs(pairs);
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
    var request = EmbedRequest.newBuilder().setModel(model).addAllInputs(inputs);
    changed(request, options).setPerToken(perToken)
        .setEncoding(EmbeddingEncoding.EMBEDDING_FLOAT32);
    return unary(AttendGrpc.getEmbedMethod(), request.build(),
        answer -> read.apply(answer.getResultsList()));
  }

  /** See {@link AttendClient#classify}. */
  @SafeVarargs
  public final CompletableFuture<List<ClassifyResult>> classify(
      List<Input> inputs, Consumer<ClassifyRequest.Builder>... options) {
    var request = ClassifyRequest.newBuilder().setModel(model).addAllInputs(inputs);
    return unary(AttendGrpc.getClassifyMethod(), changed(request, options).build(),
        answer -> Results.readAll(answer.getResultsList(), ClassifyResult::getStatus));
  }

  /** See {@link AttendClient#fillMask}. */
  @SafeVarargs
  public final CompletableFuture<List<FillMaskResult>> fillMask(
      List<Input> inputs, Consumer<FillMaskRequest.Builder>... options) {
    var request = FillMaskRequest.newBuilder().setModel(model).addAllInputs(inputs);
    return unary(AttendGrpc.getFillMaskMethod(), changed(request, options).build(),
        answer -> Results.readAll(answer.getResultsList(), FillMaskResult::getStatus));
  }

  /** See {@link AttendClient#answer}. */
  @SafeVarargs
  public final CompletableFuture<List<AnswerResult>> answer(
      List<Question> questions, Consumer<AnswerRequest.Builder>... options) {
    var request = AnswerRequest.newBuilder().setModel(model).addAllQuestions(questions);
    return unary(AttendGrpc.getAnswerMethod(), changed(request, options).build(),
        answer -> Results.readAll(answer.getResultsList(), AnswerResult::getStatus));
  }

  /** See {@link AttendClient#rerank}. */
  @SafeVarargs
  public final CompletableFuture<List<RerankResult>> rerank(
      String query, List<String> documents, Consumer<RerankRequest.Builder>... options) {
    var request = RerankRequest.newBuilder()
        .setModel(model).setQuery(query).addAllDocuments(documents);
    return unary(AttendGrpc.getRerankMethod(), changed(request, options).build(),
        // They are ordered by their scores.
        answer -> Results.readAll(answer.getResultsList(), RerankResult::getStatus,
            Function.identity(), RerankResult::getIndex));
  }

  /** See {@link AttendClient#tokenize}. */
  @SafeVarargs
  public final CompletableFuture<List<Tokenization>> tokenize(
      List<String> texts, Consumer<TokenizeRequest.Builder>... options) {
    var request = TokenizeRequest.newBuilder().setModel(model).addAllTexts(texts);
    return unary(AttendGrpc.getTokenizeMethod(), changed(request, options).build(),
        answer -> Results.readAll(answer.getResultsList(), Tokenization::getStatus));
  }

  /** See {@link AttendClient#detokenize}. */
  @SafeVarargs
  public final CompletableFuture<List<String>> detokenize(
      List<List<Integer>> sequences, Consumer<DetokenizeRequest.Builder>... options) {
    var request = DetokenizeRequest.newBuilder().setModel(model);
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
    var timeout = calls.timeout();
    return calls.withTimeout(timeout == null ? null : timeout.plus(time)).collect(
        AdminGrpc.getProfileMethod(), request, chunks -> chunks.stream()
            .map(ProfileChunk::getTrace).reduce(ByteString.EMPTY, ByteString::concat)
            .toByteArray());
  }

  private static <B> B changed(B request, Consumer<B>[] options) {
    for (var option : options) {
      option.accept(request);
    }
    return request;
  }

  private <Q, A, R> CompletableFuture<R> unary(
      MethodDescriptor<Q, A> method, Q request, Function<A, R> read) {
    return calls.collect(method, request, answers -> read.apply(answers.get(0)));
  }
}
