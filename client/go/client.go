package attend

import (
	"errors"
	"math"
	"time"

	"attend.internal/attend/attendv1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	_ "google.golang.org/grpc/health" // asks servers whether they are well
	"google.golang.org/grpc/keepalive"
)

// Client calls one or several servers of the same models. Goroutines may share
// it.
type Client struct {
	settings
	connection *grpc.ClientConn
	stub       attendv1.AttendClient
	// A server that does not serve may wait for its first model.
	anyHealth *grpc.ClientConn
	admin     attendv1.AdminClient
	hedged    budget
}

// serviceConfig says how calls are balanced: to those servers only that say they
// are serving.
func (s *settings) serviceConfig() string {
	balancer := "round_robin"
	if s.affinity > 0 {
		balancer = ringName
	}
	return `{"loadBalancingConfig": [{"` + balancer + `": {}}],
		"healthCheckConfig": {"serviceName": ""}}`
}

// NewClient makes a client. It connects when it is first used. `target` is
// HOST:PORT, or several of them with commas between. Of one, DNS may name
// several servers. If it is empty, the variable ATTEND_ADDRESS has it, else it is
// localhost:50051.
//
// ATTEND_TLS, ATTEND_CA, ATTEND_CERT, ATTEND_KEY, ATTEND_SERVER_NAME and
// ATTEND_TOKEN are read for what the options do not say.
func NewClient(target string, options ...Option) (*Client, error) {
	c := &Client{settings: settings{retry: DefaultRetry,
		timeout: time.Minute}}
	for _, option := range options {
		option(&c.settings)
	}
	transport, err := c.finish()
	if err != nil {
		return nil, err
	}
	target, reached, err := reach(target)
	if err != nil {
		return nil, err
	}
	reached = append(reached, grpc.WithTransportCredentials(transport),
		grpc.WithDefaultServiceConfig(c.serviceConfig()),
		grpc.WithDisableRetry(), // see Retry
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
		// A server that does not answer a ping is given up, and its calls are made
		// again elsewhere. A server takes a ping in 10 s (--min-ping-interval).
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 12 * time.Second, Timeout: 5 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond,
				Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: 20 * time.Second}))
	reached = append(reached, c.dial...)
	c.connection, err = grpc.NewClient(target, reached...)
	if err != nil {
		return nil, err
	}
	c.anyHealth, err = grpc.NewClient(target,
		append(reached, grpc.WithDisableHealthCheck())...)
	if err != nil {
		return nil, errors.Join(err, c.connection.Close())
	}
	c.stub = attendv1.NewAttendClient(c.connection)
	c.admin = attendv1.NewAdminClient(c.anyHealth)
	return c, nil
}

// Close ends the calls that run, and the connections.
func (c *Client) Close() error {
	return errors.Join(c.connection.Close(), c.anyHealth.Close())
}

// Stub makes calls with whole messages, balanced but not retried, and without
// the client's token, metadata and timeout.
func (c *Client) Stub() attendv1.AttendClient { return c.stub }
