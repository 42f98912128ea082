package attend

import (
	"context"
	"io"
	"iter"
	"time"

	"google.golang.org/grpc"
)

// opener begins a call whose answer is a stream.
type opener[Request, Chunk any] func(context.Context, *Request,
	...grpc.CallOption) (grpc.ServerStreamingClient[Chunk], error)

// stream yields the parts of a call's messages, and in the end the error if
// there is one. Who leaves the loop over it cancels the call.
func stream[Request, Chunk any](ctx context.Context, c *Client,
	open opener[Request, Chunk], request *Request,
	part func(*Chunk) (string, *Error)) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		ctx, cancel, end := c.begin(ctx)
		defer cancel()
		for made := 1; ; made++ {
			begun, failed := attemptStream(ctx, open, request, part, yield)
			if failed == nil {
				return
			}
			pause, again := c.retry.next(failed, made, end)
			if begun || !again || !failed.retriable() {
				yield("", failed)
				return
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				yield("", asError(ctx.Err()))
				return
			}
		}
	}
}

// attemptStream says whether a message came, and what went wrong: nil if the
// stream ended well, or its reader left.
func attemptStream[Request, Chunk any](ctx context.Context,
	open opener[Request, Chunk], request *Request,
	part func(*Chunk) (string, *Error),
	yield func(string, error) bool) (begun bool, failed *Error) {
	running, err := open(ctx, request)
	if err != nil {
		return false, errorOf(err, nil)
	}
	for {
		chunk, err := running.Recv()
		if err == io.EOF {
			return begun, nil
		}
		if err != nil {
			return begun, errorOf(err, running.Trailer())
		}
		begun = true
		text, failed := part(chunk)
		if failed != nil {
			return true, failed
		}
		if text != "" && !yield(text, nil) {
			return true, nil
		}
	}
}
