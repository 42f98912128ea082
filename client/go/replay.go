package attend

import (
	"math/rand/v2"
	"slices"
	"strings"

	"attend.internal/attend/attendv1"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// replay is the text of a stream that may have been made several times. Results
// are the same each time, whatever else the servers do; see withSeed. A stream is
// made again
//   - by its tokens so far as forced prefix: they are not computed again one by
//     one. For models that continue text, by greedy search;
//   - else from its beginning, and what has been seen is left out.
type replay struct {
	seen  string
	at    int     // the length of the current attempt's text
	ids   []int32 // of that text
	ended bool    // the last token has come
}

// next is what of an attempt's next part, the text of this message, has not been
// seen.
func (r *replay) next(part string, message any) (string, *Error) {
	known := r.seen[min(r.at, len(r.seen)):min(r.at+len(part), len(r.seen))]
	if !strings.HasPrefix(part, known) {
		return "", anotherText()
	}
	r.at += len(part)
	r.seen += part[len(known):]
	if chunk, ok := message.(*attendv1.GenerateChunk); ok {
		r.ids = append(r.ids, chunk.Ids...)
		r.ended = r.ended || chunk.FinishReason != 0
	}
	return part[len(known):], nil
}

// end is the error of an attempt that ends well, but before what has been seen.
func (r *replay) end() *Error {
	if r.at < len(r.seen) {
		return anotherText()
	}
	return nil
}

// mayContinue is whether it depends on the model alone that a forced prefix will
// do.
func (r *replay) mayContinue(request *attendv1.GenerateRequest) bool {
	params := request.Params
	return len(r.ids) > 0 && !r.ended && params.MaxNewTokens != nil &&
		params.Constraint == nil && params.ForcedPrefix == nil
}

// With these set the rest of a result is not what a result is that begins with
// the tokens so far, or text may be held back.
var notContinued = []protoreflect.Name{"do_sample", "presence_penalty",
	"frequency_penalty", "echo", "prompt_log_probs"}

// continues is whether a forced prefix will do.
func (r *replay) continues(params *attendv1.GenerationParams,
	model *attendv1.Model) bool {
	last := r.ids[len(r.ids)-1]
	return model.ContinuesSource &&
		(*params.MaxNewTokens == 0 || *params.MaxNewTokens > int32(len(r.ids))) &&
		!slices.Contains(model.EosIds, last) &&
		!slices.Contains(params.StopIds, last) &&
		setting(params, model, "num_beams").Int() == 1 &&
		setting(params, model, "num_return_sequences").Int() == 1 &&
		!slices.ContainsFunc(notContinued, func(name protoreflect.Name) bool {
			return isSet(setting(params, model, name))
		}) && len(params.StopStrings)+len(model.Defaults.GetStopStrings())+
		len(params.BeginSuppressTokens)+
		len(model.Defaults.GetBeginSuppressTokens()) == 0
}

// again is the request of the next attempt, by the tokens so far.
func (r *replay) again(request *attendv1.GenerateRequest,
	model *attendv1.Model) *attendv1.GenerateRequest {
	least := setting(request.Params, model, "min_new_tokens").Int()
	found := proto.Clone(request).(*attendv1.GenerateRequest)
	params, made := found.Params, int32(len(r.ids))
	params.ForcedPrefix = &attendv1.GenerationParams_PrefixTokens{
		PrefixTokens: &attendv1.Tokens{Ids: slices.Clone(r.ids)}}
	if *params.MaxNewTokens > 0 { // 0: as many as there is room for
		*params.MaxNewTokens -= made
	}
	params.MinNewTokens = proto.Int32(max(0, int32(least)-made))
	return found
}

// fromBeginning is for an attempt that has the whole text.
func (r *replay) fromBeginning() { r.at, r.ids = 0, nil }

// setting is a parameter of a request, or the model's default.
func setting(params *attendv1.GenerationParams, model *attendv1.Model,
	name protoreflect.Name) protoreflect.Value {
	message := params.ProtoReflect()
	field := message.Descriptor().Fields().ByName(name)
	if !message.Has(field) {
		message = model.Defaults.ProtoReflect()
	}
	return message.Get(field)
}

func isSet(value protoreflect.Value) bool {
	switch set := value.Interface().(type) {
	case bool:
		return set
	case float32:
		return set != 0
	}
	return value.Int() != 0
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
