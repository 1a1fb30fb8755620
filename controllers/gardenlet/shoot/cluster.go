// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// ClusterOf is what the garden tells the extensions of a seed about a shoot.
func ClusterOf(name string, profile *gardencorev1beta1.CloudProfile, seed *gardencorev1beta1.Seed, shoot *gardencorev1beta1.Shoot) (*gardenextensionsv1alpha1.Cluster, error) {
	profile, seed, shoot = profile.DeepCopy(), seed.DeepCopy(), shoot.DeepCopy()
	rawProfile, err := raw(profile, "CloudProfile", &profile.TypeMeta)
	if err != nil {
		return nil, err
	}
	rawSeed, err := raw(seed, "Seed", &seed.TypeMeta)
	if err != nil {
		return nil, err
	}
	rawShoot, err := raw(shoot, "Shoot", &shoot.TypeMeta)
	if err != nil {
		return nil, err
	}
	return &gardenextensionsv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       gardenextensionsv1alpha1.ClusterSpec{CloudProfile: *rawProfile, Seed: rawSeed, Shoot: *rawShoot},
	}, nil
}

func raw(obj client.Object, kind string, meta *metav1.TypeMeta) (*runtime.RawExtension, error) {
	meta.APIVersion, meta.Kind = gardencorev1beta1.GroupVersion.String(), kind
	obj.SetManagedFields(nil)
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("encode %s %q: %w", kind, obj.GetName(), err)
	}
	return &runtime.RawExtension{Raw: data}, nil
}

// syncCluster writes the Cluster object with the shoot as given.
func (o *operation) syncCluster(ctx context.Context, shoot *gardencorev1beta1.Shoot) error {
	cluster, err := ClusterOf(o.facts.Namespace, o.profile, o.facts.Seed, shoot)
	if err != nil {
		return fmt.Errorf("write cluster %q: %w", o.facts.Namespace, err)
	}
	return o.r.seedEngine().Apply(ctx, cluster)
}
