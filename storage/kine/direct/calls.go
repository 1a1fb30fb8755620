// SPDX-License-Identifier: Apache-2.0

package direct

import (
	"context"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// kv implements etcdserverpb.KVClient.
type kv struct{ server *Server }

func (c kv) Range(ctx context.Context, r *etcdserverpb.RangeRequest, _ ...grpc.CallOption) (*etcdserverpb.RangeResponse, error) {
	return call(ctx, c.server, r, c.server.KV.Range)
}

func (c kv) Put(ctx context.Context, r *etcdserverpb.PutRequest, _ ...grpc.CallOption) (*etcdserverpb.PutResponse, error) {
	return call(ctx, c.server, r, c.server.KV.Put)
}

func (c kv) DeleteRange(
	ctx context.Context, r *etcdserverpb.DeleteRangeRequest, _ ...grpc.CallOption,
) (*etcdserverpb.DeleteRangeResponse, error) {
	return call(ctx, c.server, r, c.server.KV.DeleteRange)
}

func (c kv) Txn(ctx context.Context, r *etcdserverpb.TxnRequest, _ ...grpc.CallOption) (*etcdserverpb.TxnResponse, error) {
	return call(ctx, c.server, r, c.server.KV.Txn)
}

func (c kv) Compact(
	ctx context.Context, r *etcdserverpb.CompactionRequest, _ ...grpc.CallOption,
) (*etcdserverpb.CompactionResponse, error) {
	return call(ctx, c.server, r, c.server.KV.Compact)
}

// leases implements etcdserverpb.LeaseClient for the API server, which grants leases and lets them expire. All else is refused.
type leases struct{ server *Server }

func (c leases) LeaseGrant(
	ctx context.Context, r *etcdserverpb.LeaseGrantRequest, _ ...grpc.CallOption,
) (*etcdserverpb.LeaseGrantResponse, error) {
	return call(ctx, c.server, r, c.server.Lease.LeaseGrant)
}

func (leases) LeaseRevoke(
	context.Context, *etcdserverpb.LeaseRevokeRequest, ...grpc.CallOption,
) (*etcdserverpb.LeaseRevokeResponse, error) {
	return nil, errOnlyGrants
}

func (leases) LeaseKeepAlive(context.Context, ...grpc.CallOption) (etcdserverpb.Lease_LeaseKeepAliveClient, error) {
	return nil, errOnlyGrants
}

func (leases) LeaseTimeToLive(
	context.Context, *etcdserverpb.LeaseTimeToLiveRequest, ...grpc.CallOption,
) (*etcdserverpb.LeaseTimeToLiveResponse, error) {
	return nil, errOnlyGrants
}

func (leases) LeaseLeases(
	context.Context, *etcdserverpb.LeaseLeasesRequest, ...grpc.CallOption,
) (*etcdserverpb.LeaseLeasesResponse, error) {
	return nil, errOnlyGrants
}

var errOnlyGrants = status.Error(codes.Unimplemented, "only grants of leases reach the store this way")
