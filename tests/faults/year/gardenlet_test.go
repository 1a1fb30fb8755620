// SPDX-License-Identifier: Apache-2.0

package year_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/lease"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// gardenlet is a hollow one: it keeps its credentials as a gardenlet does, and sends heartbeats with them. Its seed is a memory of Secrets.
type gardenlet struct {
	*year

	seed     string
	cluster  client.Client
	settings gardenaccess.Settings
	access   *gardenaccess.Access
	stop     func()

	leaf *x509.Certificate
	// renewals are the shares of their lives at which certificates were renewed by their time, asked is how many were because the garden
	// asked for it.
	renewals     []float64
	asked, beats int
	pending      bool
}

// join makes a gardenlet join with a token. A validity of 0 leaves it to the garden.
func (y *year) join(seed string, validity time.Duration) *gardenlet {
	y.t.Helper()
	g := &gardenlet{year: y, seed: seed, cluster: fake.NewClientBuilder().Build(), settings: gardenaccess.Settings{
		Seed:                seed,
		KubeconfigSecret:    &corev1.SecretReference{Namespace: "garden", Name: "gardenlet-kubeconfig"},
		BootstrapKubeconfig: &corev1.SecretReference{Namespace: "garden", Name: "gardenlet-kubeconfig-bootstrap"},
		RotateFrom:          70, RotateUntil: 90, Connection: gardenconfigv1alpha1.ClientConnectionConfiguration{QPS: -1},
	}}
	if validity > 0 {
		g.settings.Validity = &validity
	}
	g.invite(y.token(seed))
	if err := g.open(); err != nil {
		y.t.Fatalf("join seed %q: %v", seed, err)
	}
	if err := g.reach().Create(y.t.Context(), seedOf(seed)); err != nil {
		y.t.Fatalf("register seed %q: %v", seed, err)
	}
	g.maintain()
	g.beat()

	return g
}

// invite puts a bootstrap kubeconfig into the seed.
func (g *gardenlet) invite(token identity.JoinToken) {
	g.t.Helper()
	kubeconfig, err := gardenaccess.Material{Server: g.garden.Server, CA: g.ca(), Token: token.BootstrapToken()}.Kubeconfig()
	if err != nil {
		g.t.Fatal(err)
	}
	err = g.cluster.Create(g.t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gardenlet-kubeconfig-bootstrap"}, Data: map[string][]byte{"kubeconfig": kubeconfig},
	})
	if err != nil {
		g.t.Fatal(err)
	}
}

// open is the start of a gardenlet.
func (g *gardenlet) open() error {
	access, err := gardenaccess.Open(g.t.Context(), g.settings, gardenaccess.Surroundings{
		Seed: g.cluster, Clock: g.clock, Random: rand.Float64, Log: logr.Discard(), Alive: func() {},
		RotationFailed: func(err error, _ time.Time) { g.t.Errorf("gardenlet %s on day %d: %v", g.seed, g.today, err) },
	})
	if err != nil {
		return err
	}
	g.access, g.leaf = access, nil

	return nil
}

// maintain keeps the credentials until the gardenlet is turned off.
func (g *gardenlet) maintain() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(g.t.Context()))
	ended := make(chan error, 1)
	access := g.access
	go func() { ended <- access.Maintain(ctx) }()
	g.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			g.t.Errorf("gardenlet %s: %v", g.seed, err)
		}
		access.Close()
	}
	g.t.Cleanup(func() { g.turnOff() })
}

func (g *gardenlet) turnOff() {
	if g.stop != nil {
		g.stop()
		g.stop = nil
	}
}

func (g *gardenlet) off() bool { return g.stop == nil }

func (g *gardenlet) expiry() time.Time { return g.access.Expiry().Time }

// live is a day of a gardenlet: it renews its certificate when it is time, and sends a heartbeat, which must not fail.
func (g *gardenlet) live() {
	g.t.Helper()
	if g.off() {
		return
	}
	harness.Eventually(g.t, fmt.Sprintf("gardenlet %s renews its certificate on day %d", g.seed, g.today), func(ctx context.Context) error {
		leaf := g.current(ctx)
		if s := share(leaf, time.Now().Add(-day)); s > 0.9 {
			return fmt.Errorf("%.0f %% of its life have passed", 100*s)
		}
		// Otherwise a certificate that was due on the day it was asked for would be taken for the one that was asked for.
		if _, asked := g.secret(ctx).Annotations[gardencorev1beta1.AnnotationOperation]; asked {
			return errors.New("the garden has asked for a renewal, which is not done")
		}

		return nil
	})
	g.note(g.current(g.t.Context()))
	g.beat()
}

// current is the certificate in the seed.
func (g *gardenlet) current(ctx context.Context) *x509.Certificate {
	g.t.Helper()
	secret := g.secret(ctx)
	material, err := gardenaccess.ParseKubeconfig(secret.Data["kubeconfig"])
	if err != nil {
		g.t.Fatal(err)
	}
	leaf, err := material.Leaf()
	if err != nil {
		g.t.Fatal(err)
	}

	return leaf
}

func (g *gardenlet) secret(ctx context.Context) *corev1.Secret {
	g.t.Helper()
	secret := &corev1.Secret{}
	if err := g.cluster.Get(ctx, client.ObjectKey{Namespace: "garden", Name: "gardenlet-kubeconfig"}, secret); err != nil {
		g.t.Fatal(err)
	}

	return secret
}

// note keeps when a certificate was renewed.
func (g *gardenlet) note(leaf *x509.Certificate) {
	before := g.leaf
	g.leaf = leaf
	switch {
	case before == nil || bytes.Equal(before.Raw, leaf.Raw):
	case g.pending:
		g.asked++
		g.pending = false
	default:
		g.renewals = append(g.renewals, share(before, leaf.NotBefore))
	}
}

func (g *gardenlet) reach() client.Client {
	g.t.Helper()
	c, err := client.New(g.access.Config(), client.Options{Scheme: g.garden.Scheme})
	if err != nil {
		g.t.Fatal(err)
	}

	return c
}

// beat renews the lease of the seed, tells the garden which credentials it has, and does what the garden asks for, as the controllers of
// the gardenlet do (GLET-ROT-7, GLET-ROT-8).
func (g *gardenlet) beat() {
	g.t.Helper()
	c, ctx := g.reach(), g.t.Context()
	seed := &gardencorev1beta1.Seed{}
	if err := c.Get(ctx, client.ObjectKey{Name: g.seed}, seed); err != nil {
		g.t.Fatalf("gardenlet %s on day %d: %v", g.seed, g.today, err)
	}
	renewed := lease.Renewed(seed, time.Minute, time.Now())
	renewed.Annotations = g.access.Marks()
	present := &coordinationv1.Lease{}
	err := c.Get(ctx, client.ObjectKeyFromObject(renewed), present)
	if err = client.IgnoreNotFound(err); err == nil && present.Name == "" {
		err = c.Create(ctx, renewed)
	} else if err == nil {
		renewed.ResourceVersion = present.ResourceVersion
		err = c.Update(ctx, renewed)
	}
	if err != nil {
		g.t.Fatalf("gardenlet %s on day %d: %v", g.seed, g.today, err)
	}
	g.beats++
	before := seed.DeepCopy()
	seed.Status.ClientCertificateExpirationTimestamp = g.access.Expiry()
	if err := c.Status().Patch(ctx, seed, client.MergeFrom(before)); err != nil {
		g.t.Fatalf("gardenlet %s on day %d: %v", g.seed, g.today, err)
	}
	if seed.Annotations[gardencorev1beta1.AnnotationOperation] == gardencorev1beta1.OperationRenewKubeconfig {
		g.renew(c, seed)
	}
}

// renew asks itself for new credentials.
func (g *gardenlet) renew(c client.Client, seed *gardencorev1beta1.Seed) {
	g.t.Helper()
	before := seed.DeepCopy()
	delete(seed.Annotations, gardencorev1beta1.AnnotationOperation)
	if err := c.Patch(g.t.Context(), seed, client.MergeFrom(before)); err != nil {
		g.t.Fatalf("gardenlet %s on day %d: %v", g.seed, g.today, err)
	}
	g.note(g.current(g.t.Context())) // The one that is replaced.
	secret := g.secret(g.t.Context())
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationRenew)
	if err := g.cluster.Update(g.t.Context(), secret); err != nil {
		g.t.Fatal(err)
	}
	g.pending = true
}

// seedOf is what a gardenlet registers.
func seedOf(name string) *gardencorev1beta1.Seed {
	ref := corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "local"}
	s := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.Spec.Provider = gardencorev1beta1.SeedProvider{Type: "local", Region: "north"}
	s.Spec.Networks = gardencorev1beta1.SeedNetworks{
		Pods: "10.1.0.0/16", Services: "10.2.0.0/16", Nodes: new("10.3.0.0/16"),
		ShootDefaults: &gardencorev1beta1.ShootNetworks{Pods: new("10.11.0.0/16"), Services: new("10.12.0.0/16")},
	}
	s.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{Type: "local", Domain: "internal.example.org", CredentialsRef: ref}
	s.Spec.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{Type: "local", CredentialsRef: &ref}
	s.Spec.Ingress = &gardencorev1beta1.Ingress{Domain: "ingress." + name + ".example.org", Controller: gardencorev1beta1.IngressController{Kind: "nginx"}}

	return s
}

func theGarden() *gardenoperatorv1alpha1.Garden {
	return &gardenoperatorv1alpha1.Garden{ObjectMeta: metav1.ObjectMeta{Name: "garden"}}
}

func keys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }
