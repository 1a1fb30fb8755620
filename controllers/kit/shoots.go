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

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// shootIdle is how long a client is kept that nobody asks for.
	shootIdle = 15 * time.Minute
	// shootLimit is the number of clients that are kept at most.
	shootLimit       = 1000
	shootSweepPeriod = time.Minute
)

// ErrNoShootAccess says that a shoot cannot be reached because its access Secret does not exist yet, or no longer.
var ErrNoShootAccess = errors.New("there is no access to the shoot")

// ErrBadShootAccess says that no client can be made of what the access Secret of a shoot holds.
var ErrBadShootAccess = errors.New("the access to the shoot cannot be used")

// Shoots keeps one client for each shoot of a seed. Everything that acts on a shoot gets its client here, so a shoot costs
// one connection, one discovery and one rate limit, independent of how many controllers work on it.
//
// Each call of Get reads the access Secret, so changed credentials take effect at once. A client is dropped when its
// credentials have changed or are gone, when Drop is called, when nobody has asked for it for a while, and in favor of
// newer ones when there are too many. Running requests of a dropped client continue; its connections are closed when they
// are idle.
//
// Fields that are not required have useful defaults. All methods are safe for concurrent use.
type Shoots struct {
	// Seed reads the access Secrets. It is required and should not read from a cache.
	Seed client.Reader
	// Scheme holds the kinds that the clients know. It is required.
	Scheme *runtime.Scheme
	// Secret is the name of the access Secret in the control-plane namespace of a shoot; empty takes that of the gardenlet. It holds a
	// kubeconfig, or a token for the generic kubeconfig of the shoot.
	Secret string
	// Kubeconfig returns the kubeconfig for the shoot with that namespace. Unset, it comes from the access Secret.
	Kubeconfig func(ctx context.Context, namespace string) ([]byte, error)
	// UserAgent is what the clients call themselves to API servers; empty takes "gardenlet".
	UserAgent string
	// Connection limits the requests to each shoot, and says their formats; the zero value takes the defaults. Its kubeconfig does not count.
	Connection gardenconfigv1alpha1.ClientConnectionConfiguration
	// Clock gives the time.
	Clock clock.Clock
	// Connect makes the access to a shoot from a kubeconfig. Unset, it connects to the API server.
	Connect func(kubeconfig []byte) (*Shoot, error)

	mu    sync.Mutex
	known map[string]*shootEntry
}

// shootEntry is the access to one shoot, the hash of the kubeconfig that it was made from, and when it was last asked for.
type shootEntry struct {
	shoot       *Shoot
	credentials [sha256.Size]byte
	used        time.Time
}

// Get returns the access to the shoot with that control-plane namespace. It makes no request to the shoot. The error is
// ErrNoShootAccess if the access Secret does not exist or holds no kubeconfig, and ErrBadShootAccess if no client can be made of it.
func (s *Shoots) Get(ctx context.Context, namespace string) (*Shoot, error) {
	read := s.Kubeconfig
	if read == nil {
		read = s.fromSecret
	}
	kubeconfig, err := read(ctx, namespace)
	if errors.Is(err, ErrNoShootAccess) {
		s.Drop(namespace)
	}
	if err != nil {
		return nil, err
	}
	credentials := sha256.Sum256(kubeconfig)
	s.mu.Lock()
	shoot := s.findLocked(namespace, credentials)
	s.mu.Unlock()
	if shoot != nil {
		return shoot, nil
	}
	fresh, err := s.connect(kubeconfig)
	if err != nil {
		s.Drop(namespace)
		return nil, fmt.Errorf("%w: connect to the shoot with key %q of secret %q: %w", ErrBadShootAccess, gardencorev1beta1.DataKeyKubeconfig, s.access(namespace), err)
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

// Fresh returns a new access to the shoot, in place of the one that is kept. A client looks up only once which version of a resource is
// served, so one that is kept does not notice what is served no more, or in another version, by now.
func (s *Shoots) Fresh(ctx context.Context, namespace string) (*Shoot, error) {
	s.Drop(namespace)
	return s.Get(ctx, namespace)
}

// Len is the number of clients that are kept.
func (s *Shoots) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.known)
}

// Start drops idle clients until ctx ends, and then all clients. It makes Shoots a runnable of a manager.
func (s *Shoots) Start(ctx context.Context) error {
	for {
		timer := s.clock().NewTimer(shootSweepPeriod)
		select {
		case <-timer.C():
			s.dropIf(func(e *shootEntry) bool { return s.clock().Since(e.used) >= shootIdle })
		case <-ctx.Done():
			timer.Stop()
			s.dropIf(func(*shootEntry) bool { return true })
			return nil
		}
	}
}

// access names the access Secret of a shoot.
func (s *Shoots) access(namespace string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: cmp.Or(s.Secret, gardencorev1beta1.SecretGardener)}
}

// fromSecret reads the kubeconfig from the access Secret, or puts its token into the generic kubeconfig.
func (s *Shoots) fromSecret(ctx context.Context, namespace string) ([]byte, error) {
	key := s.access(namespace)
	data, err := s.read(ctx, key)
	if err != nil {
		return nil, err
	}
	if kubeconfig := data[gardencorev1beta1.DataKeyKubeconfig]; len(kubeconfig) > 0 {
		return kubeconfig, nil
	}
	token := data[corev1.ServiceAccountTokenKey]
	if len(token) == 0 {
		return nil, fmt.Errorf("%w: secret %q has no key %q", ErrNoShootAccess, key, gardencorev1beta1.DataKeyKubeconfig)
	}
	key.Name = gardencorev1beta1.SecretGenericTokenKubeconfig
	if data, err = s.read(ctx, key); err != nil {
		return nil, err
	}
	spec, err := secrets.ReadKubeconfig(data[gardencorev1beta1.DataKeyKubeconfig])
	if err != nil {
		return nil, fmt.Errorf("%w: key %q of secret %q: %w", ErrBadShootAccess, gardencorev1beta1.DataKeyKubeconfig, key, err)
	}
	spec.Token = string(token)

	return secrets.Kubeconfig(spec)
}

func (s *Shoots) read(ctx context.Context, key client.ObjectKey) (map[string][]byte, error) {
	secret := &corev1.Secret{}
	err := s.Seed.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w: %w", ErrNoShootAccess, err)
	}
	if err != nil {
		return nil, fmt.Errorf("get access to the shoot from secret %q: %w", key, err)
	}

	return secret.Data, nil
}

// findLocked returns the access that was made from these credentials, or nil if there is none.
func (s *Shoots) findLocked(namespace string, credentials [sha256.Size]byte) *Shoot {
	entry := s.known[namespace]
	if entry == nil || entry.credentials != credentials {
		return nil
	}
	entry.used = s.clock().Now()
	return entry.shoot
}

// keep replaces the earlier access by a fresh one. If several are made at the same time from the same credentials, the
// first one wins.
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
	for len(s.known) > shootLimit {
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

// takeOldestLocked removes the client that was used least recently, except the one of the given namespace.
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

// dropIf forgets every client that matches.
func (s *Shoots) dropIf(matches func(*shootEntry) bool) {
	s.mu.Lock()
	var dropped []*shootEntry
	for namespace, entry := range s.known {
		if matches(entry) {
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
	return connectShoot(kubeconfig, s.Scheme, cmp.Or(s.UserAgent, defaultShootUserAgent), s.Connection)
}

func (s *Shoots) clock() clock.Clock { return cmp.Or[clock.Clock](s.Clock, clock.RealClock{}) }
