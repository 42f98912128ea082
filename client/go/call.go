package attend

import (
	"context"
	"io"
	"iter"

	"attend.internal/attend/attendv1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// caller is a stub's method with one answer, opener one that streams.
type caller[Request, Answer any] func(context.Context, *Request, ...grpc.CallOption) (*Answer, error)
type opener[Request, Chunk any] func(context.Context, *Request, ...grpc.CallOption) (
	grpc.ServerStreamingClient[Chunk], error)

// begin gives a call its metadata, and a deadline unless its context has one.
func (c *Client) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = metadata.AppendToOutgoingContext(ctx, c.metadata...)
	if c.trace != nil {
		for key, value := range c.trace(ctx) {
			ctx = metadata.AppendToOutgoingContext(ctx, key, value)
		}
	}
	if _, ok := ctx.Deadline(); ok || c.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.timeout)
}

func unary[Request, Answer any](ctx context.Context, c *Client, method caller[Request, Answer],
	request *Request) (*Answer, error) {
	ctx, cancel := c.begin(ctx)
	defer cancel()
	var trailer metadata.MD
	answer, err := method(ctx, request, grpc.Trailer(&trailer))
	if err != nil {
		return nil, errorOf(err, trailer)
	}
	return answer, nil
}

// results makes a call whose answer has a result for each input.
func results[Request, Answer any, Result withStatus](ctx context.Context, c *Client,
	method caller[Request, Answer], request *Request, options []func(*Request),
	read func(*Answer) []Result) ([]Result, error) {
	answer, err := unary(ctx, c, method, changed(request, options))
	if err != nil {
		return nil, err
	}
	return read(answer), firstFailed(read(answer))
}

// changed makes a caller's changes to a request.
func changed[Request any](request *Request, options []func(*Request)) *Request {
	for _, option := range options {
		option(request)
	}
	return request
}

// stream yields the parts of a call's messages, and its error if it fails.
// Leaving the loop over it cancels the call.
func stream[Request, Chunk any](ctx context.Context, c *Client, open opener[Request, Chunk],
	request *Request, part func(*Chunk) (string, error)) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		err := chunks(ctx, c, open, request, func(chunk *Chunk) (bool, error) {
			text, err := part(chunk)
			return err == nil && (text == "" || yield(text, nil)), err
		})
		if err != nil {
			yield("", err)
		}
	}
}

// chunks calls `take` with each message of a call until it returns false.
func chunks[Request, Chunk any](ctx context.Context, c *Client, open opener[Request, Chunk],
	request *Request, take func(*Chunk) (bool, error)) error {
	ctx, cancel := c.begin(ctx)
	defer cancel()
	var trailer metadata.MD
	running, err := open(ctx, request, grpc.Trailer(&trailer))
	for err == nil {
		var chunk *Chunk
		if chunk, err = running.Recv(); err == nil {
			if more, failed := take(chunk); !more {
				return failed
			}
		}
	}
	if err == io.EOF {
		return nil
	}
	return errorOf(err, trailer)
}

// generated is the text of a chunk, if it is of the first choice.
func generated(chunk *attendv1.GenerateChunk) (string, error) {
	if chunk.Choice != 0 {
		return "", ofInput(int(chunk.Input), chunk.Status)
	}
	return chunk.Text, ofInput(int(chunk.Input), chunk.Status)
}

// translated is the text of a chunk.
func translated(chunk *attendv1.TranslateChunk) (string, error) {
	return chunk.Text, ofInput(int(chunk.Document), chunk.Status)
}
