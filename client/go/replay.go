package attend

import (
	"math/rand/v2"
	"strings"

	"attend.internal/attend/attendv1"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// replay is the text of a stream that may have been made several times. Each
// time it begins anew, and what has been seen is left out. Results are the same
// each time, whatever else the servers do; see withSeed.
type replay struct {
	seen string
	at   int // the length of the current attempt's text
}

// next is what of an attempt's next part has not been seen.
func (r *replay) next(part string) (string, *Error) {
	known := r.seen[min(r.at, len(r.seen)):min(r.at+len(part), len(r.seen))]
	if !strings.HasPrefix(part, known) {
		return "", anotherText()
	}
	r.at += len(part)
	r.seen += part[len(known):]
	return part[len(known):], nil
}

// end is the error of an attempt that ends well, but before what has been seen.
func (r *replay) end() *Error {
	if r.at < len(r.seen) {
		return anotherText()
	}
	return nil
}

func anotherText() *Error {
	return &Error{Code: codes.Unavailable, final: true,
		Message: "the stream broke off, and has another text when it is made " +
			"again"}
}

// withSeed draws the seed that the server would draw, so that a second attempt
// has the same. It does nothing where results are not sampled.
func withSeed(params *attendv1.GenerationParams) *attendv1.GenerationParams {
	if params != nil && params.Seed != nil {
		return params
	}
	seeded := &attendv1.GenerationParams{Seed: proto.Uint64(rand.Uint64())}
	proto.Merge(seeded, params)
	return seeded
}
