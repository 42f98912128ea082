package attend

import (
	"math"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/codes"
)

// Retry says how often a call is made again, and after how long. UNAVAILABLE is
// retried; RESOURCE_EXHAUSTED if the server says when. What the server says
// (RetryInfo, grpc-retry-pushback-ms) takes the place of the backoff. A stream
// is made again until its first message.
//
// gRPC's own retries would not do. They end when headers have arrived, and a
// server that returns request ids sends headers with every error.
type Retry struct {
	MaxAttempts    int           // the first included; 1: nothing is retried
	InitialBackoff time.Duration // doubles
	MaxBackoff     time.Duration
}

// DefaultRetry is what a client does that is not told otherwise.
var DefaultRetry = Retry{MaxAttempts: 4, InitialBackoff: 100 * time.Millisecond,
	MaxBackoff: 2 * time.Second}

// Hedging sends a call once more while it is not answered: to the next server.
// The first answer counts, and the other attempts are cancelled. All of them
// count as attempts of Retry. Streams are not hedged.
type Hedging struct {
	After      time.Duration // the pause before the next attempt; 0: no hedging
	MaxRunning int           // attempts at the same time; 0: 2
}

func (e *Error) retriable() bool {
	return !e.final && (e.Code == codes.Unavailable ||
		(e.Code == codes.ResourceExhausted && e.RetryAfter != nil))
}

// pause is what comes before the next attempt, after `made` attempts.
func (r Retry) pause(e *Error, made int) time.Duration {
	if e.RetryAfter != nil {
		return *e.RetryAfter
	}
	backoff := min(float64(r.MaxBackoff),
		float64(r.InitialBackoff)*math.Exp2(float64(made-1)))
	return time.Duration(backoff * (0.8 + 0.4*rand.Float64()))
}

// next is pause, and whether there is another attempt: not if it would begin
// when the call's time is over.
func (r Retry) next(e *Error, made int, end time.Time) (time.Duration, bool) {
	pause := r.pause(e, made)
	late := !end.IsZero() && pause >= time.Until(end)
	return pause, made < r.MaxAttempts && !late
}
