// SPDX-License-Identifier: Apache-2.0

package gardenlet

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/preflight"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/registration"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// definitionPatience limits the time until custom resource definitions are served.
const definitionPatience = 2 * time.Minute

// preflight compares the configured networks with those of the cluster, and creates the namespace of the gardenlet.
func (p *process) preflight(ctx context.Context, ready func()) error {
	seedClient, err := p.newSeedClient()
	if err != nil {
		return err
	}
	spec := p.Config.SeedConfig.Spec
	networks := preflight.Networks{Pods: spec.Networks.Pods, Services: spec.Networks.Services}
	if spec.Networks.Nodes != nil {
		networks.Nodes = *spec.Networks.Nodes
	}
	if err := preflight.CheckNetworks(ctx, seedClient, networks); err != nil {
		return fmt.Errorf("check networks of the seed at %s: %w", p.seed.Host, err)
	}
	err = seedClient.Create(ctx, newNamespace(p.Config.LeaderElection.ResourceNamespace))
	if err != nil && !apierrors.IsAlreadyExists(err) && !apierrors.IsForbidden(err) {
		return fmt.Errorf("create namespace %q in the seed: %w", p.Config.LeaderElection.ResourceNamespace, err)
	}
	ready()
	return nil
}

// elect runs while this replica is, or waits to become, the leader.
func (p *process) elect(ctx context.Context, ready func()) error {
	settings := p.Config.LeaderElection
	if !*settings.LeaderElect {
		p.leading.Store(true)
		ready()
		<-ctx.Done()
		return nil
	}
	elector, err := p.newElector(settings, ready)
	if err != nil {
		return err
	}
	waiting, stopWaiting := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.stayAlive(waiting, settings.RetryPeriod.Duration)
	}()
	elector.Run(ctx)
	stopWaiting()
	<-done
	if ctx.Err() == nil {
		return errors.New("another replica has become the leader")
	}
	return nil
}

func (p *process) newElector(settings *gardenconfigv1alpha1.LeaderElectionConfiguration, ready func()) (*leaderelection.LeaderElector, error) {
	clients, err := kubernetes.NewForConfig(p.seed)
	if err != nil {
		return nil, fmt.Errorf("build client for leader election: %w", err)
	}
	identity := p.Name
	if !p.Exclusive {
		identity += "_" + string(uuid.NewUUID())
	}
	lock, err := resourcelock.New(settings.ResourceLock, settings.ResourceNamespace, settings.ResourceName, clients.CoreV1(), clients.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: identity})
	if err != nil {
		return nil, fmt.Errorf("leaderElection.resourceLock: %w", err)
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   settings.LeaseDuration.Duration,
		RenewDeadline:   settings.RenewDeadline.Duration,
		RetryPeriod:     settings.RetryPeriod.Duration,
		ReleaseOnCancel: true,
		Name:            settings.ResourceName,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {
				p.leading.Store(true)
				ready()
			},
			OnStoppedLeading: func() {},
			OnNewLeader: func(leader string) {
				if leader != identity {
					p.Log.Info("Another replica is the leader, waiting for its lease", "replica", leader)
				}
			},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("set up leader election: %w", err)
	}
	return elector, nil
}

// stayAlive keeps the liveness probe of a waiting replica successful.
func (p *process) stayAlive(ctx context.Context, period time.Duration) {
	for !p.leading.Load() {
		p.alive()
		timer := p.Clock.NewTimer(period)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// enterGarden obtains the credentials and maintains them.
func (p *process) enterGarden(ctx context.Context, ready func(garden)) error {
	seedClient, err := p.newSeedClient()
	if err != nil {
		return err
	}
	access, err := gardenaccess.Open(ctx, p.accessSettings(), gardenaccess.Surroundings{
		Seed: seedClient, Clock: p.Clock, Random: p.random, Alive: p.alive, RotationFailed: p.rotationFailed, Log: p.Log,
	})
	if err != nil {
		return err
	}
	defer access.Close()
	clients, err := kubernetes.NewForConfig(access.Config())
	if err != nil {
		return fmt.Errorf("build garden client: %w", err)
	}
	if err := access.Insist(ctx, func() error { return preflight.CheckVersion(ctx, clients.CoreV1(), p.APILevel) }); err != nil {
		return err
	}
	gardenClient, err := client.New(access.Config(), client.Options{Scheme: p.scheme})
	if err != nil {
		return fmt.Errorf("build garden client: %w", err)
	}
	p.Log.Info("Connected to the garden", "garden", access.Config().Host)
	ready(garden{access: access, client: gardenClient})
	return access.Maintain(ctx)
}

func (p *process) accessSettings() gardenaccess.Settings {
	connection := p.Config.GardenClientConnection
	settings := gardenaccess.Settings{
		Seed:                p.seedName(),
		Kubeconfig:          connection.Kubeconfig,
		KubeconfigSecret:    connection.KubeconfigSecret,
		BootstrapKubeconfig: connection.BootstrapKubeconfig,
		RotateFrom:          *connection.KubeconfigValidity.AutoRotationJitterPercentageMin,
		RotateUntil:         *connection.KubeconfigValidity.AutoRotationJitterPercentageMax,
		Connection:          connection.ClientConnectionConfiguration,
		UserAgent:           p.seed.UserAgent,
	}
	if connection.GardenClusterAddress != nil {
		settings.Address = *connection.GardenClusterAddress
	}
	if connection.KubeconfigValidity.Validity != nil {
		settings.Validity = &connection.KubeconfigValidity.Validity.Duration
	}
	return settings
}

// register registers the seed and aborts the operations of a process that died.
func (p *process) register(ctx context.Context, in garden, ready func()) error {
	seedClient, err := p.newSeedClient()
	if err != nil {
		return err
	}
	identity, err := seed.ClusterIdentity(ctx, seedClient)
	if err != nil {
		return err
	}
	registrar := registration.Registrar{Garden: in.client, Template: p.Config.SeedConfig.SeedTemplate, ClusterIdentity: identity, Clock: p.Clock}
	for _, step := range []func() error{
		func() error { return registrar.Register(ctx) },
		func() error { return registrar.AwaitNamespace(ctx) },
		func() error {
			err := registrar.AdoptDomains(ctx)
			if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
				// A mistake in a Secret of the garden does not keep a seed from its shoots.
				p.Log.Info("Default domains of the garden not taken over", "reason", err.Error())
				return nil
			}
			return err
		},
		func() error {
			why, err := registrar.AdoptGardenlet(ctx, seedClient)
			if why != nil {
				p.Log.Info("Gardenlet object not made from the seed", "configMap", registration.SelfUpgradeName, "reason", why.Error())
			}
			return err
		},
		func() error {
			aborted, err := registrar.AbortOperations(ctx)
			if len(aborted) > 0 {
				p.Log.Info("Operations of a process that died are started again", "shoots", aborted)
			}
			return err
		},
	} {
		if err := in.access.Insist(ctx, step); err != nil {
			return err
		}
	}
	p.Log.Info("Seed registered", "seed", p.seedName(), "clusterIdentity", identity)
	ready()
	return nil
}

// define installs the custom resource definitions in the seed before a controller watches their objects.
func (p *process) define(ctx context.Context, ready func()) error {
	seedClient, err := p.newSeedClient()
	if err != nil {
		return err
	}
	waitCtx, cancel := context.WithTimeout(ctx, definitionPatience)
	defer cancel()
	p.alive()
	if err := seed.ApplyDefinitions(waitCtx, seed.Engine(seedClient, p.Clock)); err != nil {
		return fmt.Errorf("prepare the seed: %w", err)
	}
	ready()
	return nil
}

func (p *process) recordRotationFailure(recorder events.EventRecorder, err error, expiry time.Time) {
	object := &gardencorev1beta1.Seed{}
	object.Name = p.seedName()
	object.SetGroupVersionKind(gardencorev1beta1.GroupVersion.WithKind("Seed"))
	kit.Record(recorder, object, kit.Notice{
		Type: corev1.EventTypeWarning, Reason: gardencorev1beta1.EventGardenletCertificateRotationFailed, Action: gardencorev1beta1.EventActionReconcile,
		Message: fmt.Sprintf("The gardenlet's certificate for the garden expires at %s and could not be renewed: %v", expiry.UTC().Format(time.RFC3339), err),
	})
}
