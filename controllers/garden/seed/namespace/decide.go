// SPDX-License-Identifier: Apache-2.0

package namespace

import (
	"bytes"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
)

// Name returns the name of the namespace of a seed.
func Name(seed string) string { return prefix + seed }

// Plan is what has to be done so that a namespace contains exactly the copies that it should.
type Plan struct {
	// Create lists the copies that are missing.
	Create []corev1.Secret
	// Update lists copies that differ from their source, with the content that they should have.
	Update []corev1.Secret
	// Delete lists the copies without a source, and those that have to be created again because their type changed.
	Delete []corev1.Secret
}

// Decide compares the secrets of the garden with the copies in the namespace of one seed (GCM-SEED-2, GCM-SEED-3).
// Both lists contain labelled secrets only.
func Decide(namespace string, sources, copies []corev1.Secret) Plan {
	have := make(map[string]*corev1.Secret, len(copies))
	for i := range copies {
		have[copies[i].Name] = &copies[i]
	}
	var plan Plan
	for i := range sources {
		source := &sources[i]
		if !copied(source) {
			continue
		}
		want := copyOf(source, namespace)
		old, found := have[source.Name]
		delete(have, source.Name)
		switch {
		case !found:
			plan.Create = append(plan.Create, want)
		case old.Type != want.Type:
			plan.Delete = append(plan.Delete, *old)
		case !same(old, &want):
			want.ResourceVersion = old.ResourceVersion
			plan.Update = append(plan.Update, want)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		plan.Delete = append(plan.Delete, *have[name])
	}
	return plan
}

// copied reports whether a secret is copied. A seed must not see all of them, and gets some in another way.
func copied(secret *corev1.Secret) bool {
	return secret.DeletionTimestamp == nil && query.ForAllSeeds(secret.Labels)
}

func copyOf(source *corev1.Secret, namespace string) corev1.Secret {
	return corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   namespace,
			Name:        source.Name,
			Labels:      maps.Clone(source.Labels),
			Annotations: maps.Clone(source.Annotations),
		},
		Type: source.Type,
		Data: maps.Clone(source.Data),
	}
}

func same(a, b *corev1.Secret) bool {
	return maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations) && maps.EqualFunc(a.Data, b.Data, bytes.Equal)
}
