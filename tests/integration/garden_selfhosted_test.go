// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestSelfHostedShoot gives the gardenlet of a self-hosted shoot all rights: it still writes what belongs to its shoot, and
// nothing else (GAC-SHOOTR-1).
func TestSelfHostedShoot(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	o.home()
	o.create(&corev1.Secret{ObjectMeta: named("garden", "creds")}, boundTo("garden", "creds", "local"))
	own := o.shoot("garden", "lone", "local", func(s *gardencorev1beta1.Shoot) {
		withWorker("creds")(s)
		s.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
	})
	other := o.shoot("garden", "other", "local", withWorker("creds"))
	lone := o.as("gardener.cloud:system:shoot:garden:lone", "gardener.cloud:system:shoots", "system:masters")

	if err := lone.Create(t.Context(), &corev1.Secret{ObjectMeta: named("garden", "lone.monitoring")}); err != nil {
		t.Errorf("a gardenlet keeps the credentials of its shoot: %v", err)
	}
	if err := lone.Status().Patch(t.Context(), own, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"technicalID":"shoot--garden--lone"}}`))); err != nil {
		t.Errorf("and tells how its shoot is: %v", err)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: named("", "things.lone.example")}
	definition.Spec.Group, definition.Spec.Scope = "lone.example", apiextensionsv1.ClusterScoped
	definition.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"}
	definition.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: "v1", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
	}}
	for reason, object := range map[string]client.Object{
		"a Secret of another shoot":      &corev1.Secret{ObjectMeta: named("garden", "other.monitoring")},
		"a Secret of an operator":        &corev1.Secret{ObjectMeta: named("garden", "default-domain")},
		"a Secret elsewhere":             &corev1.Secret{ObjectMeta: named("kube-system", "lone.monitoring")},
		"the state of another shoot":     &gardencorev1beta1.ShootState{ObjectMeta: named("garden", "other")},
		"the rights of somebody":         &rbacv1.ClusterRoleBinding{ObjectMeta: named("", "lone"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}},
		"a Namespace":                    &corev1.Namespace{ObjectMeta: named("", "garden-lone")},
		"a Project":                      &gardencorev1beta1.Project{ObjectMeta: named("", "lone")},
		"a kind of its own":              definition,
		"a certificate for another seed": requestFor(o, "one"),
	} {
		refusedWith(t, lone.Create(t.Context(), object), "does not belong to an object of this shoot", "it makes "+reason)
	}
	o.change(other, func() {
		other.Annotations = map[string]string{gardencorev1beta1.AnnotationConfirmationDeletion: "true"}
	})
	refusedWith(t, lone.Delete(t.Context(), other.DeepCopy()), "does not belong to an object of this shoot", "it deletes another shoot")
	refusedWith(t, lone.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace("garden")), "does not belong to an object of this shoot", "it deletes all Secrets at once")
	// The other shoot has its control plane on a seed, so nobody is its gardenlet.
	nobody := o.as("gardener.cloud:system:shoot:garden:other", "gardener.cloud:system:shoots", "system:masters")
	refusedWith(t, nobody.Create(t.Context(), &corev1.Secret{ObjectMeta: named("garden", "other.monitoring")}), "is not self-hosted", "a shoot on a seed has no gardenlet of its own")
}
