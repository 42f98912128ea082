// Runs cases by the Go package. Each line that comes in is a case, each line that
// goes out its outcome; see ../README.md.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"time"

	"attend.internal/attend"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
)

type testCase struct {
	Target      string
	Environment map[string]string
	Call        call
	Keep        bool
	Client      struct {
		Model, Token string
		Timeout      *float64
		MaxAttempts  int
		HealthChecks *bool
		TLS          *attend.TLS
	}
}

type call struct {
	Method, Name             string
	Request                  json.RawMessage
	Timeout, CancelAfter     float64
	Metadata                 map[string]string
	Traceparent, AtFirstPart string
	StopAfter, Times, Warm   int
	Version                  int64
	Targets                  map[string]int32
	Seconds                  float64
}

type outcome struct {
	Values     []any    `json:"values"`
	Value      any      `json:"value,omitempty"`
	Code       string   `json:"code,omitempty"`
	Message    string   `json:"message,omitempty"`
	RetryAfter *float64 `json:"retryAfter"`
	Input      *int     `json:"input"`
	Others     []string `json:"others,omitempty"`
	Seconds    float64  `json:"seconds"`
	Refused    string   `json:"refused,omitempty"`
}

// As the cases spell them.
var codeNames = map[codes.Code]string{codes.Canceled: "CANCELLED",
	codes.InvalidArgument: "INVALID_ARGUMENT", codes.NotFound: "NOT_FOUND",
	codes.DeadlineExceeded:  "DEADLINE_EXCEEDED",
	codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
	codes.Unavailable:       "UNAVAILABLE", codes.Internal: "INTERNAL"}

func seconds(count float64) time.Duration {
	return time.Duration(count * float64(time.Second))
}

func (c *testCase) options() []attend.Option {
	given := c.Client
	options := []attend.Option{attend.WithModel(given.Model),
		attend.WithToken(given.Token)}
	if given.Timeout != nil {
		options = append(options, attend.WithTimeout(seconds(*given.Timeout)))
	}
	retry := attend.DefaultRetry
	if given.MaxAttempts > 0 {
		retry.MaxAttempts = given.MaxAttempts
	}
	options = append(options, attend.WithRetry(retry))
	if given.HealthChecks != nil && !*given.HealthChecks {
		options = append(options, attend.WithoutHealthChecks())
	}
	if given.TLS != nil {
		options = append(options, attend.WithTLS(*given.TLS))
	}
	return options
}

func (c *call) context() (context.Context, context.CancelFunc) {
	ctx := context.Background()
	for key, value := range c.Metadata {
		ctx = metadata.AppendToOutgoingContext(ctx, key, value)
	}
	if c.Traceparent != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "traceparent", c.Traceparent)
	}
	if c.Timeout > 0 {
		return context.WithTimeout(ctx, seconds(c.Timeout))
	}
	ctx, cancel := context.WithCancel(ctx)
	if c.CancelAfter > 0 {
		time.AfterFunc(seconds(c.CancelAfter), cancel)
	}
	return ctx, cancel
}

func (o *outcome) fail(value any, err error) {
	var e *attend.Error
	if !errors.As(err, &e) {
		log.Fatal(err)
	}
	o.Code, o.Message, o.Input = codeNames[e.Code], e.Message, e.Input
	if e.RetryAfter != nil {
		after := e.RetryAfter.Seconds()
		o.RetryAfter = &after
	}
	o.Value = value
	if choices, ok := value.([][]string); ok && e.Input != nil {
		for _, texts := range choices {
			if len(texts) > 0 {
				o.Others = append(o.Others, texts[0])
			}
		}
	}
}

var kept *attend.Client // of cases with `keep`

func (c *testCase) client() (*attend.Client, error) {
	if c.Keep && kept != nil {
		return kept, nil
	}
	client, err := attend.NewClient(c.Target, c.options()...)
	if c.Keep {
		kept = client
	}
	return client, err
}

func run(c *testCase) (result outcome) {
	client, err := c.client()
	if err != nil {
		return outcome{Refused: err.Error()}
	}
	if !c.Keep {
		defer client.Close()
	}
	// Until so many servers have answered.
	seen := map[string]bool{}
	for len(seen) < c.Call.Warm {
		found, err := client.Generate(context.Background(), attend.Texts("a"))
		if err != nil {
			log.Fatal(err)
		}
		seen[found[0].Choices[0].Text] = true
	}
	ctx, cancel := c.Call.context()
	defer cancel()
	begin := time.Now()
	for range max(1, c.Call.Times) {
		value, err := callOnce(ctx, client, &c.Call)
		if err != nil {
			result.fail(value, err)
			break
		}
		result.Values = append(result.Values, value)
	}
	result.Seconds = time.Since(begin).Seconds()
	return result
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var c testCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			log.Fatal(err)
		}
		for key, value := range c.Environment {
			os.Setenv(key, value)
		}
		if err := out.Encode(run(&c)); err != nil {
			log.Fatal(err)
		}
		for key := range c.Environment {
			os.Unsetenv(key)
		}
	}
}
