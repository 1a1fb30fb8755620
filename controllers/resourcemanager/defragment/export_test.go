// SPDX-License-Identifier: Apache-2.0

package defragment

import (
	"context"
	"crypto/tls"

	"github.com/go-logr/logr"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// ErrStillFull is errStillFull for tests.
var ErrStillFull = errStillFull

// Cluster is an etcd of a test: Observed are what it answers one after the other, the last one again and again.
type Cluster struct {
	Observed []Answer
	// Fails is the error of each defragmentation.
	Fails error
	// Done are the members that were defragmented, and Disarmed those that lost their alarm.
	Done, Disarmed []string
	// Compacted says how often the history was forgotten.
	Compacted int
}

// Answer is one of them.
type Answer struct {
	Members []Member
	Err     error
}

// Member is one of an etcd.
type Member struct {
	Endpoint          string
	Leader, Full      bool
	Size, Used, Quota int64
}

func (c *Cluster) observe(context.Context) ([]member, error) {
	answer := c.Observed[0]
	if len(c.Observed) > 1 {
		c.Observed = c.Observed[1:]
	}
	var members []member
	for _, m := range answer.Members {
		members = append(members, member{endpoint: m.Endpoint, leader: m.Leader, full: m.Full, size: m.Size, used: m.Used, quota: m.Quota})
	}
	return members, answer.Err
}

func (c *Cluster) compact(context.Context) error {
	c.Compacted++
	return nil
}

func (c *Cluster) defragment(_ context.Context, endpoint string) error {
	c.Done = append(c.Done, endpoint)
	return c.Fails
}

func (c *Cluster) disarm(_ context.Context, full member) error {
	c.Disarmed = append(c.Disarmed, full.endpoint)
	return c.Fails
}

// Judge is the member that answers with a status, if it is healthy.
func Judge(endpoint string, status *clientv3.StatusResponse, leader uint64) (Member, error) {
	m, err := judge(endpoint, status, leader)
	return Member{Endpoint: m.endpoint, Leader: m.leader, Size: m.size, Used: m.used, Quota: m.quota}, err
}

// DefragmentMember asks the member at an endpoint to defragment itself.
func DefragmentMember(ctx context.Context, endpoint string, config *tls.Config) error {
	m, err := connect(ctx, []string{endpoint}, config)
	if err != nil {
		return err
	}
	defer m.close()
	return m.defragment(ctx, endpoint)
}

// Defragment defragments the members of an etcd.
func Defragment(ctx context.Context, etcd *Cluster, room int64) error {
	return defragment(ctx, logr.Discard(), etcd, room)
}
