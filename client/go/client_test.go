package attend

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"attend.internal/attend/attendtrace"
	"attend.internal/attend/attendv1"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// The rest is tested by tests/client/conformance, as other languages' packages
// are.

// fakeServer answers with what it was called with.
type fakeServer struct {
	attendv1.UnimplementedAttendServer
	seen   metadata.MD
	calls  int
	script []answer // to the first calls
}

type answer struct {
	code     codes.Code
	pushback string
}

func (s *fakeServer) Embed(ctx context.Context, r *attendv1.EmbedRequest) (
	*attendv1.EmbedResponse, error) {
	s.seen, _ = metadata.FromIncomingContext(ctx)
	s.calls++
	if s.calls <= len(s.script) {
		line := s.script[s.calls-1]
		if line.pushback != "" {
			grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", line.pushback))
		}
		return nil, status.Error(line.code, "failed")
	}
	answer := &attendv1.EmbedResponse{}
	for _, input := range r.Inputs {
		result := &attendv1.EmbedResult{Status: &attendv1.Status{}, Width: 2}
		if input.GetText() == "bad" {
			result = &attendv1.EmbedResult{Status: &attendv1.Status{
				Code: int32(codes.InvalidArgument), Message: "a bad text"}}
		} else {
			length := float32(len(input.GetText()))
			for _, number := range []float32{length, -0.5} {
				result.Data = binary.LittleEndian.AppendUint32(result.Data,
					math.Float32bits(number))
			}
		}
		answer.Results = append(answer.Results, result)
	}
	return answer, nil
}

func start(t *testing.T, options ...Option) (*fakeServer, *Client) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fake, server := &fakeServer{}, grpc.NewServer()
	attendv1.RegisterAttendServer(server, fake)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	client, err := NewClient(listener.Addr().String(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return fake, client
}

func TestOneInputFails(t *testing.T) {
	_, client := start(t)
	rows, err := client.Embed(context.Background(), Texts("abc", "bad", "a"))
	want := [][]float32{{3, -0.5}, nil, {1, -0.5}}
	if !reflect.DeepEqual(rows, want) {
		t.Errorf("rows are %v, not %v", rows, want)
	}
	var e *Error
	if !errors.As(err, &e) || e.Input == nil || *e.Input != 1 ||
		e.Error() != "InvalidArgument: input 1: a bad text" {
		t.Errorf("error is %v", err)
	}
}

func TestErrorsOfOtherPackages(t *testing.T) {
	_, client := start(t)
	_, err := client.Generate(context.Background(), Texts("a"))
	if err = fmt.Errorf("outer: %w", err); status.Code(err) != codes.Unimplemented {
		t.Errorf("code of %v is %v", err, status.Code(err))
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, context.Canceled) {
		t.Errorf("%v is what it is not", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), -time.Second)
	defer cancel()
	_, err = client.Models(ctx)
	if !errors.Is(err, context.DeadlineExceeded) ||
		!errors.Is(err, ErrDeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
}

// Answers of a server before it computes: UNAVAILABLE, and RESOURCE_EXHAUSTED with
// a pause or with the wish not to see the call again.
func TestRetries(t *testing.T) {
	again := []answer{{codes.Unavailable, ""}, {codes.ResourceExhausted, "1"}}
	for name, c := range map[string]struct {
		script   []answer
		attempts int
		calls    int
		want     codes.Code
	}{
		"again":      {again, 3, 3, codes.OK},
		"many":       {slices.Repeat(again, 3), 7, 7, codes.OK},
		"the last":   {again, 2, 2, codes.ResourceExhausted},
		"one":        {again, 1, 1, codes.Unavailable},
		"forbidden":  {[]answer{{codes.ResourceExhausted, "-1"}}, 3, 1, codes.ResourceExhausted},
		"not safely": {[]answer{{codes.Internal, "1"}}, 3, 1, codes.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			fake, client := start(t, WithRetry(Retry{MaxAttempts: c.attempts,
				InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond}))
			fake.script = c.script
			_, err := client.Embed(context.Background(), Texts("a"))
			if status.Code(err) != c.want || fake.calls != c.calls {
				t.Errorf("%d calls, error is %v", fake.calls, err)
			}
			before := fake.seen.Get("grpc-previous-rpc-attempts")
			if c.calls > 1 && !slices.Equal(before, []string{strconv.Itoa(c.calls - 1)}) {
				t.Errorf("attempts before are %v", before)
			}
		})
	}
}

func TestTrace(t *testing.T) {
	fake, client := start(t, WithTrace(attendtrace.Metadata))
	span := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{15: 3}, SpanID: trace.SpanID{7: 4},
		TraceFlags: trace.FlagsSampled})
	for ctx, want := range map[context.Context]int{
		context.Background(): 0,
		trace.ContextWithSpanContext(context.Background(), span): 1} {
		if _, err := client.Embed(ctx, Texts("a")); err != nil {
			t.Fatal(err)
		}
		found := fake.seen.Get("traceparent")
		if len(found) != want || (want == 1 && found[0] !=
			fmt.Sprintf("00-%032x-%016x-01", 3, 4)) {
			t.Errorf("traceparent is %v", found)
		}
	}
}

func TestWhatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		target string
		option Option
		want   string
	}{
		{"a:1,b", nil, "'b' must be HOST:PORT"},
		{"a:1,:2", nil, "':2' must be HOST:PORT"},
		{"a:1", WithTLS(TLS{CA: file}), "has no certificate in PEM"},
		{"a:1", WithTLS(TLS{Cert: file}), "must be given together"},
		{"a:1", WithTLS(TLS{Cert: file, Key: "none"}), "none"},
		{"a:1", WithToken("ä"), "printable ASCII"},
	} {
		options := []Option{}
		if c.option != nil {
			options = append(options, c.option)
		}
		_, err := NewClient(c.target, options...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, not %s", c.target, err, c.want)
		}
	}
	t.Setenv("ATTEND_TLS", "maybe")
	if _, err := NewClient("a:1"); err == nil ||
		!strings.Contains(err.Error(), "'maybe'") {
		t.Errorf("error is %v", err)
	}
}
