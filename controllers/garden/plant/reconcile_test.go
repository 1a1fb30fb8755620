// SPDX-License-Identifier: Apache-2.0

package plant_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/plant"
	"github.com/terrarium-garden/terrarium/controllers/guard"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const finalizer = "core.gardener.cloud/plant"

// garden is one in which plants are looked at by hand.
type garden struct {
	client.Client

	t          *testing.T
	reconciler *plant.Reconciler
}

func start(t *testing.T, c *cluster, objects ...client.Object) *garden {
	t.Helper()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	g := &garden{t: t}
	g.Client = plant.Indexed(fake.NewClientBuilder().WithScheme(kinds)).WithObjects(objects...).WithStatusSubresource(&gardencorev1beta1.Plant{}).Build()
	g.reconciler = &plant.Reconciler{
		Base:   kit.Base{Client: g.Client, Reader: g.Client, Clock: clocktesting.NewFakeClock(time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC))},
		Config: gardenconfigv1alpha1.ServerPlantControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: 30 * time.Second}},
		Guard:  guard.Guard{Allowed: c.address()}, Limits: brief(),
	}
	return g
}

func (g *garden) pass(name string) reconcile.Result {
	g.t.Helper()
	result, err := reconcile.AsReconciler(g.Client, g.reconciler).Reconcile(g.t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "garden-dev", Name: name}})
	if err != nil {
		g.t.Fatal(err)
	}
	return result
}

func (g *garden) plant(name string) *gardencorev1beta1.Plant {
	g.t.Helper()
	p := &gardencorev1beta1.Plant{}
	if err := g.Get(g.t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: name}, p); err != nil {
		g.t.Fatal(err)
	}
	return p
}

// held returns the finalizers of a Secret.
func (g *garden) held(name string) []string {
	g.t.Helper()
	s := &corev1.Secret{}
	if err := g.Get(g.t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: name}, s); err != nil {
		g.t.Fatal(err)
	}
	return s.Finalizers
}

func planted(name, secret string) *gardencorev1beta1.Plant {
	p := &gardencorev1beta1.Plant{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name, Generation: 1}}
	p.Spec.SecretRef.Name = secret
	return p
}

func holding(name string, kubeconfig []byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name}, Data: map[string][]byte{"kubeconfig": kubeconfig}}
}

// told is what the status says.
func told(p *gardencorev1beta1.Plant) map[string]string {
	all := map[string]string{}
	for _, c := range p.Status.Conditions {
		all[string(c.Type)] = string(c.Status) + " " + c.Reason + ": " + c.Message
	}
	if info := p.Status.ClusterInfo; info != nil {
		all["cluster"] = info.Kubernetes.Version + " " + info.Cloud.Type + " " + info.Cloud.Region
	}
	return all
}

func TestReport(t *testing.T) {
	t.Parallel()
	const (
		up       = "True HealthzRequestSucceeded: The API server answers its health check."
		complete = "True EveryNodeReady: Every node is ready."
	)
	for name, tc := range map[string]struct {
		reason string
		found  plant.Finding
		want   map[string]string
	}{
		"GCM-PLANT-3 well": {
			reason: "all is known", found: plant.Finding{Version: "v1", Cloud: "aws", Region: "eu"},
			want: map[string]string{"APIServerAvailable": up, "EveryNodeReady": complete, "cluster": "v1 aws eu"},
		},
		"GCM-PLANT-3 unknown": {
			reason: "nothing is known of a cluster without nodes", found: plant.Finding{},
			want: map[string]string{"APIServerAvailable": up, "EveryNodeReady": complete, "cluster": "<unknown> <unknown> <unknown>"},
		},
		"GCM-PLANT-3 node": {
			reason: "the bad node is named", found: plant.Finding{Version: "v1", Trouble: `node "a" is not ready`},
			want: map[string]string{"APIServerAvailable": up, "EveryNodeReady": `False NodeUnhealthy: Node "a" is not ready.`, "cluster": "v1 <unknown> <unknown>"},
		},
		"GCM-PLANT-3 unlisted": {
			reason: "nodes that cannot be read are neither ready nor not", found: plant.Finding{Version: "v1", Unlisted: "the nodes cannot be listed"},
			want: map[string]string{"APIServerAvailable": up, "EveryNodeReady": "Unknown ConditionCheckError: The nodes cannot be listed.", "cluster": "v1 <unknown> <unknown>"},
		},
		"GCM-PLANT-3 sick": {
			reason: "what is known of a cluster stays while it is away", found: plant.Finding{Down: "GET /healthz is answered with status 500", Answered: true, Unlisted: "the API server is not available"},
			want: map[string]string{
				"APIServerAvailable": "False HealthzRequestError: GET /healthz is answered with status 500.",
				"EveryNodeReady":     "Unknown ConditionCheckError: The API server is not available.", "cluster": strings.Repeat(" before", 3)[1:],
			},
		},
		"GCM-PLANT-3 away": {
			reason: "an answer is told from none", found: plant.Finding{Down: "the API server: it cannot be reached", Unlisted: "the API server is not available"},
			want: map[string]string{
				"APIServerAvailable": "False HealthzRequestFailed: The API server: it cannot be reached.",
				"EveryNodeReady":     "Unknown ConditionCheckError: The API server is not available.", "cluster": strings.Repeat(" before", 3)[1:],
			},
		},
		"GCM-PLANT-2 unusable": {
			reason: "what cannot be asked is not known", found: plant.Finding{Unusable: "the kubeconfig cannot be read"},
			want: map[string]string{
				"APIServerAvailable": "False APIServerDown: The kubeconfig cannot be read.",
				"EveryNodeReady":     "False APIServerDown: The kubeconfig cannot be read.",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planted("a", "access")
			p.Status.ClusterInfo = &gardencorev1beta1.ClusterInfo{
				Cloud: gardencorev1beta1.CloudInfo{Type: "before", Region: "before"}, Kubernetes: gardencorev1beta1.KubernetesInfo{Version: "before"},
			}
			plant.Report(&p.Status, tc.found, time.Now())
			if diff := cmp.Diff(tc.want, told(p)); diff != "" {
				t.Errorf("%s\nReport(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	c := grow(t)
	g := start(t, c, planted("a", "access"), holding("access", c.kubeconfig(t)))
	if diff := cmp.Diff(reconcile.Result{RequeueAfter: 30 * time.Second}, g.pass("a")); diff != "" {
		t.Errorf("GCM-PLANT-1: a plant is looked at again (-want +got):\n%s", diff)
	}
	want := map[string]string{
		"APIServerAvailable": "True HealthzRequestSucceeded: The API server answers its health check.",
		"EveryNodeReady":     "True EveryNodeReady: Every node is ready.", "cluster": "v1.36.3 cloud north",
	}
	found := g.plant("a")
	if diff := cmp.Diff(want, told(found)); diff != "" || *found.Status.ObservedGeneration != 1 {
		t.Errorf("GCM-PLANT-3: status of generation %d (-want +got):\n%s", *found.Status.ObservedGeneration, diff)
	}
	if diff := cmp.Diff([][]string{{finalizer}, {finalizer}}, [][]string{found.Finalizers, g.held("access")}); diff != "" {
		t.Errorf("GCM-PLANT-1: finalizers of plant and secret (-want +got):\n%s", diff)
	}

	before := found.ResourceVersion
	g.pass("a")
	if after := g.plant("a").ResourceVersion; after != before {
		t.Errorf("a look that finds the same writes nothing: version %s, then %s", before, after)
	}

	c.answer("/healthz", status(http.StatusServiceUnavailable))
	g.pass("a")
	if got := told(g.plant("a"))["APIServerAvailable"]; got != "False HealthzRequestError: GET /healthz is answered with status 503." {
		t.Errorf("GCM-PLANT-3: a change is noticed, got %q", got)
	}
}

// TestMissing looks at a Plant whose Secret does not exist.
func TestMissing(t *testing.T) {
	t.Parallel()
	g := start(t, grow(t), planted("a", "access"))
	g.pass("a")
	const none = `False APIServerDown: There is no Secret "access" in the namespace.`
	if diff := cmp.Diff(map[string]string{"APIServerAvailable": none, "EveryNodeReady": none}, told(g.plant("a"))); diff != "" {
		t.Errorf("GCM-PLANT-2: status (-want +got):\n%s", diff)
	}
	if err := g.Delete(t.Context(), g.plant("a")); err != nil {
		t.Fatal(err)
	}
	g.pass("a")
	if err := g.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a"}, planted("a", "")); !apierrors.IsNotFound(err) {
		t.Errorf("GCM-PLANT-4: the plant goes all the same, reading it gives %v", err)
	}
}

// TestSecretOfTwo shares a Secret between two Plants, which can happen if both are made at the same moment.
func TestSecretOfTwo(t *testing.T) {
	t.Parallel()
	c := grow(t)
	g := start(t, c, planted("a", "access"), planted("b", "access"), holding("access", c.kubeconfig(t)), holding("other", c.kubeconfig(t)))
	g.pass("a")
	g.pass("b")
	remove := func(name string) {
		t.Helper()
		if err := g.Delete(t.Context(), g.plant(name)); err != nil {
			t.Fatal(err)
		}
		g.pass(name)
	}
	remove("a")
	if diff := cmp.Diff([]string{finalizer}, g.held("access")); diff != "" {
		t.Errorf("GCM-PLANT-4: the secret is held for the other plant (-want +got):\n%s", diff)
	}
	b := g.plant("b")
	b.Spec.SecretRef.Name = "other"
	if err := g.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	g.pass("b")
	if diff := cmp.Diff([][]string{nil, {finalizer}}, [][]string{g.held("access"), g.held("other")}); diff != "" {
		t.Errorf("GCM-PLANT-4: a secret that no plant uses any more is released (-want +got):\n%s", diff)
	}
	asked := c.asked.Load()
	remove("b")
	if now := c.asked.Load(); now != asked {
		t.Errorf("GCM-PLANT-4: nobody looks at the cluster of a plant that goes, %d requests", now-asked)
	}
	if got := g.held("other"); len(got) > 0 {
		t.Errorf("GCM-PLANT-4: the last plant releases its secret, finalizers %v", got)
	}
}

// TestBlocked looks for clusters in the networks of a seed.
func TestBlocked(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]func(*gardencorev1beta1.SeedNetworks, string){
		"nodes":    func(n *gardencorev1beta1.SeedNetworks, network string) { n.Nodes = &network },
		"pods":     func(n *gardencorev1beta1.SeedNetworks, network string) { n.Pods = network },
		"services": func(n *gardencorev1beta1.SeedNetworks, network string) { n.Services = network },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := grow(t)
			seed, greedy := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "soil"}}, &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "weed"}}
			in(&seed.Spec.Networks, "198.51.100.0/24")
			in(&greedy.Spec.Networks, "0.0.0.0/0")
			raw := strings.ReplaceAll(string(c.kubeconfig(t)), c.address().String(), "198.51.100.7:443")
			g := start(t, c, seed, greedy, planted("a", "access"), holding("access", []byte(raw)))
			networks, err := g.reconciler.SeedNetworks(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"198.51.100.0/24"}, texts(networks)); diff != "" {
				t.Errorf("a seed does not take all networks (-want +got):\n%s", diff)
			}
			g.pass("a")
			if got := told(g.plant("a"))["APIServerAvailable"]; got != "False APIServerDown: The server in the kubeconfig: the address is not allowed." {
				t.Errorf("the %s of a seed are not for plants, got %q", name, got)
			}
		})
	}
}

func texts(networks []netip.Prefix) (all []string) {
	for _, network := range networks {
		all = append(all, network.String())
	}
	return all
}

// TestPlausible tells which networks of seeds are ignored, because they would keep the Plants of others from their clusters.
func TestPlausible(t *testing.T) {
	t.Parallel()
	for network, want := range map[string]bool{
		"10.0.0.0/8": true, "172.16.0.0/12": true, "192.168.0.0/16": true, "100.64.0.0/10": true, "100.96.0.0/11": true, "10.1.2.0/24": true,
		"203.0.113.0/24": true, "30.0.0.0/8": true, "2001:db8::/32": true, "2001:db8:1::/56": true, "fd00::/8": true, "fc00::/7": true,
		"128.0.0.0/1": false, "0.0.0.0/0": false, "0.0.0.0/1": false, "52.0.0.0/7": false, "8.0.0.0/6": false,
		"::/0": false, "2000::/3": false, "2001:db8::/31": false, "fc00::/6": false, "::ffff:0:0/96": false,
	} {
		if got := plant.Plausible(netip.MustParsePrefix(network)); got != want {
			t.Errorf("Plausible(%s) = %v, want %v", network, got, want)
		}
	}
}

// TestInterruptedLook ends the process while a cluster is looked at.
func TestInterruptedLook(t *testing.T) {
	t.Parallel()
	c := grow(t)
	ctx, end := context.WithCancel(t.Context())
	c.answer("/healthz", func(_ http.ResponseWriter, r *http.Request) {
		end()
		<-r.Context().Done()
	})
	g := start(t, c, planted("a", "access"), holding("access", c.kubeconfig(t)))
	if _, err := g.reconciler.Reconcile(ctx, g.plant("a")); !errors.Is(err, context.Canceled) {
		t.Errorf("Reconcile(...) = %v", err)
	}
	if found := told(g.plant("a")); len(found) > 0 {
		t.Errorf("a look that was interrupted tells nothing, got %v", found)
	}
}
