package main

import (
	"context"
	"encoding/json"
	"iter"
	"log"
	"maps"
	"slices"

	"attend.internal/attend"
	"attend.internal/attend/attendv1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// request fills a message from a case.
func request[Message proto.Message](c *call, message Message) Message {
	if err := protojson.Unmarshal(c.Request, message); err != nil {
		log.Fatal(err)
	}
	return message
}

// as sets what a case asks for, beside what the method's arguments say.
func as[Message any, Pointer interface {
	*Message
	proto.Message
}](wanted Pointer) func(*Message) {
	return func(request *Message) { proto.Merge(Pointer(request), wanted) }
}

func each[From, To any](values []From, to func(From) To) []To {
	found := make([]To, len(values))
	for i, value := range values {
		found[i] = to(value)
	}
	return found
}

// parts are those of a stream, until as many have come as the case wants.
func (c *call) parts(client *attend.Client, stream iter.Seq2[string, error]) (
	any, error) {
	var found []string
	for part, err := range stream {
		if err != nil {
			return found, err
		}
		found = append(found, part)
		if c.AtFirstPart != "" && len(found) == 1 {
			// It fails: the server dies of it.
			client.Generate(context.Background(), attend.Texts(c.AtFirstPart))
		}
		if len(found) == c.StopAfter {
			break
		}
	}
	return found, nil
}

// callOnce gives the result of a call in the form of the cases.
func callOnce(ctx context.Context, client *attend.Client, c *call) (any, error) {
	switch c.Method {
	case "generate", "stream":
		r := request(c, &attendv1.GenerateRequest{})
		inputs := r.Inputs
		r.Inputs = nil
		if c.Method == "stream" {
			return c.parts(client, client.Stream(ctx, inputs[0], as(r)))
		}
		found, err := client.Generate(ctx, inputs, as(r))
		return each(found, func(result *attendv1.GenerateResult) []string {
			return each(result.Choices, (*attendv1.Choice).GetText)
		}), err
	case "translate", "translateStream":
		r := request(c, &attendv1.TranslateRequest{})
		documents := r.Documents
		r.Documents = nil
		if c.Method == "translateStream" {
			return c.parts(client, client.TranslateStream(ctx, documents[0], as(r)))
		}
		found, err := client.Translate(ctx, documents, as(r))
		return each(found, (*attendv1.Translation).GetText), err
	case "score":
		r := request(c, &attendv1.ScoreRequest{})
		found, err := client.Score(ctx, r.Pairs)
		return each(found, (*attendv1.ScoreResult).GetLogProb), err
	case "embed", "embedTokens":
		r := request(c, &attendv1.EmbedRequest{})
		inputs := r.Inputs
		r.Inputs = nil
		if c.Method == "embedTokens" {
			return client.EmbedTokens(ctx, inputs, as(r))
		}
		return client.Embed(ctx, inputs, as(r))
	}
	return callOther(ctx, client, c)
}

func callOther(ctx context.Context, client *attend.Client, c *call) (any, error) {
	switch c.Method {
	case "classify":
		r := request(c, &attendv1.ClassifyRequest{})
		inputs := r.Inputs
		r.Inputs = nil
		found, err := client.Classify(ctx, inputs, as(r))
		return each(found, labels), err
	case "fillMask":
		r := request(c, &attendv1.FillMaskRequest{})
		inputs := r.Inputs
		r.Inputs = nil
		found, err := client.FillMask(ctx, inputs, as(r))
		return each(found, (*attendv1.FillMaskResult).GetText), err
	case "rerank":
		r := request(c, &attendv1.RerankRequest{})
		found, err := client.Rerank(ctx, r.Query, r.Documents,
			func(request *attendv1.RerankRequest) { request.Model = r.Model })
		return each(found, func(result *attendv1.RerankResult) []any {
			return []any{result.Index, result.Score}
		}), err
	case "tokenize":
		r := request(c, &attendv1.TokenizeRequest{})
		found, err := client.Tokenize(ctx, r.Texts)
		return each(found, (*attendv1.Tokenization).GetIds), err
	case "detokenize":
		r := request(c, &attendv1.DetokenizeRequest{})
		ids := each(r.Sequences, (*attendv1.Tokens).GetIds)
		r.Sequences = nil
		return client.Detokenize(ctx, ids, as(r))
	case "models":
		found, err := client.Models(ctx)
		return each(found, (*attendv1.Model).GetName), err
	case "model":
		found, err := client.Model(ctx, c.Name)
		return found.GetFamily(), err
	}
	return callAdmin(ctx, client, c)
}

func callAdmin(ctx context.Context, client *attend.Client, c *call) (any, error) {
	switch c.Method {
	case "loadModel":
		found, err := client.LoadModel(ctx, c.Name, c.Version)
		return found.GetFamily(), err
	case "unloadModel":
		return nil, client.UnloadModel(ctx, c.Name)
	case "setAlias":
		return nil, client.SetAlias(ctx, c.Name, c.Targets)
	case "profile":
		trace, err := client.Profile(ctx, seconds(c.Seconds))
		if err != nil {
			return nil, err
		}
		var found map[string]any
		err = json.Unmarshal(trace, &found)
		return slices.Sorted(maps.Keys(found)), err
	}
	log.Fatalf("no method %s", c.Method)
	return nil, nil
}

func labels(result *attendv1.ClassifyResult) (found [][]any) {
	for _, token := range result.Tokens {
		found = append(found, []any{token.Token.Piece, token.Token.Begin,
			token.Token.End, token.Labels[0].Label, token.Labels[0].Score})
	}
	for _, label := range result.Labels {
		found = append(found, []any{label.Label, label.Score})
	}
	return found
}
