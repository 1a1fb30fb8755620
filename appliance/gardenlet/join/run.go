// SPDX-License-Identifier: Apache-2.0

package join

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
)

const (
	lookPause = 300 * time.Millisecond
	// stuckPatience is how long an error may persist that can disappear by itself.
	stuckPatience = 30 * time.Second
	// undoPatience limits the time for undoing a join.
	undoPatience = time.Minute
)

var (
	// ErrTimeout says that the seed was not ready in time.
	ErrTimeout = errors.New("the seed did not become ready in time")
	// ErrOtherSeed says that the cluster is already a seed.
	ErrOtherSeed = errors.New("the cluster is already a seed")
)

// joiner runs one join.
type joiner struct {
	Options
	Surroundings

	garden  *garden
	cluster *cluster
	config  map[string]any
	told    map[string]bool
}

// Manifests returns the objects that Run would create, as YAML. It changes nothing.
func Manifests(ctx context.Context, o Options, s Surroundings) ([]byte, error) {
	j := &joiner{Options: o, Surroundings: s}
	if err := j.prepare(ctx, ""); err != nil {
		return nil, err
	}
	p, err := j.plan()
	if err != nil {
		return nil, err
	}
	return p.YAML()
}

// Run joins the cluster and returns when the seed is ready. seedKubeconfig is the path of the kubeconfig for a gardenlet of
// ModeProcess; that gardenlet runs until ctx ends. If Run fails before the seed is registered, it removes what it has created.
func Run(ctx context.Context, o Options, s Surroundings, seedKubeconfig string) error {
	j := &joiner{Options: o, Surroundings: s, told: map[string]bool{}}
	if o.Mode != ModeProcess {
		seedKubeconfig = ""
	}
	if err := j.prepare(ctx, seedKubeconfig); err != nil {
		return err
	}
	found, err := findInstalled(ctx, j.cluster.client, j.config)
	if err != nil {
		return err
	}
	if found.works(j.Clock.Now()) && found.seed != seedName(j.config) {
		return hinted(fmt.Errorf("%w: it runs the gardenlet of seed %q", ErrOtherSeed, found.seed),
			fmt.Sprintf(`join it as %q again, or remove that gardenlet with "terrarium gardenlet leave"`, found.seed))
	}
	p, err := j.plan()
	if err != nil {
		return err
	}
	if o.Mode == ModeProcess && s.CheckConfig != nil {
		data, err := j.encoded()
		if err != nil {
			return err
		}
		if err := s.CheckConfig(data); err != nil {
			return err
		}
	}
	return j.carryOut(ctx, p)
}

// encoded is the configuration for a gardenlet in this process.
func (j *joiner) encoded() ([]byte, error) {
	data, err := yaml.Marshal(j.config)
	if err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	return data, nil
}

// prepare runs all checks and completes the configuration. It changes nothing.
func (j *joiner) prepare(ctx context.Context, seedKubeconfig string) error {
	var err error
	if j.garden, err = openGarden(ctx, j.Options, j.UserAgent); err != nil {
		return err
	}
	if len(j.GardenCA) > 0 {
		j.step("Garden verified: its certificate is signed by the CA in --garden-ca-file, and it accepts the token")
	} else {
		j.step("Garden verified: its CA has the hash sha256:%.16s…, and it accepts the token", j.garden.hash)
	}
	if j.cluster, err = openCluster(ctx, j.SeedKubeconfig, j.SeedContext, j.UserAgent); err != nil {
		return err
	}
	facts, err := Detect(ctx, j.cluster.client)
	if err != nil {
		return err
	}
	if j.config, err = Config(j.Options, facts, seedKubeconfig); err != nil {
		return err
	}
	j.step("Cluster %s with Kubernetes %s becomes seed %q", j.cluster.config.Host, j.cluster.version, seedName(j.config))
	return nil
}

func (j *joiner) plan() (plan, error) {
	invitation, err := j.garden.invitation.Kubeconfig()
	if err != nil {
		return plan{}, err
	}
	return newPlan(j.Options, j.config, invitation, j.cluster.version)
}

// carryOut changes the cluster, and undoes the change if the seed is not registered.
func (j *joiner) carryOut(ctx context.Context, p plan) error {
	d := &deployment{engine: deploy.Engine{Client: j.cluster.client, Owner: fieldOwner, Clock: j.Clock}}
	connected := false
	err := j.dropStale(ctx)
	if err == nil {
		err = d.apply(ctx, p)
	}
	if err == nil {
		connected, err = j.accompany(ctx)
	}
	if err == nil || connected {
		return err
	}
	undoCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
	defer cancel()
	if undoErr := d.undo(undoCtx); undoErr != nil {
		return fmt.Errorf("%w\nthe objects created in the cluster could not be removed; run \"terrarium gardenlet leave\" to remove them: %w", err, first(undoErr))
	}
	if len(d.made) > 0 {
		j.Tell("  The objects created in the cluster have been removed")
	}
	return err
}

// first returns the first of several errors, which often have one cause.
func first(err error) error {
	if many, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok && len(many.Unwrap()) > 0 {
		return many.Unwrap()[0]
	}
	return err
}

// dropStale removes credentials of an earlier join that this garden does not accept. The gardenlet would prefer them to the
// invitation.
func (j *joiner) dropStale(ctx context.Context) error {
	namespace, name := reference(j.config, "kubeconfigSecret")
	secret := &corev1.Secret{}
	err := j.cluster.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get Secret %q of the cluster: %w", namespace+"/"+name, err)
	}
	reason := j.stale(secret.Data[gardencorev1beta1.DataKeyKubeconfig])
	if reason == "" {
		return nil
	}
	if err := client.IgnoreNotFound(j.cluster.client.Delete(ctx, secret)); err != nil {
		return fmt.Errorf("delete Secret %q of the cluster: %w", namespace+"/"+name, err)
	}
	j.step("Credentials of an earlier join removed: %s", reason)
	return nil
}

// stale returns why stored credentials cannot be used; empty if they can.
func (j *joiner) stale(kubeconfig []byte) string {
	if len(kubeconfig) == 0 {
		return ""
	}
	material, err := gardenaccess.ParseKubeconfig(kubeconfig)
	if err != nil {
		return err.Error()
	}
	if err := material.Usable(seedName(j.config), j.Clock.Now()); err != nil {
		return err.Error()
	}
	here := j.garden.invitation
	if material.Server != here.Server && !bytes.Equal(bytes.TrimSpace(material.CA), bytes.TrimSpace(here.CA)) {
		return "they are for the garden at " + material.Server
	}
	return ""
}

// accompany waits until the seed is ready. It also reports whether the seed was registered.
func (j *joiner) accompany(ctx context.Context) (connected bool, err error) {
	identity, err := seed.ClusterIdentity(ctx, j.cluster.client)
	if err != nil {
		return false, err
	}
	v := &observer{cluster: j.cluster, garden: j.garden, config: j.config, identity: identity, deployment: j.Mode != ModeProcess}
	if j.Mode != ModeProcess {
		j.step("Gardenlet deployed in namespace %s", gardencorev1beta1.NamespaceGarden)
		return j.follow(ctx, v, nil)
	}
	config, err := j.encoded()
	if err != nil {
		return false, err
	}
	runCtx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- j.RunGardenlet(runCtx, config) }()
	j.step("Gardenlet started in this process")
	connected, err = j.follow(ctx, v, ended)
	if err == nil {
		return connected, <-ended
	}
	stop()
	if !errors.Is(err, errEnded) {
		return connected, errors.Join(err, <-ended)
	}
	return connected, err
}

// errEnded says that the gardenlet in this process has ended; it wraps its error.
var errEnded = errors.New("the gardenlet has ended")

// follow polls until the seed is ready or the join has failed. ended receives the error of a gardenlet in this process.
func (j *joiner) follow(ctx context.Context, v *observer, ended <-chan error) (connected bool, err error) {
	timeout := j.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	began := j.Clock.Now()
	var stuckSince time.Time
	waiting := "the first sign of the gardenlet"
	for {
		observation, err := v.observe(ctx)
		report := Judge(observation)
		if err != nil {
			report = Report{Waiting: err.Error(), Connected: connected}
		}
		for _, step := range report.Done {
			j.step("%s", step)
		}
		connected = connected || report.Connected
		if report.Waiting != "" {
			waiting = report.Waiting
		}
		now := j.Clock.Now()
		switch {
		case report.Ready:
			j.Tell(fmt.Sprintf("Seed %q is ready after %s", seedName(j.config), now.Sub(began).Round(time.Second/10)))
			return true, nil
		case report.Failed != nil:
			return connected, report.Failed
		case report.Stuck == nil:
			stuckSince = time.Time{}
		case stuckSince.IsZero():
			stuckSince = now
		case now.Sub(stuckSince) >= stuckPatience:
			return connected, report.Stuck
		}
		if now.Sub(began) >= timeout {
			return connected, fmt.Errorf("%w (%s): waiting for %s", ErrTimeout, timeout, waiting)
		}
		if err := j.pause(ctx, ended); err != nil {
			return connected, err
		}
	}
}

// pause waits for the next poll, or until the gardenlet or ctx ends.
func (j *joiner) pause(ctx context.Context, ended <-chan error) error {
	timer := j.Clock.NewTimer(lookPause)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case err := <-ended:
		if err == nil {
			return errEnded
		}
		return fmt.Errorf("%w: %w", errEnded, err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// step prints each step once.
func (j *joiner) step(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if j.told == nil || j.told[text] {
		return
	}
	j.told[text] = true
	j.Tell("  ✓ " + text)
}
