package attend

import (
	"context"
	"io"
	"time"

	"attend.internal/attend/attendv1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
)

// LoadModel loads a model, or loads it anew; version 0: the highest. It needs a
// server with --model-control=explicit, and time: give the context a deadline.
func (c *Client) LoadModel(ctx context.Context, name string,
	version int64) (*attendv1.Model, error) {
	answer, err := once(ctx, c, c.admin.LoadModel,
		&attendv1.LoadModelRequest{Name: name, Version: version})
	return answer.GetModel(), err
}

// UnloadModel takes a model out of service. Calls that run go on.
func (c *Client) UnloadModel(ctx context.Context, name string) error {
	_, err := once(ctx, c, c.admin.UnloadModel,
		&attendv1.UnloadModelRequest{Name: name})
	return err
}

// SetAlias makes a name an alias of models with weights; of none: ends it.
func (c *Client) SetAlias(ctx context.Context, name string,
	targets map[string]int32) error {
	request := &attendv1.SetAliasRequest{Name: name}
	for model, weight := range targets {
		request.Targets = append(request.Targets,
			&attendv1.AliasTarget{Model: model, Weight: &weight})
	}
	_, err := once(ctx, c, c.admin.SetAlias, request)
	return err
}

// Profile records what the server computes, at most a minute: JSON for
// ui.perfetto.dev. The client's timeout begins after that time.
func (c *Client) Profile(ctx context.Context, duration time.Duration) ([]byte,
	error) {
	if _, ok := ctx.Deadline(); !ok && c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout+duration)
		defer cancel()
	}
	trace, err := once(ctx, c, c.profile, &attendv1.ProfileRequest{
		Duration: durationpb.New(duration)})
	if err != nil {
		return nil, err
	}
	return *trace, nil
}

func (c *Client) profile(ctx context.Context, request *attendv1.ProfileRequest,
	options ...grpc.CallOption) (*[]byte, error) {
	running, err := c.admin.Profile(ctx, request, options...)
	if err != nil {
		return nil, err
	}
	trace := []byte{}
	for {
		piece, err := running.Recv()
		if err == io.EOF {
			return &trace, nil
		}
		if err != nil {
			return nil, err
		}
		trace = append(trace, piece.Trace...)
	}
}

// once makes a call that a server is not asked for twice at the same time.
func once[Request, Answer any](ctx context.Context, c *Client,
	method caller[Request, Answer], request *Request) (*Answer, error) {
	return attempts(ctx, c, Hedging{}, method, request)
}
