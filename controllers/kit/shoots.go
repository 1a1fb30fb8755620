// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	defaultShootIdle  = 15 * time.Minute
	defaultShootLimit = 1000
	shootSweepPeriod  = time.Minute
)

// ErrNoShootAccess says that a shoot cannot be reached because nothing says how: its access Secret does not exist yet, or
// no longer.
var ErrNoShootAccess = errors.New("there is no access to the shoot")

// Shoots keeps one client for each shoot of a seed. Everything that acts on a shoot gets its client here, so a shoot costs
// one connection, one discovery and one budget of requests, however many controllers work on it and however often.
//
// The access Secret is read with each call of Get, which makes a change of credentials effective at once. A client is
// dropped when its credentials have changed or are gone, when Drop is called, when nobody has asked for it for a while, and
// in favour of others when there are too many. What a dropped client still does goes on; its connections are closed when
// they are idle.
//
// The zero value of each field that is not required has a useful default. All methods are safe for concurrent use.
type Shoots struct {
	// Seed reads the access Secrets. It is required and should not read from a cache.
	Seed client.Reader
	// Scheme holds the kinds that the clients know. It is required.
	Scheme *runtime.Scheme
	// Secret is the name of the access Secret in the control-plane namespace of a shoot; empty takes that of the gardenlet.
	Secret string
	// UserAgent is the name by which the API servers know the clients; empty takes "gardenlet".
	UserAgent string
	// Idle is how long a client is kept that nobody asks for.
	Idle time.Duration
	// Limit is the number of clients that are kept at most.
	Limit int
	// Clock tells the time.
	Clock clock.Clock
	// Connect makes the access to a shoot from a kubeconfig. Unset, it connects to the API server.
	Connect func(kubeconfig []byte) (*Shoot, error)

	mu    sync.Mutex
	known map[string]*shootEntry
}

// shootEntry is the access to one shoot, the credentials that it was made from, and when it was last asked for.
type shootEntry struct {
	shoot       *Shoot
	credentials [sha256.Size]byte
	used        time.Time
}

// Get returns the access to the shoot with that control-plane namespace. It makes no request to the shoot. The error is
// ErrNoShootAccess if the access Secret does not exist or holds no kubeconfig.
func (s *Shoots) Get(ctx context.Context, namespace string) (*Shoot, error) {
	key := client.ObjectKey{Namespace: namespace, Name: s.secretName()}
	kubeconfig, err := s.kubeconfig(ctx, key)
	if errors.Is(err, ErrNoShootAccess) {
		s.Drop(namespace)
	}
	if err != nil {
		return nil, err
	}
	credentials := sha256.Sum256(kubeconfig)
	if shoot := s.find(namespace, credentials); shoot != nil {
		return shoot, nil
	}
	fresh, err := s.connect(kubeconfig)
	if err != nil {
		s.Drop(namespace)
		return nil, fmt.Errorf("connect to the shoot with key %q of secret %q: %w", gardencorev1beta1.DataKeyKubeconfig, key, err)
	}
	return s.keep(namespace, credentials, fresh), nil
}

// Drop forgets the client of the shoot with that control-plane namespace, if there is one. Call it when the shoot goes to
// sleep, is deleted or leaves the seed.
func (s *Shoots) Drop(namespace string) {
	s.mu.Lock()
	entry := s.known[namespace]
	delete(s.known, namespace)
	s.mu.Unlock()
	if entry != nil {
		entry.shoot.disconnect()
	}
}

// Len is the number of clients that are kept.
func (s *Shoots) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.known)
}

// Start drops clients that nobody asks for until ctx ends, and then all of them. It makes Shoots a runnable of a manager.
func (s *Shoots) Start(ctx context.Context) error {
	for {
		timer := s.clock().NewTimer(shootSweepPeriod)
		select {
		case <-timer.C():
			s.dropIf(func(e *shootEntry) bool { return s.clock().Since(e.used) >= s.idle() })
		case <-ctx.Done():
			timer.Stop()
			s.dropIf(func(*shootEntry) bool { return true })
			return nil
		}
	}
}

func (s *Shoots) kubeconfig(ctx context.Context, key client.ObjectKey) ([]byte, error) {
	secret := &corev1.Secret{}
	err := s.Seed.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w: %w", ErrNoShootAccess, err)
	}
	if err != nil {
		return nil, fmt.Errorf("get access to the shoot from secret %q: %w", key, err)
	}
	kubeconfig := secret.Data[gardencorev1beta1.DataKeyKubeconfig]
	if len(kubeconfig) == 0 {
		return nil, fmt.Errorf("%w: secret %q has no key %q", ErrNoShootAccess, key, gardencorev1beta1.DataKeyKubeconfig)
	}
	return kubeconfig, nil
}

// find returns the access that was made from these credentials, or nil if there is none.
func (s *Shoots) find(namespace string, credentials [sha256.Size]byte) *Shoot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.findLocked(namespace, credentials)
}

func (s *Shoots) findLocked(namespace string, credentials [sha256.Size]byte) *Shoot {
	entry := s.known[namespace]
	if entry == nil || entry.credentials != credentials {
		return nil
	}
	entry.used = s.clock().Now()
	return entry.shoot
}

// keep puts a fresh access in the place of an earlier one. Of several that are made at the same time from the same
// credentials the first one wins.
func (s *Shoots) keep(namespace string, credentials [sha256.Size]byte, fresh *Shoot) *Shoot {
	s.mu.Lock()
	if first := s.findLocked(namespace, credentials); first != nil {
		s.mu.Unlock()
		fresh.disconnect()
		return first
	}
	if s.known == nil {
		s.known = map[string]*shootEntry{}
	}
	dropped := []*shootEntry{s.known[namespace]}
	s.known[namespace] = &shootEntry{shoot: fresh, credentials: credentials, used: s.clock().Now()}
	for len(s.known) > s.limit() {
		dropped = append(dropped, s.takeOldestLocked(namespace))
	}
	s.mu.Unlock()
	for _, entry := range dropped {
		if entry != nil {
			entry.shoot.disconnect()
		}
	}
	return fresh
}

// takeOldestLocked takes out the client, other than that of the namespace, whose last use is the longest time ago.
func (s *Shoots) takeOldestLocked(except string) *shootEntry {
	oldest := ""
	for namespace, entry := range s.known {
		if namespace != except && (oldest == "" || entry.used.Before(s.known[oldest].used)) {
			oldest = namespace
		}
	}
	entry := s.known[oldest]
	delete(s.known, oldest)
	return entry
}

// dropIf forgets every client to which that applies.
func (s *Shoots) dropIf(applies func(*shootEntry) bool) {
	s.mu.Lock()
	var dropped []*shootEntry
	for namespace, entry := range s.known {
		if applies(entry) {
			dropped = append(dropped, entry)
			delete(s.known, namespace)
		}
	}
	s.mu.Unlock()
	for _, entry := range dropped {
		entry.shoot.disconnect()
	}
}

func (s *Shoots) connect(kubeconfig []byte) (*Shoot, error) {
	if s.Connect != nil {
		return s.Connect(kubeconfig)
	}
	return connectShoot(kubeconfig, s.Scheme, cmp.Or(s.UserAgent, defaultShootUserAgent))
}

func (s *Shoots) secretName() string { return cmp.Or(s.Secret, gardencorev1beta1.SecretGardener) }

func (s *Shoots) idle() time.Duration { return cmp.Or(s.Idle, defaultShootIdle) }

func (s *Shoots) limit() int { return max(cmp.Or(s.Limit, defaultShootLimit), 1) }

func (s *Shoots) clock() clock.Clock {
	if s.Clock == nil {
		return clock.RealClock{}
	}
	return s.Clock
}
