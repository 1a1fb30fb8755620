// SPDX-License-Identifier: Apache-2.0

package defragment

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

const (
	// answerTime is how long one answer of a member may take, and defragmentationTime how long its defragmentation.
	answerTime, defragmentationTime = 5 * time.Second, 10 * time.Minute
	// compactionTime is how long the removal of the whole history may take.
	compactionTime = 2 * time.Minute
	// silence is after which time a member is asked for a sign of life whose answer is waited for, and how long for that one: who has died in a
	// defragmentation must not hold up the etcds of others for all of its time. gRPC asks no sooner.
	silence = 10 * time.Second
	// attempts is how often a member is asked for an answer.
	attempts = 3
)

// errUnhealthy says that not all members of an etcd are healthy.
var errUnhealthy = errors.New("not all members are healthy")

// member is one of an etcd.
type member struct {
	endpoint string
	id       uint64
	leader   bool
	// size is that of its file, used what of it is in use, and quota how large it may become; 0 if the member does not tell.
	size, used, quota int64
	// full is the alarm that the database is full.
	full bool
}

// named are credentials that expect the same name of every server. Those of gRPC expect the address at which it was reached.
type named struct {
	credentials.TransportCredentials

	name string
}

// ClientHandshake implements credentials.TransportCredentials.
func (n named) ClientHandshake(ctx context.Context, _ string, connection net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return n.TransportCredentials.ClientHandshake(ctx, n.name, connection)
}

// Clone implements credentials.TransportCredentials.
func (n named) Clone() credentials.TransportCredentials {
	return named{TransportCredentials: n.TransportCredentials.Clone(), name: n.name}
}

// members are those of one etcd.
type members struct {
	client    *clientv3.Client
	endpoints []string
}

// connect returns the members at endpoints. It does not wait for a connection. The caller closes it.
func connect(ctx context.Context, endpoints []string, config *tls.Config) (*members, error) {
	c, err := clientv3.New(clientv3.Config{
		Context: ctx, Endpoints: endpoints, TLS: config, DialTimeout: answerTime, Logger: zap.NewNop(),
		DialKeepAliveTime: silence, DialKeepAliveTimeout: silence,
		// The last error tells why, and the end of the time does not.
		MaxUnaryRetries: attempts,
		DialOptions:     []grpc.DialOption{grpc.WithTransportCredentials(named{TransportCredentials: credentials.NewTLS(config), name: config.ServerName})},
	})
	if err != nil {
		return nil, fmt.Errorf("connect to etcd: %w", err)
	}
	return &members{client: c, endpoints: endpoints}, nil
}

func (m *members) close() { _ = m.client.Close() } // It has nothing left to say.

// observe returns all members if they are healthy: a majority agrees on who they are, and each of them answers, follows the same leader
// and has no damage. The alarm for a database that is full is none: to return space is what helps (BAK-DEFRAG-4).
func (m *members) observe(ctx context.Context) ([]member, error) {
	full, err := m.agree(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]member, 0, len(m.endpoints))
	var leader uint64
	for _, endpoint := range m.endpoints {
		status, err := answered(ctx, func(ctx context.Context) (*clientv3.StatusResponse, error) { return m.client.Status(ctx, endpoint) })
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errUnhealthy, endpoint, err)
		}
		if leader == 0 {
			leader = status.Leader
		}
		one, err := judge(endpoint, status, leader)
		if err != nil {
			return nil, err
		}
		one.full = full[one.id]
		found = append(found, one)
	}
	return found, nil
}

// judge is the member that says this of itself, if it is a full one and has the leader that the others have.
func judge(endpoint string, status *clientv3.StatusResponse, leader uint64) (member, error) {
	switch {
	case status.IsLearner:
		return member{}, fmt.Errorf("%w: %s still learns", errUnhealthy, endpoint)
	case status.Leader == 0:
		return member{}, fmt.Errorf("%w: %s has no leader", errUnhealthy, endpoint)
	case status.Leader != leader:
		return member{}, fmt.Errorf("%w: %s has the leader %x, and another one %x", errUnhealthy, endpoint, status.Leader, leader)
	default:
		return member{
			endpoint: endpoint, id: status.Header.MemberId, leader: status.Header.MemberId == leader,
			size: status.DbSize, used: status.DbSizeInUse, quota: status.DbSizeQuota,
		}, nil
	}
}

// agree asks a majority: an answer is one of the members together. It returns which of them have a database that is full.
func (m *members) agree(ctx context.Context) (map[uint64]bool, error) {
	list, err := answered(ctx, func(ctx context.Context) (*clientv3.MemberListResponse, error) { return m.client.MemberList(ctx) })
	if err != nil {
		return nil, fmt.Errorf("%w: list them: %w", errUnhealthy, err)
	}
	if len(list.Members) != len(m.endpoints) {
		return nil, fmt.Errorf("%w: there are %d, and pods for %d", errUnhealthy, len(list.Members), len(m.endpoints))
	}
	alarms, err := answered(ctx, m.client.AlarmList)
	if err != nil {
		return nil, fmt.Errorf("%w: list alarms: %w", errUnhealthy, err)
	}
	full := map[uint64]bool{}
	for _, alarm := range alarms.Alarms {
		if alarm.Alarm != etcdserverpb.AlarmType_NOSPACE {
			return nil, fmt.Errorf("%w: %x has the alarm %s", errUnhealthy, alarm.MemberID, alarm.Alarm)
		}
		full[alarm.MemberID] = true
	}
	return full, nil
}

// compact implements cluster. It returns when what is removed has become free space in one of the members.
func (m *members) compact(ctx context.Context) error {
	now, err := answered(ctx, func(ctx context.Context) (*clientv3.GetResponse, error) {
		return m.client.Get(ctx, "/", clientv3.WithCountOnly())
	})
	if err != nil {
		return fmt.Errorf("find out the revision: %w", err)
	}
	bound, cancel := context.WithTimeout(ctx, compactionTime)
	defer cancel()
	if _, err := m.client.Compact(bound, now.Header.Revision, clientv3.WithCompactPhysical()); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return fmt.Errorf("compact up to revision %d: %w", now.Header.Revision, err)
	}
	return nil
}

// defragment defragments one member, which answers nobody meanwhile.
func (m *members) defragment(ctx context.Context, endpoint string) error {
	bound, cancel := context.WithTimeout(ctx, defragmentationTime)
	defer cancel()
	if _, err := m.client.Defragment(bound, endpoint); err != nil {
		return fmt.Errorf("ask for it: %w", err)
	}
	return nil
}

// disarm implements cluster. It names the alarm, so that one of another kind stays that the member has got meanwhile.
func (m *members) disarm(ctx context.Context, full member) error {
	alarm := &clientv3.AlarmMember{MemberID: full.id, Alarm: etcdserverpb.AlarmType_NOSPACE}
	_, err := answered(ctx, func(ctx context.Context) (*clientv3.AlarmResponse, error) { return m.client.AlarmDisarm(ctx, alarm) })
	if err != nil {
		return fmt.Errorf("take away the alarm of %s: %w", full.endpoint, err)
	}
	return nil
}

// answered bounds a request.
func answered[A any](ctx context.Context, ask func(context.Context) (A, error)) (A, error) {
	bound, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return ask(bound)
}
