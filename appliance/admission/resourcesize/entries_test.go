// SPDX-License-Identifier: Apache-2.0

package resourcesize_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/resourcesize"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// TestEntries has objects with many tiny keys, which take more of the memory than of the store.
func TestEntries(t *testing.T) {
	t.Parallel()
	keys := func(n int) map[string]string {
		all := map[string]string{}
		for i := range n {
			all[fmt.Sprintf("k%05d", i)] = ""
		}
		return all
	}
	config := func(n int) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: admissiontest.Secret("c").ObjectMeta, Data: keys(n)}
	}
	labelled := func(n int) *gardencorev1beta1.Shoot {
		return admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) { s.Labels = keys(n) })
	}
	wide := func(name string, n int) *corev1.Secret {
		s := admissiontest.Secret(name)
		s.Data = map[string][]byte{}
		for key := range keys(n) {
			s.Data[key] = nil
		}
		return s
	}
	binary := config(60)
	binary.BinaryData = map[string][]byte{}
	for key := range keys(60) {
		binary.BinaryData["b"+key] = nil
	}
	limits := gardenconfigv1alpha1.ResourceSizeConfiguration{Limits: append(limited().Limits,
		limit{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}, Size: bytes(size(t, config(100)) + 50*12)},
		shoots(size(t, labelled(100))+50*12),
	)}
	full := []kind.Object{admissiontest.ProjectNamespace(), wide("a", 500), wide("b", 500)}
	counts := []string{"each key after the first 100 counts as 96 bytes more"}
	for name, tc := range map[string]admissiontest.Case{
		"a hundred":          {Reason: "keys of usual objects count as their bytes", Request: admissiontest.Request{Object: config(100)}},
		"more":               {Reason: "others take memory beside", Request: admissiontest.Request{Object: config(110)}, Refused: counts},
		"binary":             {Reason: "wherever they are", Request: admissiontest.Request{Object: binary}, Refused: counts},
		"labels":             {Reason: "as labels, too", Request: admissiontest.Request{Object: labelled(110)}, Refused: counts},
		"as before":          {Reason: "an object from before the rule can change", Request: admissiontest.Request{Object: config(110), Old: config(110)}},
		"fewer":              {Reason: "and lose keys", Request: admissiontest.Request{Object: config(109), Old: config(110)}},
		"more than before":   {Reason: "and get no more", Request: admissiontest.Request{Object: config(111), Old: config(110)}, Refused: counts},
		"small Secret":       {Reason: "a small Secret is always allowed", Objects: full, Request: admissiontest.Request{Object: wide("c", 150)}},
		"wide Secret":        {Reason: "one with many keys is not small", Objects: full, Request: admissiontest.Request{Object: wide("c", 500)}, Refused: []string{"in total"}},
		"first wide Secrets": {Reason: "but allowed while there is room", Objects: full[:2], Request: admissiontest.Request{Object: wide("c", 500)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.Objects == nil {
				tc.Objects = full[:1]
			}
			admissiontest.Run(t, resourcesize.New(&limits), map[string]admissiontest.Case{"case": tc})
		})
	}
}
