// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// offers registers extensions that act at different points, one of them for every shoot.
func offers() *gardencorev1beta1.ControllerRegistration {
	r := &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "offers"}}
	add := func(name string, change func(*gardencorev1beta1.ControllerResource)) {
		resource := gardencorev1beta1.ControllerResource{Kind: "Extension", Type: name, Lifecycle: &gardencorev1beta1.ControllerResourceLifecycle{}}
		change(&resource)
		r.Spec.Resources = append(r.Spec.Resources, resource)
	}
	add("always", func(r *gardencorev1beta1.ControllerResource) { r.GloballyEnabled = new(true) })
	add("first", func(r *gardencorev1beta1.ControllerResource) {
		r.WorkerlessSupported = new(true)
		r.Lifecycle.Reconcile = new(gardencorev1beta1.ControllerResourceLifecycleStrategyBeforeKubeAPIServer)
		r.Lifecycle.Delete = new(gardencorev1beta1.ControllerResourceLifecycleStrategyAfterKubeAPIServer)
	})
	add("last", func(r *gardencorev1beta1.ControllerResource) {
		r.Lifecycle.Reconcile = new(gardencorev1beta1.ControllerResourceLifecycleStrategyAfterWorker)
	})

	return r
}

// addOnsOf lists the objects of kind Extension of the shoot in the seed.
func (l *landscape) addOnsOf(t *testing.T) map[string]gardenextensionsv1alpha1.Extension {
	t.Helper()
	list, all := &gardenextensionsv1alpha1.ExtensionList{}, map[string]gardenextensionsv1alpha1.Extension{}
	if err := l.SeedClient.List(t.Context(), list, client.InNamespace("shoot--dev--a")); err != nil {
		t.Fatal(err)
	}
	for _, one := range list.Items {
		all[one.Name] = one
	}

	return all
}

func namesOf[T any](all map[string]T) []string {
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestAddOns follows the extensions of kind Extension through the life of a shoot.
func TestAddOns(t *testing.T) {
	t.Parallel()
	b := newBedroom(t, func(s *gardencorev1beta1.Shoot) {
		s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "first", ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"a":"b"}`)}}, {Type: "last"}}
	})
	b.give(t, b.GardenClient, offers())
	b.give(t, b.inside, machineNode())
	b.run(t)
	all := b.addOnsOf(t)
	if diff := cmp.Diff([]string{"always", "first", "last"}, namesOf(all)); diff != "" {
		t.Fatalf("EXT-EXT-1, EXT-EXT-2: an object for each type (-want +got):\n%s", diff)
	}
	want := gardenextensionsv1alpha1.ExtensionSpec{DefaultSpec: gardenextensionsv1alpha1.DefaultSpec{
		Type: "first", Class: new(gardenextensionsv1alpha1.ExtensionClassShoot), ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"a":"b"}`)},
	}}
	if diff := cmp.Diff(want, all["first"].Spec); diff != "" {
		t.Errorf("EXT-EXT-1, EXT-CLASS-2: its spec (-want +got):\n%s", diff)
	}
	for name, one := range all {
		if got := one.Annotations["gardener.cloud/operation"]; got != "reconcile" {
			t.Errorf("EXT-AGENT-1: extension %q is asked to act, operation = %q", name, got)
		}
	}

	b.shoot.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "always", Disabled: new(true)}, {Type: "first"}}
	b.run(t)
	all = b.addOnsOf(t)
	if diff := cmp.Diff([]string{"first"}, namesOf(all)); diff != "" {
		t.Errorf("EXT-EXT-2, EXT-AGENT-6: what the shoot does not want any more (-want +got):\n%s", diff)
	}
	if all["first"].Spec.ProviderConfig != nil {
		t.Error("a configuration that was taken back is still there")
	}

	b.shoot.Spec.Extensions = nil
	if err := b.inside.Delete(t.Context(), machineNode()); err != nil {
		t.Fatal(err)
	}
	b.sleep(t, true)
	if diff := cmp.Diff([]string{"always"}, namesOf(b.addOnsOf(t))); diff != "" {
		t.Errorf("EXT-EXT-3: a shoot that sleeps (-want +got):\n%s", diff)
	}

	b.shoot.DeletionTimestamp = &metav1.Time{Time: now()}
	b.run(t)
	if left := namesOf(b.addOnsOf(t)); len(left) > 0 {
		t.Errorf("EXT-DEL-3: a deletion leaves %v", left)
	}
}

// TestOrderOfAddOns sees at which points extensions are asked to act, by what is there when they are.
func TestOrderOfAddOns(t *testing.T) {
	t.Parallel()
	s := running(withWorkers, extended)
	for name, tc := range map[string]struct {
		before [][2]string
	}{
		"extensions.dot": {before: [][2]string{
			{"ext-before-api-wait", "apiserver"}, {"resource-manager-access", "ext-after-api"}, {"ext-after-api-wait", "osc"}, {"worker-status-wait", "ext-after-worker"},
		}},
		"extensions-hibernate.dot": {before: [][2]string{
			{"ext-after-api-wait", "hibernate"}, {"ext-after-worker-wait", "hibernate"}, {"etcd-main-stop-wait", "ext-before-api-stop"},
		}},
		"delete.dot": {before: [][2]string{
			{"ext-before-api-delete-wait", "controlplane-delete"},
			{"controlplane-delete-wait", "apiserver-delete"},
			{"apiserver-delete", "ext-after-api-delete"},
			{"ext-after-api-delete-wait", "etcd-main-delete"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, err := shoot.GraphFor(t.Context(), s, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, edge := range tc.before {
				if !strings.Contains(g.DOT(), `"`+edge[0]+`" -> "`+edge[1]+`"`) {
					t.Errorf("%s does not come before %s", edge[0], edge[1])
				}
			}
		})
	}
}

func TestSilentAddOn(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(func(s *gardencorev1beta1.Shoot) { s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "first"}} }))
	r := offers()
	r.Spec.Resources[1].ReconcileTimeout = &metav1.Duration{Duration: 7 * 60e9}
	l.give(t, l.GardenClient, r)
	synctest.Test(t, func(t *testing.T) {
		begin := clock.RealClock{}.Now()
		err := shoot.RunTasks(t.Context(), l.Reconciler, l.shoot(t), "shoot--dev--a", "ext-before-api", "ext-before-api-wait")
		if err == nil || !strings.Contains(err.Error(), `Extension "first" is not ready: not within 7m0s`) {
			t.Errorf("a run goes on without an extension that does not answer: %v", err)
		}
		if took := (clock.RealClock{}).Since(begin); took != 7*60e9 {
			t.Errorf("EXT-AGENT-4: the wait took %s, the registration says 7m", took)
		}
	})
}

// TestReferences sees what extensions get of the objects that a shoot refers to.
func TestReferences(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(func(s *gardencorev1beta1.Shoot) {
		for name, kind := range map[string]string{"password": "Secret", "settings": "ConfigMap", "again": "Secret"} {
			object := map[string]string{"password": "a", "settings": "b", "again": "a"}[name]
			ref := gardencorev1beta1.NamedResourceReference{Name: name}
			ref.ResourceRef.APIVersion, ref.ResourceRef.Kind, ref.ResourceRef.Name = "v1", kind, object
			s.Spec.Resources = append(s.Spec.Resources, ref)
		}
	}))
	source := metav1.ObjectMeta{
		Namespace: "garden-dev", Name: "a", Labels: map[string]string{"resources.gardener.cloud/purpose": "token-requestor"},
		Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"},
	}
	l.give(t, l.GardenClient, &corev1.Secret{ObjectMeta: source, Type: corev1.SecretTypeServiceAccountToken, Data: map[string][]byte{"k": []byte("v")}})
	l.give(t, l.GardenClient, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "b"}, Data: map[string]string{"x": "y"}, BinaryData: map[string][]byte{"z": {1}}})
	deployed := func(s *gardencorev1beta1.Shoot) error {
		return shoot.RunTasks(t.Context(), l.Reconciler, s, "shoot--dev--a", "referenced-resources")
	}
	s := l.shoot(t)
	if err := deployed(s); err != nil {
		t.Fatal(err)
	}
	secret, config := &corev1.Secret{}, &corev1.ConfigMap{}
	for _, obj := range []client.Object{secret, config} {
		name := map[client.Object]string{secret: "ref-a", config: "ref-b"}[obj]
		if err := l.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: name}, obj); err != nil {
			t.Fatal(err)
		}
	}
	if string(secret.Data["k"]) != "v" || config.Data["x"] != "y" || len(config.BinaryData["z"]) != 1 {
		t.Errorf("the copies lack data: %v, %v", secret.Data, config)
	}
	if secret.Type != corev1.SecretTypeOpaque || len(secret.Labels) > 0 || len(secret.Annotations) > 0 {
		t.Errorf("the owner of a shoot tells the seed's controllers what to do: type %q, labels %v, annotations %v", secret.Type, secret.Labels, secret.Annotations)
	}

	s.Spec.Resources = slices.DeleteFunc(s.Spec.Resources, func(r gardencorev1beta1.NamedResourceReference) bool { return r.Name == "settings" })
	if err := deployed(s); err != nil {
		t.Fatal(err)
	}
	if err := l.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(config), config); !apierrors.IsNotFound(err) {
		t.Errorf("a copy that the shoot does not name any more is still there: %v", err)
	}

	ref := &s.Spec.Resources[0].ResourceRef
	for version, kind := range map[string]string{"core.gardener.cloud/v1beta1": "InternalSecret", "example.com/v1": "Secret"} {
		ref.APIVersion, ref.Kind = version, kind
		if err := deployed(s); err == nil || !slices.Contains(lastoperation.Codes(err), gardencorev1beta1.ErrorCodeConfigurationProblem) {
			t.Errorf("a %s of %s, to which nobody may refer: %v, want a configuration problem", kind, version, err)
		}
	}
	ref.APIVersion, ref.Kind, ref.Name = "v1", "Secret", "gone"
	if err := deployed(s); err == nil {
		t.Error("an object that does not exist was passed over")
	}
	if err := shoot.RefreshReferences(t.Context(), l.Reconciler, s, "shoot--dev--a"); err != nil {
		t.Errorf("a deletion stops for an object that does not exist any more: %v", err)
	}
	if err := l.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
		t.Errorf("a deletion does not keep the last known copy: %v", err)
	}
}

// TestReferencedIdentity_EXT_CONV_3 refers to a workload identity: extensions find its configuration and a token, under a name of its own
// beside that of a Secret of the same name, and the gardenlet renews the token.
func TestReferencedIdentity_EXT_CONV_3(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(func(s *gardencorev1beta1.Shoot) {
		for kind, version := range map[string]string{"WorkloadIdentity": "security.gardener.cloud/v1alpha1", "Secret": "v1"} {
			ref := gardencorev1beta1.NamedResourceReference{Name: "as-" + kind}
			ref.ResourceRef.APIVersion, ref.ResourceRef.Kind, ref.ResourceRef.Name = version, kind, "account"
			s.Spec.Resources = append(s.Spec.Resources, ref)
		}
	}))
	l.give(t, l.GardenClient, identityAccount(), account())
	l.mint()
	if err := shoot.RunTasks(t.Context(), l.Reconciler, l.shoot(t), "shoot--dev--a", "referenced-resources"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]map[string][]byte{
		"workload-identity-ref-account": {"config": []byte(`{"role":"x"}`), "token": []byte("token-1")},
		"ref-account":                   {"user": []byte("me")},
	} {
		secret := &corev1.Secret{}
		if err := l.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: name}, secret); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, secret.Data); diff != "" {
			t.Errorf("data of Secret %q (-want +got):\n%s", name, diff)
		}
		renewed := secret.Labels["security.gardener.cloud/purpose"] == "workload-identity-token-requestor"
		if identity := name != "ref-account"; renewed != identity {
			t.Errorf("the gardenlet renews the token of Secret %q: %t, want %t", name, renewed, identity)
		}
	}
}
