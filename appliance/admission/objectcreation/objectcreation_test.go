// SPDX-License-Identifier: Apache-2.0

package objectcreation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/objectcreation"
)

// ending claims that an object is in deletion.
func ending(o metav1.Object) {
	o.SetDeletionTimestamp(new(metav1.Now()))
	o.SetDeletionGracePeriodSeconds(new(int64(0)))
}

func TestAdmit_API_ADM_6(t *testing.T) {
	t.Parallel()
	shoot := func() *gardencorev1beta1.Shoot {
		return admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) { ending(s) })
	}
	for name, tc := range map[string]struct {
		reason  string
		request admissiontest.Request
		want    bool
	}{
		"Create":      {reason: "nothing is created in deletion", request: admissiontest.Request{Object: shoot()}},
		"Other":       {reason: "of whatever kind", request: admissiontest.Request{Object: admissiontest.Secret("s", func(s *corev1.Secret) { ending(s) })}},
		"Server":      {reason: "by whomever", request: admissiontest.Request{Object: shoot(), User: user.APIServerUser}},
		"Update":      {reason: "what is in deletion stays there", request: admissiontest.Request{Object: shoot(), Old: shoot()}, want: true},
		"Subresource": {reason: "a subresource is no object", request: admissiontest.Request{Object: shoot(), Subresource: "binding"}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil)
			if err := g.Ask(objectcreation.New(g.World), tc.request); err != nil {
				t.Fatal(err)
			}
			o := tc.request.Object
			if diff := cmp.Diff([]bool{tc.want, tc.want}, []bool{o.GetDeletionTimestamp() != nil, o.GetDeletionGracePeriodSeconds() != nil}); diff != "" {
				t.Errorf("%s; in deletion, with a grace period (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNoMetadata_API_ADM_6 lets pass what is never stored.
func TestNoMetadata_API_ADM_6(t *testing.T) {
	t.Parallel()
	rule, ok := objectcreation.New(nil).(admission.MutationInterface)
	if !ok {
		t.Fatal("it changes nothing")
	}
	for _, object := range []runtime.Object{nil, &metav1.Status{}, &authorizationv1.SubjectAccessReview{}} {
		a := admission.NewAttributesRecord(object, nil, metav1.SchemeGroupVersion.WithKind("Any"), "", "", metav1.SchemeGroupVersion.WithResource("any"), "",
			admission.Create, nil, false, &user.DefaultInfo{Name: "rose"})
		if err := rule.Admit(t.Context(), a, nil); err != nil {
			t.Errorf("%T: %v", object, err)
		}
	}
}
