package attend

import (
	"context"
	"time"

	"attend.internal/attend/attendv1"
	"google.golang.org/protobuf/types/known/durationpb"
)

// LoadModel loads or reloads a model; version 0 is the highest. It needs a
// server with --model-control=explicit, and time: give the context a deadline.
func (c *Client) LoadModel(ctx context.Context, name string, version int64) (*attendv1.Model, error) {
	answer, err := unary(ctx, c, c.admin.LoadModel,
		&attendv1.LoadModelRequest{Name: name, Version: version})
	return answer.GetModel(), err
}

// UnloadModel takes a model out of service. Running calls continue.
func (c *Client) UnloadModel(ctx context.Context, name string) error {
	_, err := unary(ctx, c, c.admin.UnloadModel, &attendv1.UnloadModelRequest{Name: name})
	return err
}

// SetAlias makes a name an alias of models with weights; an empty map removes it.
func (c *Client) SetAlias(ctx context.Context, name string, targets map[string]int32) error {
	request := &attendv1.SetAliasRequest{Name: name}
	for model, weight := range targets {
		request.Targets = append(request.Targets,
			&attendv1.AliasTarget{Model: model, Weight: &weight})
	}
	_, err := unary(ctx, c, c.admin.SetAlias, request)
	return err
}

// Profile records what the server computes, at most a minute: JSON for
// ui.perfetto.dev. The client's timeout begins after that time.
func (c *Client) Profile(ctx context.Context, duration time.Duration) ([]byte, error) {
	if _, ok := ctx.Deadline(); !ok && c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout+duration)
		defer cancel()
	}
	var trace []byte
	err := chunks(ctx, c, c.admin.Profile, &attendv1.ProfileRequest{Duration: durationpb.New(duration)},
		func(chunk *attendv1.ProfileChunk) (bool, error) {
			trace = append(trace, chunk.Trace...)
			return true, nil
		})
	if err != nil {
		return nil, err
	}
	return trace, nil
}
