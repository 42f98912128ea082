package attend

import (
	"fmt"
	"net"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
)

// reach is the target for gRPC, which takes one name, and how it is resolved.
// The hosts of a list are resolved each time that they are connected to.
func reach(target string) (string, []grpc.DialOption, error) {
	if target == "" {
		target = or("", "ADDRESS")
	}
	if target == "" {
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
