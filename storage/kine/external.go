// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/utils/clock"
)

const (
	// attemptLimit is how long one attempt to connect may take. Kine creates a missing database at the beginning of an attempt, so an
	// attempt that began before the server of the database answered is given up soon.
	attemptLimit = 5 * time.Second
	// attemptPause is the time between two attempts.
	attemptPause = time.Second
	// answerLimit is how long a datastore may take for the answer to a small request.
	answerLimit = 5 * time.Second
)

// startExternal starts one Kine for objects and Events, because two would share one table. It starts none for a real etcd. It tries
// again while the datastore does not answer, until ctx ends.
func startExternal(ctx context.Context, cfg Config) (*Stores, error) {
	place := PlaceOf(cfg.Endpoint)
	s := &Stores{External: &place, Compacts: !cfg.etcd()}
	if cfg.etcd() {
		etcd := Endpoint{Servers: strings.Split(cfg.Endpoint, ","), TLS: cfg.TLS}
		s.Objects, s.Events = etcd, etcd

		return s, nil
	}
	for {
		i := &instance{name: "objects"}
		err := i.attempt(ctx, cfg)
		switch {
		case err == nil:
			s.Objects, s.Events, s.instances = i.endpoint(), i.endpoint(), []*instance{i}

			return s, nil
		case ctx.Err() != nil || !errors.Is(err, errAttempt):
			return nil, redactError(fmt.Errorf("start store on %s: %w", place, err), cfg.Endpoint)
		}
		select {
		case <-clock.RealClock{}.After(attemptPause):
		case <-ctx.Done():
		}
	}
}

// errAttempt says that an attempt took too long.
var errAttempt = errors.New("the datastore does not answer")

func (i *instance) attempt(ctx context.Context, cfg Config) error {
	limited, cancel := context.WithTimeoutCause(ctx, attemptLimit, errAttempt)
	defer cancel()
	err := i.startExternal(limited, cfg)
	if err != nil && (errors.Is(context.Cause(limited), errAttempt) || unreachable(err)) {
		return errors.Join(errAttempt, err)
	}

	return err
}

// unreachable reports whether nobody answers at the address of a datastore, which may change. Kine tries again by itself with PostgreSQL, but
// not with MySQL. An address that cannot be right is no such error.
func unreachable(err error) bool {
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		return name.Temporary()
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		// A file of certificates that is not there has a number of the system as well, but no operation on the network.
		_, refused := errors.AsType[syscall.Errno](op)

		return refused || op.Timeout()
	}

	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn)
}

// Ping asks an external datastore for an answer. The error has no secrets.
func (s *Stores) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	client, err := s.Connection()
	if err != nil {
		return err
	}
	if _, err := client.Get(ctx, HealthKey); err != nil {
		return redactError(err, strings.Join(s.Objects.Servers, ","))
	}

	return nil
}

// Connection returns a client of the datastore, which is closed with the stores. A Gate does not apply to it.
func (s *Stores) Connection() (*clientv3.Client, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.client == nil {
		client, err := s.Objects.Client()
		if err != nil {
			return nil, err
		}
		s.client = client
	}

	return s.client, nil
}

func (s *Stores) disconnect() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.client == nil {
		return nil
	}
	client := s.client
	s.client = nil

	return client.Close()
}

// Owner is the identifier of the garden that owns the external datastore; empty if nobody does. Empty reports whether there are no
// objects in it.
func (s *Stores) Owner(ctx context.Context) (owner string, empty bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	client, err := s.Connection()
	if err != nil {
		return "", false, err
	}
	found, err := client.Get(ctx, ownerKey)
	if err != nil {
		return "", false, fmt.Errorf("read owner of the datastore: %w", err)
	}
	if len(found.Kvs) > 0 {
		owner = string(found.Kvs[0].Value)
	}
	objects, err := client.Get(ctx, registry, clientv3.WithPrefix(), clientv3.WithLimit(2), clientv3.WithKeysOnly())
	if err != nil {
		return "", false, fmt.Errorf("look for objects in the datastore: %w", err)
	}
	empty = !slices.ContainsFunc(objects.Kvs, func(kv *mvccpb.KeyValue) bool { return string(kv.Key) != HealthKey })

	return owner, empty, nil
}

// HealthKey is a key that Kine writes for the checks of API servers.
const HealthKey = "/registry/health"

const (
	// registry is the prefix of all objects.
	registry = "/registry/"
	// ownerKey has the identifier of the garden to which a datastore belongs.
	ownerKey = "/terrarium/owner"
)

// ErrOwned says that another garden was faster.
var ErrOwned = errors.New("the datastore belongs to another garden")

// Own makes a garden the owner of the datastore, which must have none.
func (s *Stores) Own(ctx context.Context, owner string) error {
	client, err := s.Connection()
	if err != nil {
		return err
	}
	answer, err := client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(ownerKey), "=", 0)).Then(clientv3.OpPut(ownerKey, owner)).Commit()
	if err != nil {
		return fmt.Errorf("write owner of the datastore: %w", err)
	}
	if !answer.Succeeded {
		return ErrOwned
	}

	return nil
}
