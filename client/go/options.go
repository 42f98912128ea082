package attend

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// Option is an argument of NewClient.
type Option func(*settings)

// settings is what the options of a client say.
type settings struct {
	model    string
	token    string
	tls      *TLS
	timeout  time.Duration
	retry    Retry
	metadata []string // keys and values in turn
	trace    func(context.Context) map[string]string
	dial     []grpc.DialOption
}

// TLS says how servers and the client prove who they are. Files are PEM.
type TLS struct {
	CA         string // file of the servers' CAs; empty: those of the system
	Cert, Key  string // files of the client's own certificate; empty: none
	ServerName string // in servers' certificates; empty: the (first) host
}

// WithModel names the model of calls that do not say.
func WithModel(name string) Option {
	return func(s *settings) { s.model = name }
}

// WithToken sends "authorization: Bearer TOKEN" with each call.
func WithToken(token string) Option {
	return func(s *settings) { s.token = token }
}

// WithTLS connects by TLS.
func WithTLS(files TLS) Option {
	return func(s *settings) { s.tls = &files }
}

// WithTimeout is for calls whose context has no deadline; all attempts share
// it. Default: a minute. 0: no limit.
func WithTimeout(timeout time.Duration) Option {
	return func(s *settings) { s.timeout = timeout }
}

// Retry says how often gRPC makes a call again, and after how long: UNAVAILABLE,
// and RESOURCE_EXHAUSTED unless the server forbids it. The pause that the server
// names (grpc-retry-pushback-ms) takes the place of the backoff. A stream is made
// again until its first message.
type Retry struct {
	MaxAttempts    int           // the first included; 1: nothing is retried
	InitialBackoff time.Duration // doubles
	MaxBackoff     time.Duration
}

// DefaultRetry is what a client does that is not told otherwise.
var DefaultRetry = Retry{MaxAttempts: 4, InitialBackoff: 100 * time.Millisecond,
	MaxBackoff: 2 * time.Second}

// serviceConfig sends calls to the servers that are serving, in turn.
func (r Retry) serviceConfig() string {
	methods := ""
	if r.MaxAttempts > 1 {
		methods = fmt.Sprintf(`, "methodConfig": [{"name": [{}], "retryPolicy": {
			"maxAttempts": %d, "initialBackoff": "%.9fs", "maxBackoff": "%.9fs",
			"backoffMultiplier": 2,
			"retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"]}}]`,
			r.MaxAttempts, r.InitialBackoff.Seconds(), r.MaxBackoff.Seconds())
	}
	return `{"loadBalancingConfig": [{"round_robin": {}}],
		"healthCheckConfig": {"serviceName": ""}` + methods + "}"
}

// WithRetry replaces DefaultRetry.
func WithRetry(retry Retry) Option {
	return func(s *settings) { s.retry = retry }
}

// WithMetadata sends keys and values, in turn, with each call.
func WithMetadata(pairs ...string) Option {
	return func(s *settings) { s.metadata = append(s.metadata, pairs...) }
}

// WithTrace sends what `trace` returns with each call. Package attendtrace has
// such a function for OpenTelemetry.
func WithTrace(trace func(context.Context) map[string]string) Option {
	return func(s *settings) { s.trace = trace }
}

// WithoutHealthChecks is for a client behind a proxy that balances calls: the
// health of one server would speak for all.
func WithoutHealthChecks() Option {
	return WithDialOptions(grpc.WithDisableHealthCheck())
}

// WithDialOptions are more options of gRPC's channel.
func WithDialOptions(options ...grpc.DialOption) Option {
	return func(s *settings) { s.dial = append(s.dial, options...) }
}

// finish reads the variables and files that the options leave open.
func (s *settings) finish() (credentials.TransportCredentials, error) {
	s.token = or(s.token, "TOKEN")
	if strings.ContainsFunc(s.token, func(r rune) bool {
		return r <= ' ' || r > '~'
	}) {
		return nil, errors.New("the token has a character that is not " +
			"printable ASCII, or a space")
	}
	if s.token != "" {
		s.metadata = append(s.metadata, "authorization", "Bearer "+s.token)
	}
	wanted, err := yes(os.Getenv("ATTEND_TLS"))
	if err != nil {
		return nil, err
	}
	var files TLS
	if s.tls != nil {
		wanted, files = true, *s.tls
	}
	files = TLS{CA: or(files.CA, "CA"), Cert: or(files.Cert, "CERT"),
		Key: or(files.Key, "KEY"), ServerName: or(files.ServerName, "SERVER_NAME")}
	if !wanted && files == (TLS{}) {
		return insecure.NewCredentials(), nil
	}
	return files.credentials()
}

func (t TLS) credentials() (credentials.TransportCredentials, error) {
	config := &tls.Config{ServerName: t.ServerName}
	if t.CA != "" {
		text, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: has no certificate in PEM", t.CA)
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("cert and key must be given together")
	}
	if t.Cert != "" {
		own, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", t.Cert, t.Key, err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	return credentials.NewTLS(config), nil
}

// or is a value, or that of a variable of the environment if it is empty.
func or(value, variable string) string {
	if value != "" {
		return value
	}
	return os.Getenv("ATTEND_" + variable)
}

func yes(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "1", "true", "on", "yes":
		return true, nil
	case "0", "false", "off", "no", "":
		return false, nil
	}
	return false, fmt.Errorf("ATTEND_TLS is '%s', must be true or false", text)
}
