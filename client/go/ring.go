package attend

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/balancer/base"
	"google.golang.org/grpc/metadata"
)

// Calls go to servers by their affinityHeader: the policy ring_hash of gRPC's
// other languages, with the same ring. Go's own reads the header only with a
// variable of the environment.
const ringName = "attend_ring"

// Points of all servers together, at least.
const ringSize = 1024

func init() { balancer.Register(ringBuilder{}) }

type ringBuilder struct{}

func (ringBuilder) Name() string { return ringName }

func (ringBuilder) Build(cc balancer.ClientConn,
	options balancer.BuildOptions) balancer.Balancer {
	made := &ringBalancer{}
	made.Balancer = base.NewBalancerBuilder(ringName, made,
		base.Config{HealthCheck: true}).Build(cc, options)
	return made
}

// ringBalancer knows the servers that are not ready, too: what another does must
// not move the calls of the rest.
type ringBalancer struct {
	balancer.Balancer
	ring ring
}

func (b *ringBalancer) UpdateClientConnState(
	state balancer.ClientConnState) error {
	var servers []string
	for _, address := range state.ResolverState.Addresses {
		servers = append(servers, address.Addr)
	}
	b.ring = newRing(servers)
	return b.Balancer.UpdateClientConnState(state)
}

// Build makes a picker of the servers that are ready.
func (b *ringBalancer) Build(info base.PickerBuildInfo) balancer.Picker {
	if len(info.ReadySCs) == 0 {
		return base.NewErrPicker(balancer.ErrNoSubConnAvailable)
	}
	ready := map[string]balancer.SubConn{}
	for connection, of := range info.ReadySCs {
		ready[of.Address.Addr] = connection
	}
	return &ringPicker{b.ring, ready}
}

type ringPicker struct {
	ring  ring
	ready map[string]balancer.SubConn
}

func (p *ringPicker) Pick(info balancer.PickInfo) (balancer.PickResult, error) {
	// What has no key goes anywhere.
	hash := rand.Uint64()
	sent, _ := metadata.FromOutgoingContext(info.Ctx)
	if keys := sent.Get(affinityHeader); len(keys) > 0 {
		hash = xxhash.Sum64String(keys[0])
	}
	server := p.ring.find(hash, func(server string) bool {
		return p.ready[server] != nil
	})
	if server == "" {
		return balancer.PickResult{}, balancer.ErrNoSubConnAvailable
	}
	return balancer.PickResult{SubConn: p.ready[server]}, nil
}

// ring has points of servers on a circle, in order.
type ring []point

type point struct {
	hash   uint64
	server string
}

func newRing(servers []string) ring {
	slices.Sort(servers)
	servers = slices.Compact(servers)
	var made ring
	for _, server := range servers {
		each := (ringSize + len(servers) - 1) / len(servers)
		for i := range each {
			made = append(made, point{
				xxhash.Sum64String(server + "_" + strconv.Itoa(i)), server})
		}
	}
	slices.SortFunc(made, func(a, b point) int {
		if a.hash < b.hash {
			return -1
		}
		return 1
	})
	return made
}

// find is the first server from a point on that is good; empty: none is.
func (r ring) find(hash uint64, good func(string) bool) string {
	begin, _ := slices.BinarySearchFunc(r, hash, func(p point, hash uint64) int {
		if p.hash < hash {
			return -1
		}
		return 1
	})
	for i := range r {
		if server := r[(begin+i)%len(r)].server; good(server) {
			return server
		}
	}
	return ""
}
