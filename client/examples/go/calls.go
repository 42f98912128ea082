package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	pb "example.org/calls/attend/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

func text(text string) *pb.Input {
	return &pb.Input{Input: &pb.Input_Text{Text: text}}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	address := cmp.Or(os.Getenv("ATTEND_ADDRESS"), "localhost:50051")
	connection := must(grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials())))
	defer connection.Close()
	attend := pb.NewAttendClient(connection)

	// == ListModels
	models := must(attend.ListModels(ctx, &pb.ListModelsRequest{}))
	fmt.Print("ListModels:")
	for _, model := range models.Models {
		fmt.Print(" ", model.Name)
	}
	fmt.Println()

	// == GetModel
	model := must(attend.GetModel(ctx, &pb.GetModelRequest{Name: "en-de"}))
	fmt.Printf("GetModel: %s, %d tokens\n", model.Family, model.MaxSourceTokens)

	// == Generate
	generated := must(attend.Generate(ctx, &pb.GenerateRequest{
		Inputs: []*pb.Input{text("How are you?"), text("I am reading a book.")},
		Params: &pb.GenerationParams{NumBeams: proto.Int32(4)},
	}))
	for _, result := range generated.Results {
		fmt.Println("Generate:", result.Choices[0].Text)
	}

	// == GenerateStream
	stream := must(attend.GenerateStream(ctx, &pb.GenerateRequest{
		Inputs: []*pb.Input{text("How are you?")},
	}))
	fmt.Print("GenerateStream: ")
	for {
		chunk, err := stream.Recv()
		if err == io.EOF {
			break
		}
		fmt.Print(must(chunk, err).Text)
	}
	fmt.Println()

	// == Translate
	translated := must(attend.Translate(ctx, &pb.TranslateRequest{
		Documents: []string{"<p>I am reading a <b>book</b>.</p>"},
		Format:    pb.DocumentFormat_DOCUMENT_FORMAT_HTML,
	}))
	fmt.Println("Translate:", translated.Results[0].Text)

	// == TranslateStream
	sentences := must(attend.TranslateStream(ctx, &pb.TranslateRequest{
		Documents: []string{"How are you? I am reading a book."},
	}))
	fmt.Print("TranslateStream: ")
	for {
		chunk, err := sentences.Recv()
		if err == io.EOF {
			break
		}
		fmt.Print(must(chunk, err).Text)
	}
	fmt.Println()

	// == Score
	scored := must(attend.Score(ctx, &pb.ScoreRequest{Pairs: []*pb.ScorePair{
		{Source: text("How are you?"), Target: text("Wie geht es dir?")},
		{Source: text("How are you?"), Target: text("Es regnet.")},
	}}))
	fmt.Println("Score: the first fits better:",
		scored.Results[0].LogProb > scored.Results[1].LogProb)

	// == Embed
	embedded := must(attend.Embed(ctx, &pb.EmbedRequest{
		Inputs:    []*pb.Input{text("A dog runs."), text("A dog is running.")},
		Normalize: proto.Bool(true),
	}))
	var cosine float32
	for i, value := range embedded.Results[0].Values {
		cosine += value * embedded.Results[1].Values[i]
	}
	fmt.Printf("Embed: cosine %.2f\n", cosine)

	// == Classify
	classified := must(attend.Classify(ctx, &pb.ClassifyRequest{
		Model: "labels", Inputs: []*pb.Input{text("I like it.")},
	}))
	best := classified.Results[0].Labels[0]
	fmt.Printf("Classify: %s %.2f\n", best.Label, best.Score)

	// == FillMask
	filled := must(attend.FillMask(ctx, &pb.FillMaskRequest{
		Model: "masks", Inputs: []*pb.Input{text("A dog [MASK].")},
	}))
	fmt.Println("FillMask:", filled.Results[0].Masks[0].Candidates[0].Text)

	// == Rerank
	ranked := must(attend.Rerank(ctx, &pb.RerankRequest{
		Model: "ranker", Query: "Who plays?",
		Documents: []string{"Two dogs play.", "It rains.", "A man reads."},
	}))
	fmt.Print("Rerank:")
	for _, result := range ranked.Results {
		fmt.Print(" ", result.Index)
	}
	fmt.Println()

	// == Tokenize
	tokenized := must(attend.Tokenize(ctx, &pb.TokenizeRequest{
		Texts: []string{"How are you?"},
	}))
	fmt.Println("Tokenize:", strings.Join(tokenized.Results[0].Pieces, " "))

	// == Detokenize
	texts := must(attend.Detokenize(ctx, &pb.DetokenizeRequest{
		Sequences: []*pb.Tokens{{Ids: tokenized.Results[0].Ids}},
	}))
	fmt.Println("Detokenize:", texts.Results[0].Text)

	// == Errors
	// A key, if the server wants one:
	// ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+key)
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := attend.Generate(ctx, &pb.GenerateRequest{
		Model: "none", Inputs: []*pb.Input{text("How are you?")},
	})
	refused := status.Convert(err)
	fmt.Printf("Errors: %v: %s\n", refused.Code(), refused.Message())
}
