// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstraptoken "k8s.io/cluster-bootstrap/token/api"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/controllers/extension/crds"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// nursery is a garden and a cluster that can become its seed. The cluster is the API of another garden: it serves all that
// a gardenlet needs for itself.
type nursery struct {
	t            *testing.T
	garden, seed *operator
}

func newNursery(t *testing.T, options ...harness.Option) *nursery {
	t.Helper()
	n := &nursery{t: t, garden: operate(t, options...), seed: operate(t)}
	n.garden.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "garden", Name: "internal-domain", Labels: map[string]string{"gardener.cloud/role": "internal-domain"},
		Annotations: map[string]string{"dns.gardener.cloud/provider": "local", "dns.gardener.cloud/domain": "internal.example.org"},
	}})
	n.await("the cluster has what it makes by itself", func(ctx context.Context) error {
		return errors.Join(
			n.seed.Client.Get(ctx, client.ObjectKey{Namespace: "garden", Name: "kube-root-ca.crt"}, &corev1.ConfigMap{}),
			n.seed.Client.Get(ctx, client.ObjectKey{Namespace: "garden", Name: "observability-ingress"}, &corev1.Secret{}),
		)
	})
	return n
}

func (n *nursery) await(what string, check func(ctx context.Context) error) {
	n.t.Helper()
	harness.Eventually(n.t, what, check)
}

// token makes a join token that ends after the given time.
func (n *nursery) token(lifetime time.Duration, change ...func(*corev1.Secret)) identity.JoinToken {
	n.t.Helper()
	token := identity.NewJoinToken(identity.HashCA(n.garden.CA))
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-" + token.ID},
		Type:       bootstraptoken.SecretTypeBootstrapToken,
		StringData: map[string]string{
			bootstraptoken.BootstrapTokenIDKey:               token.ID,
			bootstraptoken.BootstrapTokenSecretKey:           token.Secret,
			bootstraptoken.BootstrapTokenUsageAuthentication: "true",
			bootstraptoken.BootstrapTokenExpirationKey:       time.Now().Add(lifetime).UTC().Format(time.RFC3339),
		},
	}
	for _, c := range change {
		c(secret)
	}
	n.garden.create(secret)
	return token
}

// renewing makes a token replace the certificate of a seed.
func renewing(seed string) func(*corev1.Secret) {
	return func(s *corev1.Secret) { s.StringData["seed"], s.StringData["renew"] = seed, "true" }
}

// invite puts a bootstrap kubeconfig with the token into the seed.
func (n *nursery) invite(token identity.JoinToken) {
	n.t.Helper()
	kubeconfig, err := gardenaccess.Material{Server: n.garden.Server, CA: n.garden.CA, Token: token.BootstrapToken()}.Kubeconfig()
	if err != nil {
		n.t.Fatal(err)
	}
	n.seed.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gardenlet-kubeconfig-bootstrap"},
		Data:       map[string][]byte{"kubeconfig": kubeconfig},
	})
}

// config is the configuration of a gardenlet that runs as a process of this test.
func (n *nursery) config(name string) *gardenconfigv1alpha1.GardenletConfiguration {
	config := &gardenconfigv1alpha1.GardenletConfiguration{
		GardenClientConnection: &gardenconfigv1alpha1.GardenClientConnection{
			KubeconfigSecret:    &corev1.SecretReference{Namespace: "garden", Name: "gardenlet-kubeconfig"},
			BootstrapKubeconfig: &corev1.SecretReference{Namespace: "garden", Name: "gardenlet-kubeconfig-bootstrap"},
		},
		SeedClientConnection: &gardenconfigv1alpha1.SeedClientConnection{
			ClientConnectionConfiguration: gardenconfigv1alpha1.ClientConnectionConfiguration{Kubeconfig: n.seed.Kubeconfig},
		},
		Resources: &gardenconfigv1alpha1.ResourcesConfiguration{
			Capacity: corev1.ResourceList{"shoots": resource.MustParse("100")},
			Reserved: corev1.ResourceList{"shoots": resource.MustParse("10")},
		},
		SeedConfig: &gardenconfigv1alpha1.SeedConfig{SeedTemplate: gardencorev1beta1.SeedTemplate{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"climate": "mild"}},
			Spec: gardencorev1beta1.SeedSpec{
				Provider: gardencorev1beta1.SeedProvider{Type: "local", Region: "north", Zones: []string{"a", "b"}},
				Networks: gardencorev1beta1.SeedNetworks{
					Pods: "10.1.0.0/16", Services: "10.2.0.0/16",
					ShootDefaults: &gardencorev1beta1.ShootNetworks{Pods: new("10.11.0.0/16"), Services: new("10.12.0.0/16")},
				},
			},
		}},
	}
	known(&config.SeedConfig.Spec, name)
	config.SetDefaults()
	config.Server.HealthProbes.Port, config.Server.Metrics.Port = 0, 0
	config.Controllers.ControllerInstallationCare.SyncPeriod.Duration = 2 * time.Second
	return config
}

// running is a gardenlet in this process.
type running struct {
	cancel context.CancelFunc
	done   chan error
}

// run runs a gardenlet until it is stopped or the test ends.
func (n *nursery) run(config *gardenconfigv1alpha1.GardenletConfiguration) *running {
	n.t.Helper()
	completed, err := gardenlet.Options{
		Config: config, Log: testr.NewWithOptions(n.t, testr.Options{LogTimestamp: true}).WithName("gardenlet"),
		Version: "v0.0.0-test", APILevel: build.GardenerAPILevel, Name: "gardenlet-of-" + n.t.Name(),
	}.Complete()
	if err != nil {
		n.t.Fatalf("complete gardenlet: %v", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(n.t.Context()))
	r := &running{cancel: cancel, done: make(chan error, 1)}
	go func() { r.done <- completed.Run(ctx) }()
	n.t.Cleanup(func() {
		if err := r.stop(); err != nil {
			n.t.Errorf("gardenlet: %v", err)
		}
	})
	return r
}

// stop stops the gardenlet and returns its error. Stopping it again returns nothing.
func (r *running) stop() error {
	r.cancel()
	if r.done == nil {
		return nil
	}
	defer func() { r.done = nil }()
	return <-r.done
}

// fails waits until the gardenlet ends by itself.
func (n *nursery) fails(r *running) error {
	n.t.Helper()
	select {
	case err := <-r.done:
		r.done = nil
		if err == nil {
			n.t.Fatal("the gardenlet ended without an error")
		}
		return err
	case <-time.After(harness.Patience):
		n.t.Fatal("the gardenlet goes on as if nothing were wrong")
		return nil
	}
}

// readySeed waits until the seed "one" is of use.
func (n *nursery) readySeed() *gardencorev1beta1.Seed {
	n.t.Helper()
	const name = "one"
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return harness.Await(n.t, n.garden.Client, seed, fmt.Sprintf("seed %q is ready", name), func(s *gardencorev1beta1.Seed) error {
		last := s.Status.LastOperation
		if last == nil || last.State != gardencorev1beta1.LastOperationStateSucceeded {
			return fmt.Errorf("last operation: %+v", last)
		}
		for _, kind := range []gardencorev1beta1.ConditionType{"GardenletReady", "SeedSystemComponentsHealthy"} {
			c, err := condition(s.Status.Conditions, kind)
			if err != nil {
				return err
			}
			if c.Status != gardencorev1beta1.ConditionTrue {
				return fmt.Errorf("%s is %s: %s", kind, c.Status, c.Message)
			}
		}
		return nil
	})
}

// absent checks that an object does not exist.
func (o *operator) absent(object client.Object, why string) {
	o.t.Helper()
	err := o.Client.Get(o.t.Context(), client.ObjectKeyFromObject(object), object)
	if !apierrors.IsNotFound(err) {
		o.t.Errorf("%s: %T %q is there (error %v)", why, object, client.ObjectKeyFromObject(object), err)
	}
}

func secretIn(namespace, name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// freePort finds a port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if err := errors.Join(listener.Close()); err != nil || !ok {
		t.Fatalf("find a free port: %v", err)
	}
	return address.Port
}

func unknownToken(n *nursery) identity.JoinToken {
	return identity.NewJoinToken(identity.HashCA(n.garden.CA))
}

// forget removes what a gardenlet has left in the seed, so that another one can start.
func (n *nursery) forget() {
	ctx := context.WithoutCancel(n.t.Context())
	for _, object := range []client.Object{
		secretIn("garden", "gardenlet-kubeconfig"), secretIn("garden", "gardenlet-kubeconfig-bootstrap"),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "shoot-info"}},
	} {
		if err := client.IgnoreNotFound(n.seed.Client.Delete(ctx, object)); err != nil {
			n.t.Errorf("clean up: %v", err)
		}
	}
}

func realClock() clock.Clock { return clock.RealClock{} }

func equateErrors() cmp.Option { return cmpopts.EquateErrors() }

func readAll(t *testing.T, response *http.Response) []byte {
	t.Helper()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func checkNoDefinitions(n *nursery) {
	n.t.Helper()
	definitions, err := crds.Objects()
	if err != nil {
		n.t.Fatal(err)
	}
	for _, definition := range definitions {
		n.seed.absent(definition, "GLET-SEED-12: definitions go with the seed")
	}
}

// workerless is a shoot without machines on a given seed.
func workerless(namespace, name, seed string) *gardencorev1beta1.Shoot {
	return &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: gardencorev1beta1.ShootSpec{
		CloudProfile: &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"},
		Region:       "north",
		Provider:     gardencorev1beta1.Provider{Type: "local"},
		Kubernetes:   gardencorev1beta1.Kubernetes{Version: "1.36.3"},
		SeedName:     &seed,
	}}
}
