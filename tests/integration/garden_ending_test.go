// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestCreatedInDeletion creates objects by server-side apply that claim to be in deletion, which rules would accept as they are
// (API-ADM-6). Only the server says that an object is in deletion.
func TestCreatedInDeletion(t *testing.T) {
	t.Parallel()
	o := operate(t)
	namespace := *o.project("sly", member("rose", "admin")).Spec.Namespace
	o.create(&corev1.Secret{ObjectMeta: named("garden", "dear")})
	rose := o.as("rose")
	harness.Await(t, rose, &corev1.ConfigMap{ObjectMeta: named(namespace, "kube-root-ca.crt")}, "the member has her role", func(*corev1.ConfigMap) error { return nil })
	apply := func(group, kind string, rest map[string]any) (*unstructured.Unstructured, error) {
		object := &unstructured.Unstructured{Object: rest}
		object.SetAPIVersion(group)
		object.SetKind(kind)
		object.SetNamespace(namespace)
		object.SetName("early")
		object.SetFinalizers([]string{"example.org/stays"})
		if err := unstructured.SetNestedField(object.Object, "2026-01-01T00:00:00Z", "metadata", "deletionTimestamp"); err != nil {
			t.Fatal(err)
		}
		if err := unstructured.SetNestedField(object.Object, int64(0), "metadata", "deletionGracePeriodSeconds"); err != nil {
			t.Fatal(err)
		}
		return object, rose.Patch(t.Context(), object, client.Apply, client.FieldOwner("rose")) //nolint:staticcheck // It is sent as kubectl sends it.
	}
	for reason, object := range map[string]struct {
		group, kind string
		rest        map[string]any
	}{
		"credentials that she cannot read": {"security.gardener.cloud/v1alpha1", "CredentialsBinding", map[string]any{
			"provider": map[string]any{"type": "local"}, "credentialsRef": map[string]any{"apiVersion": "v1", "kind": "Secret", "namespace": "garden", "name": "dear"},
		}},
		"a host on a seed that she chooses": {"operations.gardener.cloud/v1alpha1", "Bastion", map[string]any{"spec": map[string]any{
			"seedName": "north", "providerType": "local", "shootRef": map[string]any{"name": "nobody"}, "ingress": []any{map[string]any{"ipBlock": map[string]any{"cidr": "192.0.2.0/24"}}},
			"sshPublicKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGV0GCoCMBjsCFUFhMmzGmLMzCC5aGAdFCiGLaHO2KIC",
		}}},
	} {
		if made, err := apply(object.group, object.kind, object.rest); !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
			t.Errorf("API-ADM-6: %s: got %v, want a rejection; it is %v", reason, err, made)
		}
	}
	if made, err := apply("v1", "ConfigMap", map[string]any{}); err != nil || made.GetDeletionTimestamp() != nil || made.GetDeletionGracePeriodSeconds() != nil {
		t.Errorf("API-ADM-6: what is created is not in deletion: got %v, %v", err, made)
	}
}
