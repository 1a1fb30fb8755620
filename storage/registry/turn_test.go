// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/registrytest"
)

// TestOneAfterTheOther writes two objects of kinds of which admission keeps apart objects that would get in each other's way. It would
// miss an object that is written while it looks.
func TestOneAfterTheOther(t *testing.T) {
	t.Parallel()
	management := gardenseedmanagementv1alpha1.Resource
	for name, tc := range map[string]struct{ first, second schema.GroupResource }{
		"API-CRRES-1":               {gardencorev1beta1.Resource("controllerregistrations"), gardencorev1beta1.Resource("controllerregistrations")},
		"API-MS-1":                  {management("managedseeds"), management("managedseeds")},
		"API-RRM-13":                {management("managedseeds"), management("gardenlets")},
		"API-RRM-13 in other order": {management("gardenlets"), management("managedseeds")},
		"API-PLANT-1":               {gardencorev1beta1.Resource("plants"), gardencorev1beta1.Resource("plants")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := updater(t, tc.first, tc.second)
			begun, proceed, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				write(t, first, t.Context(), func() {
					close(begun)
					<-proceed
				})
			}()
			<-begun
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			asked := false
			write(t, second, ctx, func() { asked = true })
			if asked {
				t.Error("the second object is judged before the first one is written")
			}
			close(proceed)
			<-done
			write(t, second, t.Context(), func() { asked = true })
			if !asked {
				t.Error("the second object is not judged when the first one is written")
			}
		})
	}
}

func updater(t *testing.T, first, second schema.GroupResource) (one, other rest.Updater) {
	t.Helper()
	groups, _ := registrytest.Groups(t)
	found := map[schema.GroupResource]rest.Updater{}
	for _, group := range groups {
		version := group.PrioritizedVersions[0]
		for resource, store := range group.VersionedResourcesStorageMap[version.Version] {
			if writer, ok := store.(rest.Updater); ok {
				found[version.WithResource(resource).GroupResource()] = writer
			}
		}
	}
	if found[first] == nil || found[second] == nil {
		t.Fatalf("%s or %s is not served", first, second)
	}

	return found[first], found[second]
}

var errRefused = errors.New("refused")

// judging is an update that is refused. The store asks for its preconditions first.
type judging struct{ judge func() }

func (j judging) Preconditions() *metav1.Preconditions {
	j.judge()

	return nil
}

func (judging) UpdatedObject(context.Context, runtime.Object) (runtime.Object, error) {
	return nil, errRefused
}

func write(t *testing.T, to rest.Updater, ctx context.Context, judge func()) { //nolint:revive // the test comes first in tests
	t.Helper()
	_, _, err := to.Update(genericapirequest.WithNamespace(ctx, "garden"), "one", judging{judge}, rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if err == nil {
		t.Error("an update that is refused succeeds")
	}
}
