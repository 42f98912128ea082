import attend.v1.AnswerRequest;
import attend.v1.AttendGrpc;
import attend.v1.ClassifyRequest;
import attend.v1.DetokenizeRequest;
import attend.v1.DocumentFormat;
import attend.v1.EmbedRequest;
import attend.v1.FillMaskRequest;
import attend.v1.GenerateRequest;
import attend.v1.GenerationParams;
import attend.v1.GetModelRequest;
import attend.v1.Input;
import attend.v1.ListModelsRequest;
import attend.v1.Model;
import attend.v1.Question;
import attend.v1.RerankRequest;
import attend.v1.ScorePair;
import attend.v1.ScoreRequest;
import attend.v1.Task;
import attend.v1.TokenizeRequest;
import attend.v1.Tokens;
import attend.v1.TranslateRequest;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.StatusRuntimeException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

public class Calls {
  static Input text(String text) {
    return Input.newBuilder().setText(text).build();
  }

  // The first model that has a task, if there is one.
  static Optional<Model> modelWith(AttendGrpc.AttendBlockingStub attend, Task task) {
    var models = attend.listModels(ListModelsRequest.getDefaultInstance());
    var found = models.getModelsList().stream()
        .filter(model -> model.getTasksList().contains(task))
        .findFirst();
    if (found.isEmpty()) System.out.println("skipped: no model here has " + task);
    return found;
  }

  public static void main(String[] args) {
    var address = Optional.ofNullable(System.getenv("ATTEND_ADDRESS"))
        .orElse("localhost:50051");
    var channel =
        Grpc.newChannelBuilder(address, InsecureChannelCredentials.create()).build();
    var attend = AttendGrpc.newBlockingStub(channel);

    // == ListModels
    var models = attend.listModels(ListModelsRequest.getDefaultInstance());
    var names = models.getModelsList().stream().map(Model::getName).toList();
    System.out.println("ListModels: " + String.join(" ", names));

    // == GetModel
    var model = attend.getModel(GetModelRequest.newBuilder().setName("en-de").build());
    System.out.printf(
        "GetModel: %s, %d tokens%n", model.getFamily(), model.getMaxSourceTokens());

    // == Generate
    var generated = attend.generate(GenerateRequest.newBuilder()
        .addInputs(text("How are you?"))
        .addInputs(text("I am reading a book."))
        .setParams(GenerationParams.newBuilder().setNumBeams(4))
        .build());
    for (var result : generated.getResultsList()) {
      System.out.println("Generate: " + result.getChoices(0).getText());
    }

    // == GenerateStream
    System.out.print("GenerateStream: ");
    attend.generateStream(
            GenerateRequest.newBuilder().addInputs(text("How are you?")).build())
        .forEachRemaining(chunk -> System.out.print(chunk.getText()));
    System.out.println();

    // == Translate
    var translated = attend.translate(TranslateRequest.newBuilder()
        .addDocuments("<p>I am reading a <b>book</b>.</p>")
        .setFormat(DocumentFormat.DOCUMENT_FORMAT_HTML)
        .build());
    System.out.println("Translate: " + translated.getResults(0).getText());

    // == TranslateStream
    System.out.print("TranslateStream: ");
    attend.translateStream(TranslateRequest.newBuilder()
            .addDocuments("How are you? I am reading a book.")
            .build())
        .forEachRemaining(chunk -> System.out.print(chunk.getText()));
    System.out.println();

    // == Score
    var request = ScoreRequest.newBuilder();
    for (var german : List.of("Wie geht es dir?", "Es regnet.")) {
      request.addPairs(ScorePair.newBuilder()
          .setSource(text("How are you?"))
          .setTarget(text(german)));
    }
    var scored = attend.score(request.build());
    System.out.println("Score: the first fits better: "
        + (scored.getResults(0).getLogProb() > scored.getResults(1).getLogProb()));

    // == Embed
    var embedded = attend.embed(EmbedRequest.newBuilder()
        .addInputs(text("A dog runs."))
        .addInputs(text("A dog is running."))
        .setNormalize(true)
        .build());
    double cosine = 0;
    for (int i = 0; i < embedded.getResults(0).getValuesCount(); ++i) {
      cosine += embedded.getResults(0).getValues(i) * embedded.getResults(1).getValues(i);
    }
    System.out.printf(Locale.ROOT, "Embed: cosine %.2f%n", cosine);

    // == Classify
    modelWith(attend, Task.TASK_CLASSIFY).ifPresent(labeller -> {
      var classified = attend.classify(ClassifyRequest.newBuilder()
          .setModel(labeller.getName())
          .addInputs(text("I like it."))
          .build());
      var best = classified.getResults(0).getLabels(0);
      System.out.printf(
          Locale.ROOT, "Classify: %s %.2f%n", best.getLabel(), best.getScore());
    });

    // == FillMask
    modelWith(attend, Task.TASK_FILL_MASK).ifPresent(filler -> {
      var filled = attend.fillMask(FillMaskRequest.newBuilder()
          .setModel(filler.getName())
          .addInputs(text("A dog " + filler.getMaskToken() + "."))
          .build());
      System.out.println("FillMask: "
          + filled.getResults(0).getMasks(0).getCandidates(0).getText());
    });

    // == Answer
    modelWith(attend, Task.TASK_ANSWER).ifPresent(reader -> {
      var answered = attend.answer(AnswerRequest.newBuilder()
          .setModel(reader.getName())
          .addQuestions(Question.newBuilder()
              .setQuestion("Who plays?")
              .setContext("Two dogs play. It rains."))
          .build());
      System.out.println("Answer: " + answered.getResults(0).getAnswers(0).getText());
    });

    // == Rerank
    modelWith(attend, Task.TASK_RERANK).ifPresent(ranker -> {
      var ranked = attend.rerank(RerankRequest.newBuilder()
          .setModel(ranker.getName())
          .setQuery("Who plays?")
          .addAllDocuments(List.of("Two dogs play.", "It rains.", "A man reads."))
          .build());
      System.out.print("Rerank:");
      for (var result : ranked.getResultsList()) {
        System.out.print(" " + result.getIndex());
      }
      System.out.println();
    });

    // == Tokenize
    var tokenized =
        attend.tokenize(TokenizeRequest.newBuilder().addTexts("How are you?").build());
    System.out.println(
        "Tokenize: " + String.join(" ", tokenized.getResults(0).getPiecesList()));

    // == Detokenize
    var tokens = Tokens.newBuilder().addAllIds(tokenized.getResults(0).getIdsList());
    var texts =
        attend.detokenize(DetokenizeRequest.newBuilder().addSequences(tokens).build());
    System.out.println("Detokenize: " + texts.getResults(0).getText());

    // == Errors
    try {
      // A key, if the server wants one: withCallCredentials(), or an interceptor that
      // adds "authorization: Bearer KEY" to the metadata.
      attend.withDeadlineAfter(5, TimeUnit.SECONDS)
          .generate(GenerateRequest.newBuilder()
              .setModel("none")
              .addInputs(text("How are you?"))
              .build());
    } catch (StatusRuntimeException error) {
      var status = error.getStatus();
      System.out.printf("Errors: %s: %s%n", status.getCode(), status.getDescription());
    }

    // == end
    channel.shutdownNow();
  }
}
