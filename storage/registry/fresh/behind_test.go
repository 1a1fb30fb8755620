// SPDX-License-Identifier: Apache-2.0

package fresh_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage"
)

// TestListsBehindAnOldCache has many lists, each of another selection, find the watch cache behind at the same time, as when a
// thousand gardenlets start together. The objects are decoded once for all of them.
func TestListsBehindAnOldCache(t *testing.T) {
	t.Parallel()

	const objects, lists = 300, 100
	decoded := &atomic.Int64{}
	p := openWith(t, getter{own: registry.StorageWithCacher(), name: "late-configmaps", decoded: decoded}, file(t))
	for n := range objects {
		p.set(t, strconv.Itoa(n), "of-"+strconv.Itoa(n%lists))
	}
	p.list(t, storage.Everything)
	p.line.hold()
	late := p.set(t, "late", "of-7", "late")
	decoded.Store(0)

	var all errgroup.Group
	for n := range lists {
		all.Go(func() error {
			selected := storage.SelectionPredicate{
				Label: labels.SelectorFromSet(labels.Set{"of-" + strconv.Itoa(n): "yes"}), Field: fields.Everything(), GetAttrs: attributes,
			}
			found := &corev1.ConfigMapList{}
			if err := p.GetList(t.Context(), prefix, storage.ListOptions{Recursive: true, Predicate: selected}, found); err != nil {
				return err
			}
			want := []string{strconv.Itoa(n), strconv.Itoa(n + lists), strconv.Itoa(n + 2*lists)}
			if n == 7 {
				want = append(want, "late")
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, names(found)); diff != "" || found.ResourceVersion != late.ResourceVersion {
				return fmt.Errorf("list %d at version %s; want %s (-want +got):\n%s", n, found.ResourceVersion, late.ResourceVersion, diff)
			}

			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
	if most := int64(2 * objects); decoded.Load() > most {
		t.Errorf("%d lists of %d objects that find the cache behind have decoded %d; want at most %d", lists, objects, decoded.Load(), most)
	}
}

func names(list *corev1.ConfigMapList) (names []string) {
	for _, one := range list.Items {
		names = append(names, one.Name)
	}

	return names
}
