// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/preflight"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/registration"
	"github.com/terrarium-garden/terrarium/controllers/extension/crds"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestGardenletJoins follows one gardenlet from its token to a seed that is ready, and to its end.
func TestGardenletJoins(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	token := n.token(time.Hour)
	n.invite(token)
	config := n.config("one")
	config.Server.HealthProbes.BindAddress, config.Server.HealthProbes.Port = "127.0.0.1", freePort(t)
	config.Server.Metrics.BindAddress, config.Server.Metrics.Port = "127.0.0.1", freePort(t)
	r := n.run(config)
	seed := n.readySeed()

	checkRegistration(n, seed)
	checkCredentials(n, token.ID)
	checkSeedCluster(n)
	n.await("GLET-LEASE-2: the lease is renewed", func(ctx context.Context) error {
		lease := &coordinationv1.Lease{}
		key := client.ObjectKey{Namespace: "gardener-system-seed-lease", Name: "one"}
		if err := n.garden.Client.Get(ctx, key, lease); err != nil {
			return err
		}
		return has(*lease.Spec.HolderIdentity == "one" && *lease.Spec.LeaseDurationSeconds == 2 && lease.OwnerReferences[0].UID == seed.UID &&
			lease.Spec.RenewTime.After(seed.CreationTimestamp.Add(3*time.Second)), "lease %+v", lease.Spec)
	})
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ok", "/healthz/heartbeat": "ok"} {
		if got := fetch(t, fmt.Sprintf("http://127.0.0.1:%d%s", config.Server.HealthProbes.Port, path)); got != want {
			t.Errorf("GLET-LEASE-6: %s answers %q, want %q", path, got, want)
		}
	}
	if metrics := fetch(t, fmt.Sprintf("http://127.0.0.1:%d/metrics", config.Server.Metrics.Port)); !strings.Contains(metrics, `controller="lease"`) {
		t.Error("GLET-LEASE-7: the metrics of the controllers are served")
	}

	if err := r.stop(); err != nil {
		t.Fatalf("stop the gardenlet: %v", err)
	}
	lease := &coordinationv1.Lease{}
	if err := n.seed.Client.Get(t.Context(), client.ObjectKey{Namespace: "garden", Name: "gardenlet-leader-election"}, lease); err != nil {
		t.Fatal(err)
	}
	if holder := lease.Spec.HolderIdentity; holder != nil && *holder != "" {
		t.Errorf("GLET-REG-6: the lease of the leader is released at the end, but %q holds it", *holder)
	}
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return string(readAll(t, response))
}

func checkRegistration(n *nursery, seed *gardencorev1beta1.Seed) {
	n.t.Helper()
	wantLabels := map[string]string{"climate": "mild", "gardener.cloud/role": "seed", "name.seed.gardener.cloud/one": "true"}
	for key, want := range wantLabels {
		if seed.Labels[key] != want {
			n.t.Errorf("GLET-REG-1/2: label %s of the seed is %q, want %q", key, seed.Labels[key], want)
		}
	}
	status := seed.Status
	if status.Gardener == nil || status.Gardener.Version != "v0.0.0-test" || !strings.HasPrefix(status.Gardener.Name, "gardenlet-of-") || status.Gardener.ID == "" {
		n.t.Errorf("GLET-REG-8: the gardenlet says who it is, got %+v", status.Gardener)
	}
	if status.KubernetesVersion == nil || !strings.HasPrefix(*status.KubernetesVersion, "v") {
		n.t.Errorf("GLET-SEED-3: the version of the seed is told, got %v", status.KubernetesVersion)
	}
	if status.ObservedGeneration != seed.Generation || status.ClientCertificateExpirationTimestamp == nil {
		n.t.Errorf("GLET-SEED-3: generation and end of the certificate are told, got %+v", status)
	}
	want := corev1.ResourceList{"shoots": resource.MustParse("90")}
	if diff := cmp.Diff(want, status.Allocatable); diff != "" {
		n.t.Errorf("GLET-SEED-3: capacity less reserved can be allocated (-want +got):\n%s", diff)
	}
	if status.ClusterIdentity == nil || *status.ClusterIdentity != n.seed.ClusterIdentity {
		n.t.Errorf("GLET-SEED-4: the seed is known by the identity of its cluster, got %v, want %q", status.ClusterIdentity, n.seed.ClusterIdentity)
	}
	if status.LastOperation.Type != "Reconcile" || status.LastOperation.Progress != 100 {
		n.t.Errorf("GLET-SEED-2: the reconciliation is complete, got %+v", status.LastOperation)
	}
}

func checkCredentials(n *nursery, tokenID string) {
	n.t.Helper()
	n.seed.absent(secretIn("garden", "gardenlet-kubeconfig-bootstrap"), "GLET-BOOT-5: the bootstrap Secret is deleted")
	n.garden.absent(secretIn("kube-system", "bootstrap-token-"+tokenID), "GLET-BOOT-6: the token is deleted")
	secret := secretIn("garden", "gardenlet-kubeconfig")
	if err := n.seed.Client.Get(n.t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
		n.t.Fatal(err)
	}
	kubeconfig, err := clientcmd.Load(secret.Data["kubeconfig"])
	if err != nil {
		n.t.Fatal(err)
	}
	if kubeconfig.CurrentContext != "gardenlet" || kubeconfig.Clusters["gardenlet"] == nil || kubeconfig.AuthInfos["gardenlet"] == nil {
		n.t.Errorf("GLET-CSR-6: cluster, user and context are called gardenlet, got %v", kubeconfig)
	}
	requests := &certificatesv1.CertificateSigningRequestList{}
	if err := n.garden.Client.List(n.t.Context(), requests); err != nil {
		n.t.Fatal(err)
	}
	if len(requests.Items) != 1 || !strings.HasPrefix(requests.Items[0].Name, "seed-csr-") {
		n.t.Errorf("GLET-CSR-1: one request is made for one certificate, got %d", len(requests.Items))
	}
}

func checkSeedCluster(n *nursery) {
	n.t.Helper()
	definitions, err := crds.Objects()
	if err != nil {
		n.t.Fatal(err)
	}
	for _, definition := range definitions {
		if err := n.seed.Client.Get(n.t.Context(), client.ObjectKeyFromObject(definition), definition); err != nil {
			n.t.Errorf("GLET-SEED-6: the seed serves the extension contract: %v", err)
		}
	}
}

// TestGardenletComesBack kills a gardenlet at a bad moment and starts it again.
func TestGardenletComesBack(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	n.garden.provider("local")
	n.invite(n.token(time.Hour))
	config := n.config("one")
	first := n.run(config)
	n.readySeed()
	if err := first.stop(); err != nil {
		t.Fatalf("stop the gardenlet: %v", err)
	}

	project := n.garden.project("meadow")
	shoot, other := workerless(*project.Spec.Namespace, "sprout", "one"), workerless(*project.Spec.Namespace, "other", "one")
	n.garden.create(shoot, other)
	for s, state := range map[*gardencorev1beta1.Shoot]gardencorev1beta1.LastOperationState{shoot: "Processing", other: "Failed"} {
		n.garden.changeStatus(s, func() {
			s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: state, Progress: 40, Description: "half way", LastUpdateTime: metav1.Now()}
		})
	}
	registrar := registration.Registrar{Garden: n.garden.Client, Template: config.SeedConfig.SeedTemplate, ClusterIdentity: n.seed.ClusterIdentity, Clock: realClock()}
	aborted, err := registrar.AbortOperations(t.Context())
	if err != nil {
		t.Fatalf("AbortOperations(...): %v", err)
	}
	if diff := cmp.Diff([]string{client.ObjectKeyFromObject(shoot).String()}, aborted); diff != "" {
		t.Errorf("GLET-REG-5: only an operation that was under way is aborted (-want +got):\n%s", diff)
	}
	if err := n.garden.Client.Get(t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
		t.Fatal(err)
	}
	if last := shoot.Status.LastOperation; last.State != "Aborted" || last.Progress != 40 || last.Description != "half way" {
		t.Errorf("GLET-REG-5: only the state changes, got %+v", last)
	}
	for _, s := range []*gardencorev1beta1.Shoot{shoot, other} {
		n.garden.change(s, func() { s.Finalizers = nil })
		n.garden.confirm(s)
		n.garden.gone(s, "shoot without a finalizer")
	}

	before := n.readySeed().Status.Gardener.ID
	n.run(config)
	harness.Await(t, n.garden.Client, &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, "another process reports", func(s *gardencorev1beta1.Seed) error {
		return has(s.Status.Gardener.ID != before, "gardener %+v", s.Status.Gardener)
	})
	requests := &certificatesv1.CertificateSigningRequestList{}
	if err := n.garden.Client.List(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
	if len(requests.Items) != 1 {
		t.Errorf("GLET-BOOT-4: a stored certificate is used again, but %d requests were made", len(requests.Items))
	}
}

func TestGardenletRenewsCredentials(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	n.invite(n.token(time.Hour))
	n.run(n.config("one"))
	seed := n.readySeed()
	secret := secretIn("garden", "gardenlet-kubeconfig")
	if err := n.seed.Client.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
		t.Fatal(err)
	}
	before := string(secret.Data["kubeconfig"])

	n.garden.change(seed, func() { seed.Annotations = map[string]string{"gardener.cloud/operation": "renew-kubeconfig"} })
	harness.Await(t, n.seed.Client, secret, "GLET-ROT-3 and 7: the credentials are renewed on request", func(s *corev1.Secret) error {
		return has(string(s.Data["kubeconfig"]) != before && s.Annotations["gardener.cloud/operation"] == "", "annotations %v", s.Annotations)
	})
	renewed := time.Now()
	harness.Await(t, n.garden.Client, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-seed-lease", Name: "one"}},
		"the same process goes on with them", func(l *coordinationv1.Lease) error {
			return has(l.Spec.RenewTime.After(renewed), "renewed at %s", l.Spec.RenewTime)
		})
	if err := n.garden.Client.Get(t.Context(), client.ObjectKeyFromObject(seed), seed); err != nil {
		t.Fatal(err)
	}
	if operation := seed.Annotations["gardener.cloud/operation"]; operation != "" {
		t.Errorf("GLET-SEED-11: the annotation is removed when handled, got %q", operation)
	}
}

// TestGardenletRefuses looks at everything that keeps a gardenlet from starting.
//
//nolint:tparallel // one cluster can be only one seed at a time
func TestGardenletRefuses(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	cases := map[string]struct {
		reason  string
		prepare func(n *nursery)
		seed    string
		want    error
		text    string
	}{
		"UnknownToken": {
			reason:  "a token that the garden does not know",
			prepare: func(n *nursery) { n.invite(unknownToken(n)) },
			seed:    "unknown", want: gardenaccess.ErrUnauthorized,
		},
		"NameTaken": {
			reason: "a name that belongs to another cluster",
			prepare: func(n *nursery) {
				seed := n.garden.seed("taken", "local", "north")
				n.garden.changeStatus(seed, func() { seed.Status.ClusterIdentity = new("somebody-else") })
				n.invite(n.token(time.Hour, renewing("taken")))
			},
			seed: "taken", want: registration.ErrNameTaken, text: `"somebody-else"`,
		},
		"NotInvited": {
			reason: "a token that is not for this seed",
			prepare: func(n *nursery) {
				n.invite(n.token(time.Hour, renewing("another")))
			},
			seed: "one", want: gardenaccess.ErrDenied, text: `is for another seed: it is for "another"`,
		},
		"WrongNetworks": {
			reason: "networks that are not those of the cluster",
			prepare: func(n *nursery) {
				n.seed.create(&corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "shoot-info"},
					Data:       map[string]string{"podNetwork": "10.55.0.0/16", "serviceNetwork": "10.2.0.0/16"},
				})
			},
			seed: "networks", want: preflight.ErrNetworks, text: "10.55.0.0/16",
		},
	}
	for name, tc := range cases { //nolint:paralleltest // see above
		t.Run(name, func(t *testing.T) {
			n := &nursery{t: t, garden: n.garden.in(t), seed: n.seed.in(t)}
			t.Cleanup(func() { n.forget() })
			tc.prepare(n)
			err := n.fails(n.run(n.config(tc.seed)))
			if diff := cmp.Diff(tc.want, err, equateErrors()); diff != "" || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%s\ngot error %v, want %v with %q", tc.reason, err, tc.want, tc.text)
			}
		})
	}
}
