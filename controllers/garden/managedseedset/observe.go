// SPDX-License-Identifier: Apache-2.0

package managedseedset

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/hosted"
)

// observe finds the replicas of a set and the names that others have taken (GCM-MSS-2). Shoots and ManagedSeeds are read with
// the given reader, everything else from the cache: the API server itself refuses to delete a ManagedSeed whose seed has shoots.
// What is found must not be changed.
func (r *Reconciler) observe(ctx context.Context, reader client.Reader, set *gardenseedmanagementv1alpha1.ManagedSeedSet) (View, error) {
	view := View{Set: set, Taken: map[string]bool{}, MaxRetries: *r.Config.MaxShootRetries, Now: r.Clock.Now()}
	selector, err := metav1.LabelSelectorAsSelector(&set.Spec.Selector)
	if err != nil {
		return view, fmt.Errorf("read selector of set %q: %w", set.Name, err)
	}
	shoots, managed, seeds := &gardencorev1beta1.ShootList{}, &gardenseedmanagementv1alpha1.ManagedSeedList{}, &gardencorev1beta1.SeedList{}
	options := []client.ListOption{client.InNamespace(set.Namespace), client.UnsafeDisableDeepCopy}
	if err := reader.List(ctx, shoots, options...); err != nil {
		return view, fmt.Errorf("list shoots of namespace %q: %w", set.Namespace, err)
	}
	if err := reader.List(ctx, managed, options...); err != nil {
		return view, fmt.Errorf("list managed seeds of namespace %q: %w", set.Namespace, err)
	}
	if err := r.Client.List(ctx, seeds, client.UnsafeDisableDeepCopy); err != nil {
		return view, fmt.Errorf("list seeds: %w", err)
	}
	view.sort(shoots.Items, managed.Items, seeds.Items, selector)
	for i := range view.Replicas {
		found := &view.Replicas[i]
		if found.Hosts, err = r.hosts(ctx, found.Name); err != nil {
			return view, err
		}
	}
	return view, nil
}

// sort tells the replicas of the set from what only has a name like theirs.
func (v *View) sort(
	shoots []gardencorev1beta1.Shoot, managed []gardenseedmanagementv1alpha1.ManagedSeed, seeds []gardencorev1beta1.Seed, selector labels.Selector,
) {
	for i := range shoots {
		number, named := ordinal(v.Set.Name, shoots[i].Name)
		switch {
		case named && v.owns(&shoots[i], selector):
			v.Replicas = append(v.Replicas, Replica{Name: shoots[i].Name, Ordinal: number, Shoot: &shoots[i]})
		case named:
			v.Taken[shoots[i].Name] = true
		}
	}
	for i := range managed {
		found := v.replica(managed[i].Name)
		if found != nil && v.owns(&managed[i], selector) {
			found.ManagedSeed = &managed[i]
		} else {
			v.Taken[managed[i].Name] = true
		}
	}
	for i := range seeds {
		if found := v.replica(seeds[i].Name); found != nil {
			found.Seed = &seeds[i]
		} else {
			v.Taken[seeds[i].Name] = true
		}
	}
}

// owns reports whether an object with the name of a replica belongs to the set. One that nobody controls does, if it has the
// labels.
func (v *View) owns(object client.Object, selector labels.Selector) bool {
	controller := metav1.GetControllerOf(object)
	return selector.Matches(labels.Set(object.GetLabels())) && (controller == nil || controller.UID == v.Set.UID)
}

// hosts reports whether a shoot is scheduled on the seed.
func (r *Reconciler) hosts(ctx context.Context, seed string) (bool, error) {
	shoots, err := hosted.Shoots(ctx, r.Client, seed, client.Limit(1))
	return len(shoots) > 0, err
}
