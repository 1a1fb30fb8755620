// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestTimelineOfAnotherSeed has an object live on one seed, and another one of its name on another seed: the gardenlet of each reads of its own
// one, and of no other.
func TestTimelineOfAnotherSeed(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growAccess(o)
	first := entryOf("again", "two")
	o.create(first)
	one, two := o.acting(seedRole("one")), o.acting(seedRole("two"))
	told := o.toldOf(two, first.UID)
	o.delete(first)
	o.gone(first, "the first one goes")
	second := entryOf("again", "one")
	o.create(second)

	o.toldOf(one, second.UID)
	if err := one.Get(t.Context(), client.ObjectKeyFromObject(&told[0]), &gardenappliancev1alpha1.TimelineEntry{}); !apierrors.IsNotFound(err) {
		t.Errorf("the gardenlet of the seed of today reads an entry of the earlier one: %v", err)
	}
	harness.Eventually(t, "the former seed reads nothing any more", func(ctx context.Context) error {
		err := two.List(ctx, &gardenappliancev1alpha1.TimelineEntryList{}, ofSubject("BackupEntry", "garden-meadow", "again"))
		return has(apierrors.IsForbidden(err), "got %v, want Forbidden", err)
	})
}

// toldOf waits until a client of a seed is told of an object, and of no other one of that name.
func (o *operator) toldOf(who client.Client, uid types.UID) (items []gardenappliancev1alpha1.TimelineEntry) {
	o.t.Helper()
	harness.Eventually(o.t, "a gardenlet reads of its backup", func(ctx context.Context) error {
		list := &gardenappliancev1alpha1.TimelineEntryList{}
		err := who.List(ctx, list, ofSubject("BackupEntry", "garden-meadow", "again"))
		items = list.Items
		return errors.Join(err, has(len(items) > 0, "no entries"))
	})
	for i := range items {
		if items[i].Subject.UID != uid {
			o.t.Errorf("it reads of another one, too: %+v", items[i])
		}
	}

	return items
}
