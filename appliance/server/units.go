// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"

	"github.com/terrarium-garden/terrarium/appliance/admission"
	"github.com/terrarium-garden/terrarium/appliance/admission/gardenresource"
	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/bootstrap"
	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/appliance/gateway/ui"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/kubecontrollers"
	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

// ErrPortTaken says that another process uses the port.
var ErrPortTaken = errors.New("the port is taken by another process; stop it, or choose another port with --listen")

// door is the listener and its addresses.
type door struct {
	listener  net.Listener
	addresses addresses
}

// runListener opens the port before anything is written. The API server closes the listener when it stops.
func (s *server) runListener(ctx context.Context, ready func(door)) error {
	listener := s.Listener
	if listener == nil {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Config.Listen)
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("listen on %q: %w", s.Config.Listen, ErrPortTaken)
		}
		if err != nil {
			return fmt.Errorf("listen on %q: %w", s.Config.Listen, err)
		}
		listener = l
	}
	found, err := resolve(listener.Addr(), s.Config.ExternalAddresses)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	ready(door{listener: listener, addresses: found})
	<-ctx.Done()
	if err := listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close listener: %w", err)
	}

	return nil
}

// runIdentity locks the data directory and reads or creates the identity of the garden.
func (s *server) runIdentity(ctx context.Context, d door, ready func(*identity.Garden)) error {
	keys, err := identity.Ensure(s.Config.DataDir, d.addresses.names, s.Clock, func(dir string) error { return s.upgrade(ctx, dir) })
	if err != nil {
		return err
	}
	ready(keys)
	<-ctx.Done()

	return keys.Close()
}

// Caches may use the memory limit divided by these numbers: the history of each of the two stores, and the encoded objects.
const (
	historyShare = 64
	objectsShare = 8
)

// timelineConfig is the configuration of the timeline of a data directory.
func (o Options) timelineConfig(dir string) timeline.Config {
	log := o.Log.WithName("timeline")

	return timeline.Config{
		Dir: filepath.Join(dir, "local"), Keep: o.Config.Timeline.Keep.Duration, MaxBytes: o.Config.Timeline.MaxSize.Value(),
		Clock: o.Clock, Failed: func(err error) { log.Error(err, "Timeline is behind or has lost entries") },
	}
}

// runTimeline opens the timeline, in a file of its own beside the datastore.
func (s *server) runTimeline(ctx context.Context, keys *identity.Garden, ready func(*timeline.Store)) error {
	store, err := timeline.Open(s.timelineConfig(keys.Dir))
	if err != nil {
		return err
	}
	ready(store)
	<-ctx.Done()

	return store.Close()
}

// runAPIServer builds the API server while the database of objects is checked, and runs it if nothing is damaged.
func (s *server) runAPIServer(ctx context.Context, on *parts, ready func(*apiserver.Server)) error {
	var api *apiserver.Server
	var both errgroup.Group
	both.Go(func() error { return refuseDamaged(ctx, on.stores) })
	both.Go(func() (err error) {
		api, err = s.buildAPIServer(ctx, on)

		return err
	})
	if err := both.Wait(); err != nil {
		return err
	}

	return api.Run(ctx, func() {
		s.api.Store(api)
		ready(api)
	})
}

func (s *server) buildAPIServer(ctx context.Context, on *parts) (*apiserver.Server, error) {
	if err := on.keys.Encryption.EncryptsAll(); err != nil {
		return nil, err
	}
	c := apiserver.NewConfig()
	c.ObjectBytes = min(c.ObjectBytes, s.MemoryLimit/objectsShare)
	c.Listener = last(on.door.listener)
	c.ExternalHost = on.door.addresses.host
	c.Identity = on.keys
	c.Objects, c.Events, c.Compact = on.stores.Objects, on.stores.Events, !on.stores.Compacts
	c.GardenAdmission = admission.Asked(admission.GardenRules(&s.Config.Admission, admission.Projects{
		Quotas: s.Config.Controllers.Project.Quotas, MaxPerUser: ptr.Deref(s.Config.Projects.MaxPerUser, 0),
	}), &s.Config.Admission)
	c.GardenAdmission = append(c.GardenAdmission, gardenRule(on), on.bounds.rule())
	c.KubeAdmission = admission.Asked(admission.KubeRules(&s.Config.Admission), &s.Config.Admission)
	c.KubeAdmission = append(c.KubeAdmission, admission.Rule{Name: "GardenNamespace", New: gardenresource.NewNamespace}, on.bounds.rule())
	c.AdmissionOff, c.AdmissionOn = s.Config.Admission.Disable, s.Config.Admission.Enable
	if longest := s.Config.Tokens.MaxServiceAccountTokenLifetime; longest != nil {
		c.MaxServiceAccountTokenLifetime = longest.Duration
	}
	if ttl := s.Config.EventTTL; ttl != nil {
		c.EventTTL = ttl.Duration
	}
	c.Timeline = on.timeline
	if on.snapshots != nil {
		c.Snapshots = on.snapshots
	}
	if on.audit != nil {
		c.Audit, c.AuditPolicy = on.audit, s.Config.Audit.PolicyFile
	}
	c.ReadyChecks = append(s.readiness.checks(unitAPIServer), on.health.checks()...)
	c.Clock = s.Clock
	c.DebugHandlers = s.Config.EnableDebugHandlers
	ofShoots(&c, &s.Config.Shoots)
	c.ShorterKubeconfigLifetime = on.bounds.kubeconfigLifetime
	c.WorkloadIdentity = workloadIdentity(c.WorkloadIdentity, &s.Config.WorkloadIdentity, on.door.addresses.server)
	c.OIDC = acceptedIssuer(s.Config.OIDC)
	var err error
	if c.Mounts, err = documents(on.keys, c.WorkloadIdentity.Issuer); err != nil {
		return nil, err
	}
	pages, err := s.webUI(on.door.addresses, on.keys)
	if err != nil {
		return nil, err
	}
	c.Mounts = slices.Concat(c.Mounts, pages, s.pages(on))
	c.Log = s.Log.WithName("admission")
	completed, err := c.Complete(ctx)
	if err != nil {
		return nil, err
	}

	return completed.New() //nolint:contextcheck // The library ends what it starts with its server.
}

// pages are the mounts for those whom RBAC permits.
func (s *server) pages(on *parts) gateway.Mounts {
	bundle := &supportBundle{config: s.Config, logs: s.Logs, clock: s.Clock, version: s.Version, examiner: on.examiner, live: s.live.Load}

	return gateway.Mounts{
		on.examiner.statusPage(), on.examiner.doctorPage(), auditPage(auditDir(on.keys), s.Config.Audit.Disabled), logLevelPage(s.Logs, s.Log),
		bundle.page(), on.health.page(), configurationPage(s.Config), certificatesPage(on.keys, s.Clock.Now, on.rotations, &s.holders),
	}
}

// runFirstObjects creates the first objects. Its value is the unique name of the garden.
func (s *server) runFirstObjects(ctx context.Context, api *apiserver.Server, ready func(string)) error {
	name, err := bootstrap.Ensure(ctx, bootstrap.Config{
		Loopback: api.LoopbackConfig(),
		APILevel: build.GardenerAPILevel,

		TokenLifetime:      ptr.Deref(s.Config.Tokens.DefaultLifetime, metav1.Duration{}).Duration,
		ProjectsByEveryone: !s.Config.Projects.RestrictCreation,
		NewIdentity:        func() string { return "garden-" + string(uuid.NewUUID()) },
	})
	if err != nil {
		return err
	}
	s.name.Store(&name)
	ready(name)

	return nil
}

func (s *server) runKubeControllers(ctx context.Context, api *apiserver.Server, keys *identity.Garden, ready func()) error {
	c := kubecontrollers.NewConfig()
	c.Loopback, c.Source, c.Metadata = api.LoopbackConfig(), api.Source, api.Metadata
	c.Identity = keys
	if lifetime := s.Config.Certificates.ClientLifetime; lifetime != nil {
		c.CertificateLifetime = lifetime.Duration
	}

	return kubecontrollers.Run(ctx, c, ready)
}

// announce is the last unit. It logs that the garden is ready, and calls Ready.
func (s *server) announce(at addresses, keys *identity.Garden, name string, ready func()) error {
	if err := keys.Certificates.WriteAdminKubeconfig(at.local); err != nil {
		return err
	}
	ready()
	s.Log.Info("Garden ready", "version", s.Version, "server", at.server, "ui", at.server+ui.Path, "clusterIdentity", name)
	s.Ready(Garden{
		Server:          at.server,
		Local:           at.local,
		Kubeconfig:      identity.AdminKubeconfigPath(keys.Dir),
		ClusterIdentity: name,
	})
	// Free the garbage of the start: an idle garden allocates little, so the next collection would be much later.
	debug.FreeOSMemory()

	return nil
}
