package attend

import (
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"time"

	"attend.internal/attend/attendv1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	_ "google.golang.org/grpc/health" // watches the health of servers
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
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
}

// NewClient makes a client. It connects when it is first used. `target` is
// HOST:PORT, or several of them with commas between. DNS may name several servers
// for one host. If it is empty, the variable ATTEND_ADDRESS has it, else it is
// localhost:50051.
//
// ATTEND_TLS, ATTEND_CA, ATTEND_CERT, ATTEND_KEY, ATTEND_SERVER_NAME and
// ATTEND_TOKEN are read for what the options do not say.
func NewClient(target string, options ...Option) (*Client, error) {
	c := &Client{settings: settings{retry: DefaultRetry, timeout: time.Minute}}
	for _, option := range options {
		option(&c.settings)
	}
	transport, err := c.finish()
	if err != nil {
		return nil, err
	}
	target, dial, err := reach(target)
	if err != nil {
		return nil, err
	}
	dial = append(dial, grpc.WithTransportCredentials(transport),
		grpc.WithDefaultServiceConfig(c.retry.serviceConfig()),
		grpc.WithMaxCallAttempts(max(2, c.retry.MaxAttempts)),
		// A request of any size is kept for its next attempt.
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32),
			grpc.MaxRetryRPCBufferSize(math.MaxInt32)),
		// A server that does not answer a ping is given up: its calls fail as
		// UNAVAILABLE. A server takes a ping in 10 s (--min-ping-interval).
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 12 * time.Second, Timeout: 5 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond,
				Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: 20 * time.Second}))
	dial = append(dial, c.dial...)
	if c.connection, err = grpc.NewClient(target, dial...); err != nil {
		return nil, err
	}
	c.anyHealth, err = grpc.NewClient(target, append(dial, grpc.WithDisableHealthCheck())...)
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

// Stub makes calls with whole messages, balanced and retried, but without the
// client's token, metadata and timeout.
func (c *Client) Stub() attendv1.AttendClient { return c.stub }

// reach is the target for gRPC, which takes one name, and how it is resolved.
// The hosts of a list are resolved each time that they are connected to.
func reach(target string) (string, []grpc.DialOption, error) {
	if target = or(target, "ADDRESS"); target == "" {
		target = "localhost:50051"
	}
	addresses := strings.Split(target, ",")
	if len(addresses) == 1 {
		return strings.TrimSpace(target), nil, nil
	}
	var state resolver.State
	for _, address := range addresses {
		address = strings.TrimSpace(address)
		host, port, err := net.SplitHostPort(address)
		if err != nil || host == "" || port == "" {
			return "", nil, fmt.Errorf("address '%s' must be HOST:PORT", address)
		}
		state.Addresses = append(state.Addresses, resolver.Address{Addr: address})
	}
	list := manual.NewBuilderWithScheme("attend")
	list.InitialState(state)
	// All servers go by the name of the first.
	return "attend:///" + state.Addresses[0].Addr,
		[]grpc.DialOption{grpc.WithResolvers(list)}, nil
}
