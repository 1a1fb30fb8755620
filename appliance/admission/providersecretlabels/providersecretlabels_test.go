// SPDX-License-Identifier: Apache-2.0

package providersecretlabels_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/providersecretlabels"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func credentials(kind, apiVersion, provider string) *gardensecurityv1alpha1.CredentialsBinding {
	return &gardensecurityv1alpha1.CredentialsBinding{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "garden-other", Name: provider},
		Provider:       gardensecurityv1alpha1.CredentialsBindingProvider{Type: provider},
		CredentialsRef: corev1.ObjectReference{APIVersion: apiVersion, Kind: kind, Namespace: admissiontest.Namespace, Name: "local"},
	}
}

func labelled(pairs map[string]string) *corev1.Secret {
	return admissiontest.Secret("local", func(s *corev1.Secret) { s.Labels = pairs })
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	const prefix = "provider.shoot.gardener.cloud/"
	internal := &gardencorev1beta1.InternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: "local"}}
	two := admissiontest.Binding(func(b *gardencorev1beta1.SecretBinding) { b.Provider.Type = "local,cloud" })
	namespace := admissiontest.ProjectNamespace()
	config := admissiontest.ConfigMap("local", "a", "b")
	type binding = gardencorev1beta1.SecretBinding
	apart := admissiontest.Binding(func(b *binding) { b.Provider.Type = "local, cloud" })
	another := admissiontest.Binding(func(b *binding) { b.SecretRef.Name = "another" })
	foreign := admissiontest.Binding(func(b *binding) { b.Name, b.SecretRef.Namespace = "foreign", "garden-other" })
	away := credentials("Secret", "v1", "other")
	away.CredentialsRef.Name = "another"
	for name, tc := range map[string]struct {
		reason  string
		objects []kind.Object
		object  kind.Object
		want    map[string]string
	}{
		"GAC-PSL-1 binding":     {reason: "each type has a label", objects: []kind.Object{namespace, two}, object: labelled(nil), want: map[string]string{prefix + "local": "true", prefix + "cloud": "true"}},
		"GAC-PSL-1 credentials": {reason: "from wherever it is used", objects: []kind.Object{namespace, credentials("Secret", "v1", "other")}, object: labelled(nil), want: map[string]string{prefix + "other": "true"}},
		"GAC-PSL-1 internal":    {reason: "internal secrets likewise", objects: []kind.Object{namespace, admissiontest.Binding(), credentials("InternalSecret", "core.gardener.cloud/v1beta1", "other")}, object: internal, want: map[string]string{prefix + "other": "true"}},
		"GAC-PSL-1 stale":       {reason: "stale ones go, others stay", objects: []kind.Object{namespace, admissiontest.Binding()}, object: labelled(map[string]string{prefix + "old": "true", "mine": "too"}), want: map[string]string{prefix + "local": "true", "mine": "too"}},
		"GAC-PSL-1 unused":      {reason: "without a binding there are none", objects: []kind.Object{namespace}, object: labelled(map[string]string{prefix + "old": "true"}), want: map[string]string{}},
		"GAC-PSL-1 spaces":      {reason: "types may be set apart", objects: []kind.Object{namespace, apart}, object: labelled(nil), want: map[string]string{prefix + "local": "true", prefix + "cloud": "true"}},
		"GAC-PSL-1 others":      {reason: "bindings of other secrets do not count", objects: []kind.Object{namespace, another, foreign, away}, object: labelled(nil)},
		"GAC-PSL-1 config":      {reason: "other kinds are left alone", objects: []kind.Object{namespace, admissiontest.Binding()}, object: config},
		"GAC-REG-5 elsewhere":   {reason: "other namespaces are left alone", object: labelled(map[string]string{prefix + "old": "true"}), want: map[string]string{prefix + "old": "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, tc.objects...)
			object, ok := tc.object.DeepCopyObject().(kind.Object)
			if !ok {
				t.Fatalf("%T is no object", tc.object)
			}
			if err := g.Ask(providersecretlabels.New(g.World), admissiontest.Request{Object: object, Old: tc.object}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, object.GetLabels()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLeavingBinding(t *testing.T) {
	t.Parallel()
	const label = "provider.shoot.gardener.cloud/local"
	held := admissiontest.Binding(func(b *gardencorev1beta1.SecretBinding) { b.Finalizers = []string{"gardener"} })
	g := admissiontest.New(t, nil, admissiontest.ProjectNamespace(), held)
	g.DeleteFrom(admissiontest.Namespace, "secretbindings", held.Name)
	for reason, pairs := range map[string]map[string]string{
		"GAC-PSL-1: a label that is there stays while the binding is in use":  {label: "true"},
		"GCM-SECRETBINDING-2: a label that was taken away does not come back": {},
	} {
		object := labelled(pairs)
		if err := g.Ask(providersecretlabels.New(g.World), admissiontest.Request{Object: object, Old: labelled(map[string]string{label: "true"})}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(pairs, object.Labels); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestTrial_API_RRM_2 has the label of a provider in a Secret that no binding refers to yet. The server shows such Secrets to webhooks, in
// dry runs; nobody else does.
func TestTrial_API_RRM_2(t *testing.T) {
	t.Parallel()
	pairs := map[string]string{"provider.shoot.gardener.cloud/local": "true"}
	for reason, tc := range map[string]struct {
		user   string
		dryRun bool
		want   map[string]string
	}{
		"the server itself shows it": {"system:apiserver", true, pairs},
		"it does not create it":      {"system:apiserver", false, map[string]string{}},
		"others do not even show it": {"rose", true, map[string]string{}},
	} {
		g := admissiontest.New(t, nil, admissiontest.ProjectNamespace())
		object := labelled(maps.Clone(pairs))
		if err := g.Ask(providersecretlabels.New(g.World), admissiontest.Request{Object: object, User: tc.user, DryRun: tc.dryRun}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, object.Labels); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestLeft_GAC_PSL_1 shows when the labels stay as they are.
func TestLeft_GAC_PSL_1(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.ProjectNamespace())
	pairs := map[string]string{"provider.shoot.gardener.cloud/old": "true"}
	part := labelled(maps.Clone(pairs))
	if err := g.Ask(providersecretlabels.New(g.World), admissiontest.Request{Object: part, Old: part.DeepCopy(), Subresource: "part"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pairs, part.Labels); diff != "" {
		t.Errorf("a part of a secret has no labels of its own (-want +got):\n%s", diff)
	}
	for _, resource := range []string{"namespaces", "secretbindings", "credentialsbindings"} {
		err := g.Ask(providersecretlabels.New(g.Failing(resource)), admissiontest.Request{Object: labelled(maps.Clone(pairs))})
		if !apierrors.IsInternalError(err) {
			t.Errorf("no label is taken away while %s are unknown: got %v, want an internal error", resource, err)
		}
	}
}
