// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// held waits until the object carries the finalizer.
func held[T client.Object](o *operator, object T, finalizer, what string) T {
	o.t.Helper()
	return harness.Await(o.t, o.Client, object, what, func(found T) error {
		return has(slices.Contains(found.GetFinalizers(), finalizer), "finalizers %v", found.GetFinalizers())
	})
}

func TestInUse(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	project := o.project("dev")
	namespace := *project.Spec.Namespace

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "account"}}
	audit := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "audit"}, Data: map[string]string{"policy": "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None}]\n"}}
	binding := &gardencorev1beta1.SecretBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "account"}, SecretRef: corev1.SecretReference{Namespace: namespace, Name: "account"},
		Provider: &gardencorev1beta1.SecretBindingProvider{Type: "local"},
	}
	o.create(secret, audit, binding)
	shoot := o.shoot(namespace, "a", "local", withWorker(""), formerly("account"), func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{AuditConfig: &gardencorev1beta1.AuditConfig{
			AuditPolicy: &gardencorev1beta1.AuditPolicy{ConfigMapRef: &corev1.ObjectReference{Name: "audit"}},
		}}
	})

	cloudProfile := held(o, profile("local"), "gardener", "GCM-USE-1: a profile is protected on first sight")
	held(o, binding, "gardener", "GCM-USE-1: a binding is protected on first sight")
	marked := held(o, secret, "gardener.cloud/secretbinding", "GCM-SECRETBINDING-1: its secret is protected too")
	wantLabels := map[string]string{"provider.shoot.gardener.cloud/local": "true", "reference.gardener.cloud/secretbinding": "true"}
	if diff := cmp.Diff(wantLabels, marked.Labels); diff != "" {
		t.Errorf("GCM-SECRETBINDING-1: labels of the secret (-want +got):\n%s", diff)
	}
	deployed := held(o, deployment("provider-local"), "core.gardener.cloud/controllerdeployment", "GCM-USE-1: a deployment is protected on first sight")
	held(o, audit, "gardener.cloud/reference-protection", "GCM-SHOOTREF-1: what a shoot references is protected")
	labelled := harness.Await(t, o.Client, shoot, "GCM-STATUSLABEL-3: a shoot is labelled", func(s *gardencorev1beta1.Shoot) error {
		return has(s.Labels["shoot.gardener.cloud/status"] != "", "labels %v", s.Labels)
	})
	if diff := cmp.Diff("healthy", labelled.Labels["shoot.gardener.cloud/status"]); diff != "" {
		t.Errorf("GCM-STATUSLABEL-2: a shoot that waits for a seed is healthy (-want +got):\n%s", diff)
	}
	o.changeStatus(shoot, func() { shoot.Status.LastErrors = []gardencorev1beta1.LastError{{Description: "boom"}} })
	harness.Await(t, o.Client, shoot, "GCM-STATUSLABEL-3: the label follows the status", func(s *gardencorev1beta1.Shoot) error {
		return has(s.Labels["shoot.gardener.cloud/status"] == "unhealthy", "labels %v", s.Labels)
	})

	for _, object := range []client.Object{cloudProfile, binding, secret, deployed, audit} {
		o.delete(object)
	}
	for object, by := range map[client.Object]string{
		cloudProfile: "Shoot " + namespace + "/a", binding: "Shoot " + namespace + "/a", deployed: "ControllerRegistration provider-local",
	} {
		event := o.event(object, "ResourceReferenced", "GCM-USE-2: an event names who references it")
		if !strings.Contains(event.Message, by) {
			t.Errorf("GCM-USE-2: event about %T = %q, want %q named", object, event.Message, by)
		}
	}
	for _, object := range []client.Object{cloudProfile, binding, secret, deployed, audit} {
		if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Errorf("GCM-USE-1: %T must stay while it is referenced: %v", object, err)
		}
	}

	o.confirm(shoot)
	o.gone(shoot, "GCM-SHOOTREF-4: the shoot is not held by its references")
	o.gone(cloudProfile, "GCM-CLOUDPROFILE-1: the profile goes after its last shoot")
	o.gone(binding, "GCM-SECRETBINDING-2: the binding goes after its last shoot")
	o.gone(secret, "GCM-SECRETBINDING-2: the secret is released with its last binding")
	o.gone(audit, "GCM-SHOOTREF-3: what no shoot references is released")
	o.delete(&gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "provider-local"}})
	o.gone(deployed, "GCM-CONTROLLERDEPLOYMENT-1: the deployment goes after its registration")
}

func TestCredentialsInUse(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	namespace := *o.project("dev").Spec.Namespace
	account := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "account"}}
	identity := &gardensecurityv1alpha1.WorkloadIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "identity"},
		Spec:       gardensecurityv1alpha1.WorkloadIdentitySpec{Audiences: []string{"local"}, TargetSystem: gardensecurityv1alpha1.TargetSystem{Type: "local"}},
	}
	quota := &gardencorev1beta1.Quota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "small"},
		Spec: gardencorev1beta1.QuotaSpec{
			Scope:   corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Project"},
			Metrics: corev1.ResourceList{"cpu": resource.MustParse("200")},
		},
	}
	binding := func(name, apiVersion, kind, of string) *gardensecurityv1alpha1.CredentialsBinding {
		return &gardensecurityv1alpha1.CredentialsBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"},
			CredentialsRef: corev1.ObjectReference{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: of},
			Quotas:         []corev1.ObjectReference{{Namespace: namespace, Name: "small"}},
		}
	}
	bySecret := binding("by-secret", "v1", "Secret", "account")
	byIdentity := binding("by-identity", "security.gardener.cloud/v1alpha1", "WorkloadIdentity", "identity")
	o.create(account, identity, quota, bySecret, byIdentity)
	shoot := o.shoot(namespace, "a", "local", withWorker("by-secret"))

	held(o, bySecret, "gardener", "GCM-CREDBINDING-1: a binding is protected on first sight")
	held(o, byIdentity, "gardener", "GCM-CREDBINDING-1: each is")
	for _, credentials := range []client.Object{account, identity} {
		marked := held(o, credentials, "gardener.cloud/credentialsbinding", "GCM-CREDBINDING-1: its credentials are protected too")
		wantLabels := map[string]string{"provider.shoot.gardener.cloud/local": "true", "reference.gardener.cloud/credentialsbinding": "true"}
		ofExtensions := func(label, _ string) bool { return strings.HasPrefix(label, "provider.extensions.") }
		if diff := cmp.Diff(wantLabels, marked.GetLabels(), cmpopts.IgnoreMapEntries(ofExtensions)); diff != "" {
			t.Errorf("GCM-CREDBINDING-1: labels of %T (-want +got):\n%s", credentials, diff)
		}
	}
	labelled := func(want bool) func(*gardencorev1beta1.Quota) error {
		return func(q *gardencorev1beta1.Quota) error {
			return has((q.Labels["reference.gardener.cloud/credentialsbinding"] == "true") == want, "labels %v", q.Labels)
		}
	}
	harness.Await(t, o.Client, quota, "GCM-SECRETBINDING-1: its quotas are labelled", labelled(true))

	for _, object := range []client.Object{bySecret, account, identity} {
		o.delete(object)
	}
	event := o.event(bySecret, "ResourceReferenced", "GCM-CREDBINDING-1: an event names the shoot")
	if event.Type != corev1.EventTypeWarning || !strings.Contains(event.Message, "Shoot "+namespace+"/a") {
		t.Errorf("GCM-CREDBINDING-1: event = %s %q, want a Warning that names the shoot", event.Type, event.Message)
	}
	for _, object := range []client.Object{bySecret, account, identity} {
		if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Errorf("GCM-CREDBINDING-1: %T must stay while it is in use: %v", object, err)
		}
	}
	o.confirm(shoot)
	o.gone(bySecret, "GCM-CREDBINDING-1: the binding goes after its last shoot")
	o.gone(account, "GCM-CREDBINDING-1: the secret is released with its last binding")
	harness.Await(t, o.Client, quota, "GCM-SECRETBINDING-2: a quota that another binding names stays labelled", labelled(true))
	o.delete(byIdentity)
	o.gone(byIdentity, "GCM-CREDBINDING-1: a binding that no shoot uses goes at once")
	o.gone(identity, "GCM-CREDBINDING-1: and its identity with it")
	harness.Await(t, o.Client, quota, "GCM-SECRETBINDING-2: a quota that no binding names is labelled no more", labelled(false))
}

// TestLabelsGo checks that the provider's label of a Secret, which admission sets as well, goes with the last binding.
func TestLabelsGo(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	namespace := *o.project("dev").Spec.Namespace
	secret := &corev1.Secret{ObjectMeta: named(namespace, "local")}
	binding := &gardencorev1beta1.SecretBinding{
		ObjectMeta: named(namespace, "local"), SecretRef: corev1.SecretReference{Name: "local"},
		Provider: &gardencorev1beta1.SecretBindingProvider{Type: "local"},
	}
	o.create(secret, binding)
	held(o, secret, "gardener.cloud/secretbinding", "GCM-SECRETBINDING-1: the secret is held")
	o.delete(binding)
	o.gone(binding, "GCM-SECRETBINDING-2: a binding that nobody uses goes")
	harness.Await(t, o.Client, secret, "GCM-SECRETBINDING-2: and all of its marks with it", func(s *corev1.Secret) error {
		return has(len(s.Labels) == 0 && len(s.Finalizers) == 0, "labels %v, finalizers %v", s.Labels, s.Finalizers)
	})
}
