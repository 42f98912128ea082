package attend

import (
	"context"
	"io"
	"iter"
	"time"

	"attend.internal/attend/attendv1"
	"google.golang.org/grpc"
)

// opener begins a call whose answer is a stream.
type opener[Request, Chunk any] func(context.Context, *Request,
	...grpc.CallOption) (grpc.ServerStreamingClient[Chunk], error)

// stream yields the parts of a call's messages, and in the end the error if
// there is one. A stream that breaks off is made again, and goes on where it
// ended. Who leaves the loop over it cancels the call.
func stream[Request, Chunk any](ctx context.Context, c *Client,
	open opener[Request, Chunk], request *Request,
	part func(*Chunk) (string, *Error)) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		of := ctx // the caller's
		ctx, cancel, end := c.begin(of)
		defer cancel()
		ctx = withKey(ctx, affinityKey(request, c.affinity), 0)
		var text replay
		sent := request
		for made, before := 1, 0; ; made, before = made+1, before+1 {
			known := len(text.seen)
			failed := attemptStream(saying(ctx, before), open, sent, part, &text,
				yield)
			if failed == nil {
				return
			}
			if len(text.seen) > known {
				made = 1 // it went on: attempts before it count no more
			}
			pause, again := c.retry.next(failed, made, end)
			begun := text.seen != "" && c.retry.NoResume
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
			sent = nextRequest(of, end, c, &text, request)
		}
	}
}

// nextRequest is the request of a stream that has broken off.
func nextRequest[Request any](ctx context.Context, end time.Time, c *Client,
	text *replay, request *Request) *Request {
	generate, ok := any(request).(*attendv1.GenerateRequest)
	if ok && text.mayContinue(generate) {
		if !end.IsZero() {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, end)
			defer cancel()
		}
		model, err := c.Model(ctx, generate.Model)
		if err == nil && text.continues(generate.Params, model) {
			return any(text.again(generate, model)).(*Request)
		}
	}
	text.fromBeginning()
	return request
}

// attemptStream says what went wrong: nil if the stream ended well, or its
// reader left.
func attemptStream[Request, Chunk any](ctx context.Context,
	open opener[Request, Chunk], request *Request,
	part func(*Chunk) (string, *Error), text *replay,
	yield func(string, error) bool) *Error {
	running, err := open(ctx, request)
	if err != nil {
		return errorOf(err, nil)
	}
	for {
		chunk, err := running.Recv()
		if err == io.EOF {
			return text.end()
		}
		if err != nil {
			return errorOf(err, running.Trailer())
		}
		found, failed := part(chunk)
		if failed == nil {
			found, failed = text.next(found, chunk)
		}
		if failed != nil {
			failed.final = true
			return failed
		}
		if found != "" && !yield(found, nil) {
			return nil
		}
	}
}
