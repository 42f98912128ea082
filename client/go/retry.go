package attend

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
)

// Retry says how often a call is made again, and after how long. UNAVAILABLE is
// retried; RESOURCE_EXHAUSTED if the server says when. What the server says
// (RetryInfo, grpc-retry-pushback-ms) takes the place of the backoff. So are
// calls that a proxy or a broken connection cuts off.
//
// gRPC's own retries would not do. They end when headers have arrived, and a
// server that returns request ids sends headers with every error.
type Retry struct {
	MaxAttempts    int           // the first included; 1: nothing is retried
	InitialBackoff time.Duration // doubles
	MaxBackoff     time.Duration
	// A stream that has begun is made again, too, and goes on where it broke
	// off: results are the same each time. An attempt that brings something new
	// counts as the first. true: it ends.
	NoResume bool
}

// DefaultRetry is what a client does that is not told otherwise.
var DefaultRetry = Retry{MaxAttempts: 4, InitialBackoff: 100 * time.Millisecond,
	MaxBackoff: 2 * time.Second}

// Hedging sends a call once more while it is not answered: to the next server.
// The first answer counts, and the other attempts are cancelled. All of them
// count as attempts of Retry. Streams are not hedged. An overload is not made
// worse by it: ten calls may be hedged at once, then one for two that were
// answered in time.
type Hedging struct {
	After      time.Duration // the pause before the next attempt; 0: no hedging
	MaxRunning int           // attempts at the same time; 0: 2
}

// How grpc-go reports a call that was cut off in the middle, with several codes.
const broken = "stream terminated by RST_STREAM with error code"

func (e *Error) retriable() bool {
	return !e.final && (e.Code == codes.Unavailable ||
		strings.HasPrefix(e.Message, broken) ||
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

// budget is of calls that may be hedged.
type budget struct {
	mutex sync.Mutex
	spent float64
}

// take is whether a call may be hedged.
func (b *budget) take() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.spent > 9 {
		return false
	}
	b.spent++
	return true
}

// answered is called for calls that were answered in time.
func (b *budget) answered() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.spent = max(0, b.spent-0.5)
}
