// SPDX-License-Identifier: Apache-2.0

package bastion_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/bastion"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	userKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGV0GCoCMBjsCFUFhMmzGmLMzCC5aGAdFCiGLaHO2KIC"
	plane   = "shoot--dev--sprout"
)

// landscape is a garden with a shoot and a Bastion for it, and the seed of the shoot, in which the test plays the extension.
type landscape struct {
	*bastion.Reconciler

	clock *clocktesting.FakeClock
}

func newLandscape(t *testing.T, changes ...func(*gardencorev1beta1.Shoot, *gardenoperationsv1alpha1.Bastion)) *landscape {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "sprout"}}
	shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "a"}}
	shoot.Status.TechnicalID = plane
	b := &gardenoperationsv1alpha1.Bastion{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "door", Generation: 1}}
	b.Spec.ShootRef.Name, b.Spec.SeedName, b.Spec.ProviderType, b.Spec.SSHPublicKey = "sprout", new("north"), new("local"), userKey+" me"
	b.Spec.Ingress = []gardenoperationsv1alpha1.BastionIngressPolicy{{}}
	b.Spec.Ingress[0].IPBlock.CIDR = "192.0.2.0/24"
	for _, change := range changes {
		change(shoot, b)
	}
	garden := fake.NewClientBuilder().WithScheme(types).WithObjects(shoot, b).WithStatusSubresource(shoot, b).Build()
	seed := fake.NewClientBuilder().WithScheme(types).WithStatusSubresource(&gardenextensionsv1alpha1.Bastion{}).Build()
	l := &landscape{clock: clocktesting.NewFakeClock(time.Unix(1000, 0))}
	l.Reconciler = &bastion.Reconciler{SeedBase: kit.SeedBase{
		GardenClient: garden, GardenReader: garden, SeedClient: seed, Clock: l.clock, SeedName: "north",
	}}
	return l
}

func (l *landscape) pass(t *testing.T) (reconcile.Result, error) {
	t.Helper()
	return l.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "garden-dev", Name: "door"}})
}

func (l *landscape) must(t *testing.T) reconcile.Result {
	t.Helper()
	result, err := l.pass(t)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (l *landscape) bastion(t *testing.T) *gardenoperationsv1alpha1.Bastion {
	t.Helper()
	b := &gardenoperationsv1alpha1.Bastion{}
	if err := l.GardenClient.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "door"}, b); err != nil {
		t.Fatal(err)
	}
	return b
}

// condition is the only condition of the Bastion, in short.
func (l *landscape) condition(t *testing.T) string {
	t.Helper()
	var all []string
	for _, c := range l.bastion(t).Status.Conditions {
		all = append(all, string(c.Type)+" "+string(c.Status)+" "+c.Reason+": "+c.Message)
	}
	return strings.Join(all, "\n")
}

func (l *landscape) host(t *testing.T) *gardenextensionsv1alpha1.Bastion {
	t.Helper()
	host := &gardenextensionsv1alpha1.Bastion{}
	if err := l.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: plane, Name: "door"}, host); err != nil {
		t.Fatal(err)
	}
	return host
}

// answer plays the extension.
func (l *landscape) answer(t *testing.T, state gardencorev1beta1.LastOperationState, change func(*gardenextensionsv1alpha1.BastionStatus)) {
	t.Helper()
	host := l.host(t)
	delete(host.Annotations, "gardener.cloud/operation")
	if err := l.SeedClient.Update(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	host.Status.ObservedGeneration = host.Generation
	host.Status.LastOperation = &gardencorev1beta1.LastOperation{State: state, LastUpdateTime: metav1.NewTime(l.clock.Now())}
	change(&host.Status)
	if err := l.SeedClient.Status().Update(t.Context(), host); err != nil {
		t.Fatal(err)
	}
}

func works(s *gardenextensionsv1alpha1.BastionStatus) {
	s.LastError = nil
	s.Ingress = &corev1.LoadBalancerIngress{IP: "10.0.0.7"}
	s.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"hostKeys":["` + userKey + ` root@host","nonsense"]}`)}
}

func TestLife_GLET_BASTION_1_2_4(t *testing.T) {
	t.Parallel()
	l := newLandscape(t)
	l.must(t)
	if got := l.bastion(t).Finalizers; len(got) != 1 || got[0] != "gardener" {
		t.Errorf("finalizers %v, want gardener", got)
	}
	host := l.host(t)
	if host.Spec.Type != "local" || len(host.Spec.Ingress) != 1 || host.Spec.Ingress[0].IPBlock.CIDR != "192.0.2.0/24" {
		t.Errorf("the extension is asked for %+v", host.Spec)
	}
	if data := string(host.Spec.UserData); !strings.Contains(data, "\n"+userKey+"\n") || !strings.Contains(data, "useradd") || !strings.Contains(data, "NOPASSWD") ||
		!strings.Contains(data, "systemctl enable --now") {
		t.Errorf("user data:\n%s", data)
	}
	if got := l.condition(t); got != "" {
		t.Errorf("nothing is known yet, but the condition is %s", got)
	}

	l.answer(t, "Succeeded", works)
	l.must(t)
	want := "BastionReady True SuccessfullyReconciled: The bastion has been reconciled; its host keys are " + userKey
	if diff := cmp.Diff(want, l.condition(t)); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
	if s := l.bastion(t).Status; s.Ingress == nil || s.Ingress.IP != "10.0.0.7" || s.ObservedGeneration == nil || *s.ObservedGeneration != 1 {
		t.Errorf("status %+v", s)
	}
	version := l.host(t).ResourceVersion
	l.must(t)
	if l.host(t).ResourceVersion != version {
		t.Error("an extension that has done its work is asked again in every pass")
	}

	if err := l.GardenClient.Delete(t.Context(), l.bastion(t)); err != nil {
		t.Fatal(err)
	}
	host = l.host(t)
	host.Finalizers = []string{"extension"}
	if err := l.SeedClient.Update(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	if got := l.must(t).RequeueAfter; got != 5*time.Second {
		t.Errorf("the next look is after %s, want 5s", got)
	}
	if diff := cmp.Diff("BastionReady False DeletionInProgress: The host of the bastion is being deleted", l.condition(t)); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
	host = l.host(t)
	if host.DeletionTimestamp == nil || host.Annotations["confirmation.gardener.cloud/deletion"] != "true" {
		t.Errorf("the deletion of the host is not confirmed: %+v", host.ObjectMeta)
	}
	host.Finalizers = nil
	if err := l.SeedClient.Update(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	l.must(t)
	if err := l.GardenClient.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "door"}, &gardenoperationsv1alpha1.Bastion{}); !apierrors.IsNotFound(err) {
		t.Errorf("the host is gone and the Bastion is not: %v", err)
	}
}

func TestFailure_GLET_BASTION_2(t *testing.T) {
	t.Parallel()
	l := newLandscape(t)
	l.must(t)
	l.answer(t, "Error", func(s *gardenextensionsv1alpha1.BastionStatus) {
		s.LastError = &gardencorev1beta1.LastError{Description: "no machines left"}
	})
	l.must(t)
	if diff := cmp.Diff(`BastionReady False FailedReconciling: extension "local" reports: no machines left`, l.condition(t)); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
	l.answer(t, "Succeeded", works)
	l.must(t)
	if got := l.condition(t); !strings.HasPrefix(got, "BastionReady True ") {
		t.Errorf("the extension has recovered, but the condition is %s", got)
	}
}

func TestSilentExtension_GLET_BASTION_2(t *testing.T) {
	t.Parallel()
	l := newLandscape(t)
	l.must(t)
	l.clock.Step(6 * time.Minute)
	l.must(t)
	if got := l.condition(t); !strings.Contains(got, "False FailedReconciling") || !strings.Contains(got, "not picked up") {
		t.Errorf("nobody has acted for 6 minutes, but the condition is %s", got)
	}
}

func TestChange_GLET_BASTION_1(t *testing.T) {
	t.Parallel()
	l := newLandscape(t)
	l.must(t)
	l.answer(t, "Succeeded", works)
	l.must(t)
	b := l.bastion(t)
	b.Generation, b.Spec.Ingress[0].IPBlock.CIDR = 2, "198.51.100.0/24"
	if err := l.GardenClient.Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	l.must(t)
	host := l.host(t)
	if host.Spec.Ingress[0].IPBlock.CIDR != "198.51.100.0/24" || host.Annotations["gardener.cloud/operation"] != "reconcile" {
		t.Errorf("the extension is not asked for the change: %+v", host)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*gardencorev1beta1.Shoot, *gardenoperationsv1alpha1.Bastion)
		want   string
	}{
		"GLET-BASTION-5": {
			reason: "the owner of the shoot has closed its machines", want: "cannot be reached by SSH",
			change: func(s *gardencorev1beta1.Shoot, _ *gardenoperationsv1alpha1.Bastion) {
				s.Spec.Provider.WorkersSettings = &gardencorev1beta1.WorkersSettings{SSHAccess: &gardencorev1beta1.SSHAccess{}}
			},
		},
		"Young": {
			reason: "there is no namespace for the host", want: "does not exist yet",
			change: func(s *gardencorev1beta1.Shoot, _ *gardenoperationsv1alpha1.Bastion) { s.Status.TechnicalID = "" },
		},
		"GLET-BASTION-3": {
			reason: "nobody could log in", want: "spec.sshPublicKey: ",
			change: func(_ *gardencorev1beta1.Shoot, b *gardenoperationsv1alpha1.Bastion) { b.Spec.SSHPublicKey = "x" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, tc.change)
			_, _ = l.pass(t)
			if got := l.condition(t); !strings.Contains(got, "False FailedReconciling") || !strings.Contains(got, tc.want) {
				t.Errorf("%s\ncondition %s, want %q", tc.reason, got, tc.want)
			}
			list := &gardenextensionsv1alpha1.BastionList{}
			if err := l.SeedClient.List(t.Context(), list); err != nil || len(list.Items) > 0 {
				t.Errorf("%s\nthere are %d hosts: %v", tc.reason, len(list.Items), err)
			}
		})
	}
}

func TestLeftAlone_GLET_BASTION_1(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, func(_ *gardencorev1beta1.Shoot, b *gardenoperationsv1alpha1.Bastion) { b.Spec.SeedName = new("south") })
	l.must(t)
	if b := l.bastion(t); len(b.Finalizers) > 0 || len(b.Status.Conditions) > 0 {
		t.Errorf("a Bastion of another seed is touched: %+v", b)
	}
}

// TestForce_GLET_BASTION_6 deletes the Bastion of a shoot that is deleted by force.
func TestForce_GLET_BASTION_6(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, func(s *gardencorev1beta1.Shoot, _ *gardenoperationsv1alpha1.Bastion) {
		s.Finalizers, s.Annotations = []string{"gardener"}, map[string]string{"confirmation.gardener.cloud/force-deletion": "true"}
	})
	l.must(t)
	host := l.host(t)
	host.Finalizers = []string{"extension"}
	if err := l.SeedClient.Update(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "sprout"}}
	for _, object := range []client.Object{shoot, l.bastion(t)} {
		if err := l.GardenClient.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	l.must(t)
	for what, object := range map[string]client.Object{"Bastion": l.bastion(t), "object of the extension": l.host(t)} {
		if object.GetAnnotations()["confirmation.gardener.cloud/force-deletion"] != "true" || object.GetDeletionTimestamp() == nil {
			t.Errorf("the %s does not learn that it is deleted by force: %v", what, object.GetAnnotations())
		}
	}
}

// TestShootIsGone_GLET_BASTION_4 lets a Bastion go whose host went with the namespace of the shoot.
func TestShootIsGone_GLET_BASTION_4(t *testing.T) {
	t.Parallel()
	l := newLandscape(t)
	l.must(t)
	for _, object := range []client.Object{&gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "sprout"}}, l.bastion(t)} {
		if err := l.GardenClient.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	l.must(t)
	err := l.GardenClient.Get(context.WithoutCancel(t.Context()), client.ObjectKey{Namespace: "garden-dev", Name: "door"}, &gardenoperationsv1alpha1.Bastion{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the Bastion stays: %v", err)
	}
}

// TestEndlessError_GLET_BASTION_2: an extension that says more than anybody reads does not make the status of the Bastion one that cannot be
// written.
func TestEndlessError_GLET_BASTION_2(t *testing.T) {
	t.Parallel()
	l := newLandscape(t)
	l.must(t)
	l.answer(t, "Error", func(s *gardenextensionsv1alpha1.BastionStatus) {
		s.LastError = &gardencorev1beta1.LastError{Description: strings.Repeat("no quota ", 1<<18)}
	})
	l.must(t)
	if said := l.condition(t); !strings.HasPrefix(said, "BastionReady False FailedReconciling: ") || !strings.Contains(said, "no quota") || len(said) > 5000 {
		t.Errorf("condition of %d bytes: %.100s", len(said), said)
	}
}
