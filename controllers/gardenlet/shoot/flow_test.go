// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func withWorkers(s *gardencorev1beta1.Shoot) {
	s.Spec.Provider = gardencorev1beta1.Provider{Type: "local", Workers: []gardencorev1beta1.Worker{{Name: "small", Minimum: 1, Maximum: 1}}}
}

// scaled has a pool that may grow.
func scaled(s *gardencorev1beta1.Shoot) {
	withWorkers(s)
	s.Spec.Provider.Workers[0].Maximum = 3
}

// inCloud has machines that an extension does not act on itself.
func inCloud(s *gardencorev1beta1.Shoot) {
	withWorkers(s)
	s.Spec.Provider.Type = "cloud"
}

// added has the add-ons.
func added(s *gardencorev1beta1.Shoot) {
	withWorkers(s)
	s.Spec.Addons = &gardencorev1beta1.Addons{
		KubernetesDashboard: &gardencorev1beta1.KubernetesDashboard{Addon: gardencorev1beta1.Addon{Enabled: true}},
		NginxIngress:        &gardencorev1beta1.NginxIngress{Addon: gardencorev1beta1.Addon{Enabled: true}},
	}
}

// sized has something that sizes its pods.
func sized(s *gardencorev1beta1.Shoot) {
	withWorkers(s)
	s.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: true}
}

// extended has an extension for each point of an operation.
func extended(s *gardencorev1beta1.Shoot) {
	s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "before"}, {Type: "after"}, {Type: "last"}}
}

// hasty does not wait until things are ready.
func hasty(s *gardencorev1beta1.Shoot) {
	s.Annotations = map[string]string{"shoot.gardener.cloud/skip-readiness": "true"}
}

func leaving(s *gardencorev1beta1.Shoot) {
	s.DeletionTimestamp = &metav1.Time{Time: now()}
}

// rotates sets the phase of rotations in two steps.
func rotates(phase gardencorev1beta1.CredentialsRotationPhase, what ...string) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) {
		r := &gardencorev1beta1.ShootCredentialsRotation{}
		at := new(metav1.NewTime(now()))
		for _, one := range what {
			switch one {
			case "ca":
				r.CertificateAuthorities = &gardencorev1beta1.CARotation{Phase: phase, LastInitiationTime: at}
			case "accounts":
				r.ServiceAccountKey = &gardencorev1beta1.ServiceAccountKeyRotation{Phase: phase, LastInitiationTime: at}
			case "encryption":
				r.ETCDEncryptionKey = &gardencorev1beta1.ETCDEncryptionKeyRotation{Phase: phase, LastInitiationTime: at}
			}
		}
		s.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: r}
	}
}

func TestReconcileGraph_GLET_RECON_1(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		shoot *gardencorev1beta1.Shoot
		hosts facts.Hosts
		power facts.Power
	}{
		"reconcile.dot": {shoot: running(withWorkers), hosts: facts.Hosts{Internal: "api.a.dev.internal.terrarium.local"}},
		"hibernate.dot": {
			shoot: running(withWorkers, asleep), hosts: facts.Hosts{Internal: "api.a.dev.internal.terrarium.local"}, power: facts.FallingAsleep,
		},
		"asleep.dot":                {shoot: running(withWorkers, asleep), hosts: facts.Hosts{Internal: "api.a.dev.internal.terrarium.local"}, power: facts.Asleep},
		"autoscaled.dot":            {shoot: running(scaled)},
		"autoscaled-hibernate.dot":  {shoot: running(scaled, asleep), power: facts.FallingAsleep},
		"cloud.dot":                 {shoot: running(inCloud)},
		"cloud-hibernate.dot":       {shoot: running(inCloud, asleep), power: facts.FallingAsleep},
		"sized.dot":                 {shoot: running(sized)},
		"sized-hibernate.dot":       {shoot: running(sized, asleep), power: facts.FallingAsleep},
		"hibernate-workerless.dot":  {shoot: running(asleep), power: facts.FallingAsleep},
		"reconcile-workerless.dot":  {shoot: running()},
		"addons.dot":                {shoot: running(added), hosts: facts.Hosts{External: "api.a.example.com"}},
		"addons-unmanaged.dot":      {shoot: running(added)},
		"addons-hibernate.dot":      {shoot: running(added, asleep), hosts: facts.Hosts{External: "api.a.example.com"}, power: facts.FallingAsleep},
		"extensions.dot":            {shoot: running(withWorkers, extended)},
		"extensions-hibernate.dot":  {shoot: running(withWorkers, extended, asleep), power: facts.FallingAsleep},
		"extensions-workerless.dot": {shoot: running(extended)},
		"hasty.dot":                 {shoot: running(withWorkers, extended, hasty)},
		"rotate-ca.dot":             {shoot: running(withWorkers, rotates("Preparing", "ca"))},
		"rotate-accounts.dot":       {shoot: running(withWorkers, rotates("PreparingWithoutWorkersRollout", "accounts"))},
		"rotate-encryption.dot":     {shoot: running(withWorkers, rotates("Preparing", "encryption"))},
		"rotate-all.dot":            {shoot: running(withWorkers, rotates("Preparing", "ca", "accounts", "encryption"))},
		"rotate-wait.dot":           {shoot: running(withWorkers, rotates("WaitingForWorkersRollout", "ca", "accounts"))},
		"rotate-complete.dot":       {shoot: running(withWorkers, rotates("Completing", "ca", "accounts", "encryption"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, err := shoot.ReconcileGraph(t.Context(), tc.shoot, tc.hosts, tc.power)
			if err != nil {
				t.Fatal(err)
			}
			golden.Text(t, name, g.DOT())
		})
	}
}

// TestWaitsAreKnown is about tasks that get other names.
func TestWaitsAreKnown(t *testing.T) {
	t.Parallel()
	g, err := shoot.ReconcileGraph(t.Context(), running(withWorkers, extended, hasty), facts.Hosts{}, facts.Awake)
	if err != nil {
		t.Fatal(err)
	}
	drawn := g.DOT()
	for _, id := range shoot.Waits() {
		if !strings.Contains(drawn, fmt.Sprintf("\n  %q [", id)) {
			t.Errorf("there is no task %q", id)
		}
	}
}

// TestHasteHasItsTime_GLET_RECON_5 is about operations that wait although they are asked not to.
func TestHasteHasItsTime_GLET_RECON_5(t *testing.T) {
	t.Parallel()
	drawn := func(power facts.Power, changes ...func(*gardencorev1beta1.Shoot)) string {
		g, err := shoot.ReconcileGraph(t.Context(), running(append(changes, withWorkers)...), facts.Hosts{}, power)
		if err != nil {
			t.Fatal(err)
		}
		return g.DOT()
	}
	if drawn(facts.Awake, hasty) == drawn(facts.Awake) {
		t.Error("a shoot that is asked not to wait waits")
	}
	if diff := cmp.Diff(drawn(facts.FallingAsleep, asleep), drawn(facts.FallingAsleep, asleep, hasty)); diff != "" {
		t.Errorf("a shoot falls asleep only when nothing runs any more: tasks (-want +got):\n%s", diff)
	}
	for _, kind := range []string{"ca", "accounts", "encryption"} {
		for _, phase := range []gardencorev1beta1.CredentialsRotationPhase{"Preparing", "PreparingWithoutWorkersRollout", "WaitingForWorkersRollout", "Completing"} {
			if diff := cmp.Diff(drawn(facts.Awake, rotates(phase, kind)), drawn(facts.Awake, rotates(phase, kind), hasty)); diff != "" {
				t.Errorf("rotation of %s, phase %s: the next step waits for this one: tasks (-want +got):\n%s", kind, phase, diff)
			}
		}
		if drawn(facts.Awake, rotates("Prepared", kind), hasty) == drawn(facts.Awake, rotates("Prepared", kind)) {
			t.Errorf("rotation of %s: a shoot waits while nothing is under way", kind)
		}
	}
}

func TestDeleteGraph_GLET_DEL_2(t *testing.T) {
	t.Parallel()
	everything := shoot.Found{Namespace: true, APIServer: true, Available: true, Infrastructure: true, ControlPlane: true, Network: true, Worker: true}
	sleeping := everything
	sleeping.Asleep, sleeping.Available = true, false
	half := shoot.Found{Namespace: true, APIServer: true, Infrastructure: true}
	cases := map[string]struct {
		shoot *gardencorev1beta1.Shoot
		found shoot.Found
	}{
		"delete.dot":                   {shoot: running(withWorkers, leaving), found: everything},
		"delete-cloud.dot":             {shoot: running(inCloud, leaving), found: everything},
		"delete-asleep.dot":            {shoot: running(withWorkers, asleep, leaving), found: sleeping},
		"delete-workerless.dot":        {shoot: running(leaving), found: shoot.Found{Namespace: true, APIServer: true, Available: true}},
		"delete-never-served.dot":      {shoot: running(withWorkers, leaving), found: half},
		"delete-namespace-goes.dot":    {shoot: running(withWorkers, leaving), found: shoot.Found{Home: true, APIServer: true, Infrastructure: true, Worker: true}},
		"delete-namespace-is-gone.dot": {shoot: running(withWorkers, leaving)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, err := shoot.DeleteGraph(tc.shoot, tc.found)
			if err != nil {
				t.Fatal(err)
			}
			golden.Text(t, name, g.DOT())
		})
	}
}

// TestNamespaceGoesLast_GLET_DEL_2 looks for tasks that would delete something in a namespace that is going already. What may go beside it is in the
// garden.
func TestNamespaceGoesLast_GLET_DEL_2(t *testing.T) {
	t.Parallel()
	everything := shoot.Found{Namespace: true, APIServer: true, Available: true, Infrastructure: true, ControlPlane: true, Network: true, Worker: true}
	beside := []string{"garden-credentials-delete", "namespace-delete", "namespace-delete-wait", "shootstate-delete"}
	for name, s := range map[string]*gardencorev1beta1.Shoot{
		"workerless": running(leaving), "workers": running(withWorkers, leaving), "cloud": running(inCloud, leaving),
		"add-ons": running(withWorkers, added, leaving), "extensions": running(withWorkers, extended, leaving), "sized": running(withWorkers, sized, leaving),
	} {
		g, err := shoot.DeleteGraph(s, everything)
		if err != nil {
			t.Fatal(err)
		}
		drawn := g.DOT()
		leads := reachable(drawn)
		for line := range strings.Lines(drawn) {
			id, isTask := strings.CutPrefix(line, `  "`)
			id, _, _ = strings.Cut(id, `"`)
			deletes := strings.HasSuffix(id, "-delete") || strings.HasSuffix(id, "-delete-wait")
			if isTask && deletes && !slices.Contains(beside, id) && !leads(id, "namespace-delete") {
				t.Errorf("%s: the namespace does not wait for task %q", name, id)
			}
		}
	}
}

// TestDeletionOrder: extensions rely on what is deleted after them. What is asked to go has gone before the next one is asked.
func TestDeletionOrder_EXT_DEL_3(t *testing.T) {
	t.Parallel()
	everything := shoot.Found{Namespace: true, APIServer: true, Available: true, Infrastructure: true, ControlPlane: true, Network: true, Worker: true}
	g, err := shoot.DeleteGraph(running(inCloud, leaving), everything)
	if err != nil {
		t.Fatal(err)
	}
	leads := reachable(g.DOT())
	for _, order := range [][]string{
		{"clean-webhooks", "clean-extended-apis", "clean-kubernetes-resources", "clean-namespaces"},
		// A webhook that nobody answers for refuses whatever the gardenlet would write in the shoot.
		{"clean-webhooks", "resource-manager-access", "controlplane"},
		{"controlplane-wait", "clean-kubernetes-resources"},
		// The controllers of the cloud delete the load balancer of the ingress controller, and no name leads to it then.
		{"dns-ingress-delete", "addons-delete", "clean-kubernetes-resources"},
		{"controlplane-wait", "addons-delete"},
		// A namespace does not go while an extended API does not answer, and the dashboard has its own.
		{"clean-extended-apis", "addons-delete"},
		{"clean-namespaces", "worker-delete", "worker-delete-wait", "osc-delete", "osc-delete-wait", "ext-before-api-delete", "ext-before-api-delete-wait", "controlplane-delete"},
		// Machines do not go without their controller, and it has to be the last that knows of them.
		{"machine-controller-manager-wait", "worker-delete", "worker-delete-wait", "machine-controller-manager-delete", "shoot-resources-delete", "apiserver-delete"},
		{"clean-namespaces", "network-delete", "network-delete-wait", "controlplane-delete"},
		{"clean-namespaces", "runtimes-delete", "runtimes-delete-wait", "controlplane-delete"},
		{"controlplane-delete", "controlplane-delete-wait", "shoot-resources-delete", "apiserver-delete"},
		{"controlplane-delete-wait", "infrastructure-delete", "infrastructure-delete-wait", "etcd-main-delete"},
		{"apiserver-delete", "ext-after-api-delete", "ext-after-api-delete-wait", "etcd-main-delete"},
		{"apiserver-delete", "dns-delete", "etcd-main-delete", "namespace-delete", "namespace-delete-wait"},
	} {
		for i := range order[1:] {
			if !leads(order[i], order[i+1]) {
				t.Errorf("task %q does not wait for %q", order[i+1], order[i])
			}
		}
	}
}

// reachable tells of a drawn graph whether a task waits for another one, directly or not.
func reachable(drawn string) (leads func(from, to string) bool) {
	next := map[string][]string{}
	for line := range strings.Lines(drawn) {
		if from, to, found := strings.Cut(line, " -> "); found {
			to, _, _ = strings.Cut(to, " [")
			from, to = strings.Trim(strings.TrimSpace(from), `"`), strings.Trim(strings.TrimSpace(to), `"`)
			next[from] = append(next[from], to)
		}
	}
	leads = func(from, to string) bool {
		return from == to || slices.ContainsFunc(next[from], func(n string) bool { return leads(n, to) })
	}
	return leads
}
