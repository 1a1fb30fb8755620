// SPDX-License-Identifier: Apache-2.0

package resourcesize

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// small is the size of a Secret that is always allowed: a quota limits how many there are.
const small = 16 << 10

// tooMuch adds up the Secrets of a namespace. All of them are in memory several times, so what is a lot for the disk is too much for the
// server. It claims what it allows: several requests at once would otherwise all find the same room, and the cache may not have what was
// written a moment ago.
func (r *rule) tooMuch(
	ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, limit *gardenconfigv1alpha1.ResourceLimit,
) (complaint, err error) {
	if limit.TotalSize == nil || a.GetNamespace() == "" {
		return nil, nil
	}
	secret, old, err := world.Objects[corev1.Secret](a, o)
	if err != nil || secret == nil {
		return nil, err
	}
	size := weight(secret)
	if size <= small || old != nil && size <= weight(old) {
		return nil, nil
	}
	there, err := r.weights(ctx, a.GetNamespace())
	if err != nil {
		return nil, fmt.Errorf("list secrets: %w", err)
	}
	most, sum := limit.TotalSize.Value(), int64(0)
	r.world.ClaimSize(ctx, secretsOf(a.GetNamespace()), secret.Name, size, func(claimed map[string]int64) bool {
		sum = total(there, claimed, secret.Name, size)
		return sum <= most && !a.IsDryRun()
	})
	if sum <= most {
		return nil, nil
	}
	return fmt.Errorf("the Secrets of namespace %q would have %d bytes in total, with those requested in the last minute, and at most %d are allowed; "+
		"those of up to %d bytes are always allowed", a.GetNamespace(), sum, most, small), nil
}

// weights are those of the Secrets of a namespace, by name, as the cache has them.
func (r *rule) weights(ctx context.Context, namespace string) (map[string]int64, error) {
	all, err := r.world.Cached().Secrets(ctx, namespace, labels.Everything())
	if err != nil {
		return nil, err
	}
	weights := make(map[string]int64, len(all))
	for i := range all {
		weights[all[i].Name] = weight(&all[i])
	}
	return weights, nil
}

// weight is the size of a Secret in the store, without its managed fields, which have a limit of their own, and what its entries take beside in
// memory. Metadata counts: labels and annotations can be larger than the data, and nothing limits the total size of labels.
func weight(s *corev1.Secret) int64 {
	bare := *s
	bare.ManagedFields = nil
	size := int64(bare.Size()) + entriesOf(s)
	// It becomes data.
	for key, value := range s.StringData {
		size += int64(len(key) + len(value))
	}
	return size
}

// total is the size of all Secrets of a namespace with one of some size, beside those that are there and those that were requested.
func total(there, claimed map[string]int64, name string, size int64) (sum int64) {
	for other, wanted := range claimed {
		there[other] = max(there[other], wanted)
	}
	there[name] = max(size, claimed[name])
	for size := range maps.Values(there) {
		sum += size
	}
	return sum
}

// secretsOf is the sort of the claims for the Secrets of a namespace.
func secretsOf(namespace string) string { return "Secrets of " + namespace }
