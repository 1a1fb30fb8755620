// SPDX-License-Identifier: Apache-2.0

package gardenresource_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/gardenresource"
)

// TestLimits bounds all objects to a few bytes, which changes while the plugin runs.
func TestLimits(t *testing.T) {
	t.Parallel()
	var now *gardenconfigv1alpha1.ResourceSizeConfiguration
	g := admissiontest.New(t, nil)
	rule, ok := gardenresource.NewLimits(func() *gardenconfigv1alpha1.ResourceSizeConfiguration { return now })(g.World).(admission.ValidationInterface)
	if !ok {
		t.Fatal("it does not validate")
	}
	tight := &gardenconfigv1alpha1.ResourceSizeConfiguration{Limits: []gardenconfigv1alpha1.ResourceLimit{{
		APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}, Size: resource.NewQuantity(1, resource.BinarySI),
	}}}
	seed, itself := gardencorev1beta1.GroupVersion.WithKind("Seed"), gardenoperatorv1alpha1.GroupVersion.WithKind("Garden")
	want, got := map[string]bool{}, map[string]bool{}
	for _, tc := range []struct {
		reason  string
		limits  *gardenconfigv1alpha1.ResourceSizeConfiguration
		object  runtime.Object
		kind    schema.GroupVersionKind
		who     string
		refused bool
	}{
		{"without limits all is well", nil, &gardencorev1beta1.Seed{}, seed, "rose", false},
		{"what is above a limit is refused", tight, &gardencorev1beta1.Seed{}, seed, "rose", true},
		{"what the server writes itself is not", tight, &gardencorev1beta1.Seed{}, seed, user.APIServerUser, false},
		{"the Garden is not, so that limits can be taken back", tight, &garden{}, itself, "rose", false},
		{"limits are taken back at once", nil, &gardencorev1beta1.Seed{}, seed, "rose", false},
	} {
		now = tc.limits
		a := admission.NewAttributesRecord(tc.object, nil, tc.kind, "", "one", tc.kind.GroupVersion().WithResource(strings.ToLower(tc.kind.Kind)+"s"), "",
			admission.Create, nil, false, &user.DefaultInfo{Name: tc.who})
		want[tc.reason], got[tc.reason] = tc.refused, rule.Validate(t.Context(), a, nil) != nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is refused (-want +got):\n%s", diff)
	}
}
