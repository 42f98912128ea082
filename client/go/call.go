package attend

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// begin gives a call its metadata, and its time if the caller gave it none.
func (c *Client) begin(ctx context.Context) (context.Context,
	context.CancelFunc, time.Time) {
	pairs := c.metadata
	if c.trace != nil {
		for key, value := range c.trace(ctx) {
			pairs = append(pairs[:len(pairs):len(pairs)], key, value)
		}
	}
	ctx = metadata.AppendToOutgoingContext(ctx, pairs...)
	if end, ok := ctx.Deadline(); ok {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel, end
	}
	if c.timeout <= 0 {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel, time.Time{}
	}
	end := time.Now().Add(c.timeout)
	ctx, cancel := context.WithDeadline(ctx, end)
	return ctx, cancel, end
}

// saying tells the server how many attempts there were before.
func saying(ctx context.Context, before int) context.Context {
	if before == 0 {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "grpc-previous-rpc-attempts",
		strconv.Itoa(before))
}

type outcome[Answer any] struct {
	answer *Answer
	failed *Error
}

// caller makes an attempt of a call.
type caller[Request, Answer any] func(context.Context, *Request,
	...grpc.CallOption) (*Answer, error)

// unary makes a call by one or several attempts: after a failure when the rules
// of Retry say so, and with Hedging while others run.
func unary[Request, Answer any](ctx context.Context, c *Client,
	method caller[Request, Answer], request *Request) (*Answer, error) {
	return attempts(ctx, c, c.hedging, method, request)
}

func attempts[Request, Answer any](ctx context.Context, c *Client,
	hedging Hedging, method caller[Request, Answer], request *Request) (
	*Answer, error) {
	ctx, cancel, end := c.begin(ctx)
	defer cancel() // of what still runs
	outcomes := make(chan outcome[Answer], c.retry.MaxAttempts)
	key := affinityKey(request, c.affinity)
	attempt := func(before, others int) {
		var trailer metadata.MD
		answer, err := method(withKey(saying(ctx, before), key, others), request,
			grpc.Trailer(&trailer))
		if err != nil {
			outcomes <- outcome[Answer]{failed: errorOf(err, trailer)}
			return
		}
		outcomes <- outcome[Answer]{answer: answer}
	}
	made, running := 0, 0
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, asError(ctx.Err())
		case <-next.C:
			if running > 0 && !c.hedged.take() {
				continue
			}
			made++
			running++
			go attempt(made-1, running-1)
			if made < c.retry.MaxAttempts && running < hedging.MaxRunning {
				next.Reset(hedging.After)
			}
		case ended := <-outcomes:
			running--
			if ended.failed == nil {
				if made == 1 {
					c.hedged.answered()
				}
				return ended.answer, nil
			}
			if !ended.failed.retriable() {
				return nil, ended.failed
			}
			pause, again := c.retry.next(ended.failed, made, end)
			if !again && running == 0 {
				return nil, ended.failed
			}
			next.Stop()
			if again {
				next.Reset(pause)
			}
		}
	}
}
