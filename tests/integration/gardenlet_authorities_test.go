// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestGardenletSurvivesNewAuthorities changes all authorities of a garden while a gardenlet is joined: none of its requests fails,
// and afterwards nothing of the former authorities is accepted [OPER-ROT-3, OPER-ROT-5, OPER-ROT-7].
func TestGardenletSurvivesNewAuthorities(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	n.invite(n.token(time.Hour))
	refused := n.runWatched()
	n.readySeed()
	n.await("the gardenlet tells which authorities it uses", func(ctx context.Context) error {
		lease := seedLease()
		err := n.garden.Client.Get(ctx, client.ObjectKeyFromObject(lease), lease)

		return either(err, lease.Annotations[gardenaccess.AnnotationBundle] != "", "annotations %v", lease.Annotations)
	})
	before, former := n.credentials(), rest.CopyConfig(n.garden.Config)

	report, err := n.rotate("start")
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	if diff := cmp.Diff(&authorityReport{Phase: "preparing", Waiting: []string{"one"}}, report); diff != "" {
		t.Fatalf("start (-want +got):\n%s", diff)
	}
	if _, err := n.rotate("start"); !strings.Contains(fmt.Sprint(cause(err)), "a rotation has begun") {
		t.Errorf("start again: got %v", cause(err))
	}
	if _, err := n.rotate("complete"); !strings.Contains(fmt.Sprint(cause(err)), "1 seeds have not taken up the next certificate authorities, and would be shut out: one;") {
		t.Errorf("complete before the gardenlet is ready for it: got %v", cause(err))
	}
	n.await("the gardenlet has taken up the authorities", func(ctx context.Context) error {
		report, err := n.authorities(ctx)

		return either(err, report != nil && report.Phase == "prepared", "%+v", report)
	})
	during := n.credentials()
	if !bytes.HasPrefix(during.CA, before.CA) || len(during.CA) <= len(before.CA) || bytes.Equal(during.Certificate, before.Certificate) {
		t.Error("Both authorities are trusted, and there is a new certificate.")
	}
	for name, m := range map[string]gardenaccess.Material{"former": before, "new": during} {
		if err := n.whoAmI(t.Context(), m); err != nil {
			t.Errorf("%s certificate while both authorities are trusted: %v", name, err)
		}
	}

	if _, err := n.rotate("complete"); err != nil {
		t.Fatalf("complete: %v", cause(err))
	}
	n.await("the rotation is over", func(ctx context.Context) error {
		n.renewAdmin()
		report, err := n.authorities(ctx)

		return either(err, report == nil, "%+v", report)
	})
	n.renewAdmin()
	if bytes.Contains(n.garden.Config.CAData, former.CAData) {
		t.Error("The former authority is not in the kubeconfig any more.")
	}
	fresh := during
	fresh.CA = n.garden.Config.CAData
	if err := n.whoAmI(t.Context(), fresh); err != nil {
		t.Errorf("the new certificate: %v", err)
	}
	stale := before
	stale.CA = n.garden.Config.CAData
	n.await("the former certificate is refused", func(ctx context.Context) error {
		err := n.whoAmI(ctx, stale)

		return has(apierrors.IsUnauthorized(err), "got %v", err)
	})
	if err := n.whoAmI(t.Context(), before); err == nil || !strings.Contains(err.Error(), "x509") {
		t.Errorf("A client that trusts only the former authority does not accept the server: got %v", err)
	}
	done := time.Now()
	harness.Await(t, n.garden.Client, seedLease(), "the gardenlet goes on", func(l *coordinationv1.Lease) error {
		return has(l.Spec.RenewTime.After(done.Add(5*time.Second)), "renewed at %s", l.Spec.RenewTime)
	})
	n.await("only the new authority is published", func(ctx context.Context) error {
		published := &corev1.ConfigMap{}
		err := n.garden.Client.Get(ctx, client.ObjectKey{Namespace: "gardener-system-public", Name: "kube-root-ca.crt"}, published)

		return either(err, published.Data["ca.crt"] == string(n.garden.Config.CAData), "published: %s", published.Data["ca.crt"])
	})
	if lines := refused(); len(lines) > 0 {
		t.Errorf("requests of the gardenlet failed:\n%s", strings.Join(lines, "\n"))
	}
}

func seedLease() *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-seed-lease", Name: "one"}}
}

// either returns an error, or one if something does not hold.
func either(err error, holds bool, format string, args ...any) error {
	if err != nil {
		return err
	}

	return has(holds, format, args...)
}

// runWatched runs a gardenlet, and returns what its log says about connections and credentials that were refused.
func (n *nursery) runWatched() func() []string {
	n.t.Helper()
	var mu sync.Mutex
	var lines []string
	log := funcr.New(func(prefix, args string) {
		mu.Lock()
		defer mu.Unlock()
		for _, sign := range []string{"x509", "Unauthorized", "tls:", "could not be renewed"} {
			if strings.Contains(args, sign) {
				lines = append(lines, prefix+" "+args)
			}
		}
	}, funcr.Options{})
	completed, err := gardenlet.Options{
		Config: n.config("one"), Log: log, Version: "v0.0.0-test", APILevel: build.GardenerAPILevel, Name: "gardenlet-of-" + n.t.Name(),
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

	return func() []string {
		mu.Lock()
		defer mu.Unlock()

		return lines
	}
}

// credentials are those that the gardenlet keeps in its seed.
func (n *nursery) credentials() gardenaccess.Material {
	n.t.Helper()
	secret := secretIn("garden", "gardenlet-kubeconfig")
	if err := n.seed.Client.Get(n.t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
		n.t.Fatal(err)
	}
	material, err := gardenaccess.ParseKubeconfig(secret.Data["kubeconfig"])
	if err != nil {
		n.t.Fatal(err)
	}

	return material
}

// whoAmI uses credentials on a connection of their own.
func (n *nursery) whoAmI(ctx context.Context, m gardenaccess.Material) error {
	n.t.Helper()
	clients, err := kubernetes.NewForConfig(&rest.Config{
		Host: m.Server, Dial: new(net.Dialer).DialContext, TLSClientConfig: rest.TLSClientConfig{CAData: m.CA, CertData: m.Certificate, KeyData: m.Key},
	})
	if err != nil {
		n.t.Fatal(err)
	}
	_, err = clients.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})

	return err
}

// renewAdmin takes up the kubeconfig that the garden has written.
func (n *nursery) renewAdmin() {
	n.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", n.garden.Kubeconfig)
	if err != nil {
		n.t.Fatal(err)
	}
	config.QPS = -1
	c, err := client.NewWithWatch(config, client.Options{Scheme: n.garden.Scheme})
	if err != nil {
		n.t.Fatal(err)
	}
	n.garden.Config, n.garden.Client = config, c
}

// authorityReport is how far the change of the authorities is.
type authorityReport struct {
	Phase   string   `json:"phase"`
	Waiting []string `json:"waiting"`
}

func (n *nursery) rotate(phase string) (*authorityReport, error) {
	n.t.Helper()

	return n.ask(n.t.Context(), func(c rest.Interface) *rest.Request {
		return c.Post().SetHeader("Content-Type", "application/json").Body(fmt.Appendf(nil, `{"rotate":"authorities","phase":%q}`, phase))
	})
}

func (n *nursery) authorities(ctx context.Context) (*authorityReport, error) {
	n.t.Helper()

	return n.ask(ctx, func(c rest.Interface) *rest.Request { return c.Get() })
}

func (n *nursery) ask(ctx context.Context, how func(c rest.Interface) *rest.Request) (*authorityReport, error) {
	n.t.Helper()
	clients, err := kubernetes.NewForConfig(n.garden.Config)
	if err != nil {
		n.t.Fatal(err)
	}
	data, err := how(clients.Discovery().RESTClient()).AbsPath("/appliance/certificates").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	var report struct {
		Authorities *authorityReport `json:"authorities"`
	}
	err = json.Unmarshal(data, &report)

	return report.Authorities, err
}

// cause is an error with what the server said in plain text.
func cause(err error) error {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok && status.ErrStatus.Details != nil {
		for _, c := range status.ErrStatus.Details.Causes {
			err = fmt.Errorf("%w: %s", err, c.Message)
		}
	}

	return err
}
