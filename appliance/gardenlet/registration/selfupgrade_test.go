// SPDX-License-Identifier: Apache-2.0

package registration_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// TestAdoptGardenlet_GLET_GL_2 makes a Gardenlet of what is in the seed, and leaves there what cannot be one.
func TestAdoptGardenlet_GLET_GL_2(t *testing.T) {
	t.Parallel()
	const manifest = "apiVersion: seedmanagement.gardener.cloud/v1alpha1\nkind: Gardenlet\nmetadata: {namespace: garden, name: one}\nspec: {deployment: {replicaCount: 3, helm: {ociRepository: {ref: example.org/a}}}}\n"
	existing := &gardenseedmanagementv1alpha1.Gardenlet{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "one"}}
	existing.Spec.Deployment.ReplicaCount = new(int32(2))
	for reason, tc := range map[string]struct {
		given    string
		existing []client.Object
		replicas int32
		stays    bool
	}{
		"nothing is given":     {},
		"it is made":           {given: manifest, replicas: 3},
		"it was exported":      {given: strings.Replace(manifest, "name: one}", "name: one, resourceVersion: \"7\", uid: u, generation: 3}", 1), replicas: 3},
		"it exists":            {given: manifest, existing: []client.Object{existing}, replicas: 2},
		"of another seed":      {given: "metadata: {namespace: garden, name: two}\n", stays: true},
		"in another namespace": {given: "metadata: {namespace: default, name: one}\n", stays: true},
		"no object":            {given: "nonsense", stays: true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			types, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			seed := fake.NewClientBuilder().WithScheme(types)
			left := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gardenlet-selfupgrade-config"}}
			if tc.given != "" {
				left.Data = map[string]string{"gardenlet.yaml": tc.given}
				seed = seed.WithObjects(left)
			}
			r, inSeed := registrar(t, tc.existing...), seed.Build()
			why, err := r.AdoptGardenlet(t.Context(), inSeed)
			if err != nil || (why != nil) != tc.stays {
				t.Errorf("AdoptGardenlet(...) = %v, %v", why, err)
			}
			made := &gardenseedmanagementv1alpha1.Gardenlet{}
			err = r.Garden.Get(t.Context(), client.ObjectKey{Namespace: "garden", Name: "one"}, made)
			if apierrors.IsNotFound(err) != (tc.replicas == 0) || err == nil && *made.Spec.Deployment.ReplicaCount != tc.replicas {
				t.Errorf("the Gardenlet of the garden: %+v, %v", made.Spec.Deployment, err)
			}
			if err := inSeed.Get(t.Context(), client.ObjectKeyFromObject(left), left); apierrors.IsNotFound(err) == tc.stays {
				t.Errorf("the ConfigMap of the seed: %v, want it left: %t", err, tc.stays)
			}
		})
	}
}
