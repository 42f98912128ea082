package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"

	"attend.internal/attend"
	pb "attend.internal/attend/attendv1"
	"google.golang.org/protobuf/proto"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// The first model that has a task, or nil.
func modelWith(ctx context.Context, client *attend.Client, task pb.Task) *pb.Model {
	for _, model := range must(client.Models(ctx)) {
		if slices.Contains(model.Tasks, task) {
			return model
		}
	}
	fmt.Println("skipped: no model here has", task)
	return nil
}

func main() {
	ctx := context.Background()
	// At $ATTEND_ADDRESS, or localhost:50051. A key, if the server wants one:
	// attend.WithToken(key)
	client := must(attend.NewClient(""))
	defer client.Close()

	// == ListModels
	fmt.Print("ListModels:")
	for _, model := range must(client.Models(ctx)) {
		fmt.Print(" ", model.Name)
	}
	fmt.Println()

	// == GetModel
	model := must(client.Model(ctx, "en-de"))
	fmt.Printf("GetModel: %s, %d tokens\n", model.Family, model.MaxSourceTokens)

	// == Generate
	inputs := attend.Texts("How are you?", "I am reading a book.")
	generated := must(client.Generate(ctx, inputs, func(r *pb.GenerateRequest) {
		r.Params = &pb.GenerationParams{NumBeams: proto.Int32(4)}
	}))
	for _, result := range generated {
		fmt.Println("Generate:", result.Choices[0].Text)
	}

	// == GenerateStream
	fmt.Print("GenerateStream: ")
	for part, err := range client.Stream(ctx, attend.Text("How are you?")) {
		fmt.Print(must(part, err))
	}
	fmt.Println()

	// == Translate
	pages := []string{"<p>I am reading a <b>book</b>.</p>"}
	translated := must(client.Translate(ctx, pages, func(r *pb.TranslateRequest) {
		r.Format = pb.DocumentFormat_DOCUMENT_FORMAT_HTML
	}))
	fmt.Println("Translate:", translated[0].Text)

	// == TranslateStream
	fmt.Print("TranslateStream: ")
	document := "How are you? I am reading a book."
	for part, err := range client.TranslateStream(ctx, document) {
		fmt.Print(must(part, err))
	}
	fmt.Println()

	// == Score
	question := attend.Text("How are you?")
	scored := must(client.Score(ctx, []*pb.ScorePair{
		{Source: question, Target: attend.Text("Wie geht es dir?")},
		{Source: question, Target: attend.Text("Es regnet.")},
	}))
	fmt.Println("Score: the first fits better:",
		scored[0].LogProb > scored[1].LogProb)

	// == Embed
	texts := attend.Texts("A dog runs.", "A dog is running.")
	rows := must(client.Embed(ctx, texts, func(r *pb.EmbedRequest) {
		r.Normalize = proto.Bool(true)
	}))
	var cosine float32
	for i, value := range rows[0] {
		cosine += value * rows[1][i]
	}
	fmt.Printf("Embed: cosine %.2f\n", cosine)

	// == Classify
	if model := modelWith(ctx, client, pb.Task_TASK_CLASSIFY); model != nil {
		classified := must(client.Classify(ctx, attend.Texts("I like it."),
			func(r *pb.ClassifyRequest) { r.Model = model.Name }))
		best := classified[0].Labels[0]
		fmt.Printf("Classify: %s %.2f\n", best.Label, best.Score)
	}

	// == FillMask
	if model := modelWith(ctx, client, pb.Task_TASK_FILL_MASK); model != nil {
		masked := attend.Texts("A dog " + model.MaskToken + ".")
		filled := must(client.FillMask(ctx, masked,
			func(r *pb.FillMaskRequest) { r.Model = model.Name }))
		fmt.Println("FillMask:", filled[0].Text)
	}

	// == Answer
	if model := modelWith(ctx, client, pb.Task_TASK_ANSWER); model != nil {
		questions := []*pb.Question{
			{Question: "Who plays?", Context: "Two dogs play. It rains."}}
		answered := must(client.Answer(ctx, questions,
			func(r *pb.AnswerRequest) { r.Model = model.Name }))
		fmt.Println("Answer:", answered[0].Answers[0].Text)
	}

	// == Rerank
	if model := modelWith(ctx, client, pb.Task_TASK_RERANK); model != nil {
		documents := []string{"Two dogs play.", "It rains.", "A man reads."}
		ranked := must(client.Rerank(ctx, "Who plays?", documents,
			func(r *pb.RerankRequest) { r.Model = model.Name }))
		fmt.Print("Rerank:")
		for _, result := range ranked {
			fmt.Print(" ", result.Index)
		}
		fmt.Println()
	}

	// == Tokenize
	tokenized := must(client.Tokenize(ctx, []string{"How are you?"}))
	fmt.Println("Tokenize:", strings.Join(tokenized[0].Pieces, " "))

	// == Detokenize
	found := must(client.Detokenize(ctx, [][]int32{tokenized[0].Ids}))
	fmt.Println("Detokenize:", found[0])

	// == Errors
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := client.Generate(ctx, attend.Texts("How are you?"),
		func(r *pb.GenerateRequest) { r.Model = "none" })
	var refused *attend.Error
	if errors.As(err, &refused) {
		fmt.Printf("Errors: %v: %s\n", refused.Code, refused.Message)
	}
}
