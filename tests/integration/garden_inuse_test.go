// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
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
	shoot := o.shoot(namespace, "a", "local", withWorker("account"), func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{AuditConfig: &gardencorev1beta1.AuditConfig{
			AuditPolicy: &gardencorev1beta1.AuditPolicy{ConfigMapRef: &corev1.ObjectReference{Name: "audit"}},
		}}
	})

	cloudProfile := held(o, profile("local"), "gardener", "GCM-USE-1: a profile is protected on first sight")
	held(o, binding, "gardener", "GCM-USE-1: a binding is protected on first sight")
	marked := held(o, secret, "gardener.cloud/secretbinding", "GCM-SECRETBINDING-1: its secret is protected too")
	if marked.Labels["provider.shoot.gardener.cloud/local"] != "true" || marked.Labels["reference.gardener.cloud/secretbinding"] != "true" {
		t.Errorf("GCM-SECRETBINDING-1: labels of the secret = %v", marked.Labels)
	}
	deployed := held(o, deployment("provider-local"), "core.gardener.cloud/controllerdeployment", "GCM-USE-1: a deployment is protected on first sight")
	held(o, audit, "gardener.cloud/reference-protection", "GCM-SHOOTREF-1: what a shoot references is protected")
	labelled := harness.Await(t, o.Client, shoot, "GCM-STATUSLABEL-3: a shoot is labelled", func(s *gardencorev1beta1.Shoot) error {
		return has(s.Labels["shoot.gardener.cloud/status"] != "", "labels %v", s.Labels)
	})
	if got := labelled.Labels["shoot.gardener.cloud/status"]; got != "healthy" {
		t.Errorf("GCM-STATUSLABEL-2: a shoot that waits for a seed is %q, want healthy", got)
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
