// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"runtime/debug"
	"syscall"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"

	"github.com/terrarium-garden/terrarium/appliance/admission"
	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/bootstrap"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/kubecontrollers"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

// ErrPortTaken says that another process listens already.
var ErrPortTaken = errors.New("the port is taken by another process; stop it, or choose another port with --listen")

// runListener takes the port before anything is written. The API server closes it when it stops.
func (s *server) runListener(ctx context.Context, ready func()) error {
	if s.listener = s.Listener; s.listener == nil {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Config.Listen)
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("listen on %q: %w", s.Config.Listen, ErrPortTaken)
		}
		if err != nil {
			return fmt.Errorf("listen on %q: %w", s.Config.Listen, err)
		}
		s.listener = l
	}
	var err error
	if s.addresses, err = resolve(s.listener.Addr(), s.Config.ExternalAddresses); err != nil {
		return errors.Join(err, s.listener.Close())
	}
	ready()
	<-ctx.Done()
	if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close listener: %w", err)
	}

	return nil
}

// runIdentity holds the data directory for this process.
func (s *server) runIdentity(ctx context.Context, ready func()) error {
	var err error
	if s.identity, err = identity.Ensure(s.Config.DataDir, s.addresses.names, s.Clock); err != nil {
		return err
	}
	ready()
	<-ctx.Done()

	return s.identity.Close()
}

// The parts of the memory limit that caches may take: the past of each of the two stores, and objects as they are written
// to clients.
const (
	historyShare = 64
	objectsShare = 8
)

func (s *server) runDatastore(ctx context.Context, ready func()) error {
	dir := s.identity.Dir
	c := kine.NewConfig(filepath.Join(dir, "db"))
	c.Endpoint, c.Log = s.Config.Datastore.Endpoint, s.Log.WithName("datastore")
	c.HistoryBytes = min(c.HistoryBytes, s.MemoryLimit/historyShare)
	if s.Datastore != nil {
		s.Datastore(&c)
	}
	var err error
	if s.stores, err = kine.Start(ctx, c); err != nil {
		return err
	}
	ready()
	<-ctx.Done()

	return s.stores.Close()
}

func (s *server) runAPIServer(ctx context.Context, ready func()) error {
	c := apiserver.NewConfig()
	c.ObjectBytes = min(c.ObjectBytes, s.MemoryLimit/objectsShare)
	c.Listener = s.listener
	c.ExternalHost = s.addresses.host
	c.Identity = s.identity
	c.Objects, c.Events, c.Compact = s.stores.Objects, s.stores.Events, !s.stores.Compacts
	c.GardenAdmission = admission.Asked(admission.GardenRules(&s.Config.Admission), &s.Config.Admission)
	c.KubeAdmission = admission.Asked(admission.KubeRules(&s.Config.Admission), &s.Config.Admission)
	c.AdmissionOff, c.AdmissionOn = s.Config.Admission.Disable, s.Config.Admission.Enable
	if longest := s.Config.Tokens.MaxServiceAccountTokenLifetime; longest != nil {
		c.MaxServiceAccountTokenLifetime = longest.Duration
	}
	if ttl := s.Config.EventTTL; ttl != nil {
		c.EventTTL = ttl.Duration
	}
	c.ReadyChecks = s.readiness.checks("api-server")
	c.Clock = s.Clock
	c.DebugHandlers = s.Config.EnableDebugHandlers
	ofShoots(&c, &s.Config.Shoots)
	c.WorkloadIdentity = workloadIdentity(c.WorkloadIdentity, &s.Config.WorkloadIdentity, s.addresses.server)
	c.Log = s.Log.WithName("admission")
	completed, err := c.Complete(ctx)
	if err != nil {
		return err
	}
	if s.api, err = completed.New(); err != nil {
		return err
	}
	s.loopback = s.api.LoopbackConfig()

	return s.api.Run(ctx, ready)
}

func (s *server) runFirstObjects(ctx context.Context, ready func()) error {
	var err error
	s.name, err = bootstrap.Ensure(ctx, bootstrap.Config{
		Loopback: s.loopback,
		APILevel: options.GardenerAPILevel,

		TokenLifetime:      ptr.Deref(s.Config.Tokens.DefaultLifetime, metav1.Duration{}).Duration,
		ProjectsByEveryone: !s.Config.Projects.RestrictCreation,
		NewIdentity:        func() string { return "garden-" + string(uuid.NewUUID()) },
	})
	if err != nil {
		return err
	}
	ready()

	return nil
}

func (s *server) runKubeControllers(ctx context.Context, ready func()) error {
	c := kubecontrollers.NewConfig()
	c.Loopback = s.loopback
	c.Identity = s.identity
	if lifetime := s.Config.Certificates.ClientLifetime; lifetime != nil {
		c.CertificateLifetime = lifetime.Duration
	}

	return kubecontrollers.Run(ctx, c, ready)
}

// runAnnounce is the last unit: what it tells is true.
func (s *server) runAnnounce(_ context.Context, ready func()) error {
	if err := s.identity.WriteAdminKubeconfig(s.addresses.local); err != nil {
		return err
	}
	ready()
	s.Log.Info("Garden ready", "version", s.Version, "server", s.addresses.server, "clusterIdentity", s.name)
	s.Ready(Garden{
		Server:          s.addresses.server,
		Local:           s.addresses.local,
		Kubeconfig:      identity.AdminKubeconfigPath(s.identity.Dir),
		ClusterIdentity: s.name,
	})
	// A start makes garbage that an idle garden would carry along for long: it allocates little.
	debug.FreeOSMemory()

	return nil
}
