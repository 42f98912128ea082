package attend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"attend.internal/attend/attendv1"
	"google.golang.org/grpc/metadata"
)

// affinityHeader has what calls that begin alike have in common: the client's
// balancer and proxies send those with one value to one server.
const affinityHeader = "x-attend-affinity"

// affinityKey is of the first bytes of what a request asks about first. Empty: it
// asks about nothing, or nobody wants it.
func affinityKey(request any, bytes int) string {
	text, ok := firstText(request)
	if !ok || bytes <= 0 {
		return ""
	}
	hash := sha256.Sum256([]byte(text)[:min(bytes, len(text))])
	return hex.EncodeToString(hash[:8])
}

// withKey sends the key with an attempt. While others of its call run it has
// another key: of N servers, one in N goes to the same.
func withKey(ctx context.Context, key string, others int) context.Context {
	if key == "" {
		return ctx
	}
	if others > 0 {
		key += "-2"
	}
	return metadata.AppendToOutgoingContext(ctx, affinityHeader, key)
}

func firstText(request any) (string, bool) {
	var texts []string
	switch r := request.(type) {
	case interface{ GetInputs() []*attendv1.Input }:
		if len(r.GetInputs()) > 0 {
			return inputText(r.GetInputs()[0]), true
		}
	case interface{ GetPairs() []*attendv1.ScorePair }:
		if len(r.GetPairs()) > 0 {
			return inputText(r.GetPairs()[0].GetSource()), true
		}
	case *attendv1.RerankRequest:
		texts = append(r.Documents[:len(r.Documents):len(r.Documents)], r.Query)
	case *attendv1.TranslateRequest:
		texts = r.Documents
	case *attendv1.TokenizeRequest:
		texts = r.Texts
	}
	if len(texts) == 0 {
		return "", false
	}
	return texts[0], true
}

func inputText(input *attendv1.Input) string {
	var parts []string
	if chat := input.GetChat(); chat != nil {
		for _, message := range chat.Messages {
			parts = append(parts, message.Role+"\x00"+message.Content)
		}
		return strings.Join(parts, "\x00")
	}
	if tokens := input.GetTokens(); tokens != nil {
		for _, id := range tokens.Ids {
			parts = append(parts, strconv.Itoa(int(id)))
		}
		return strings.Join(parts, " ")
	}
	return input.GetText()
}
