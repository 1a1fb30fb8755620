// SPDX-License-Identifier: Apache-2.0

package ownerlimit_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/ownerlimit"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// ownedBy gives an object some owners.
func ownedBy[T kind.Object](object T, owners int) T {
	var all []metav1.OwnerReference
	for i := range owners {
		all = append(all, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: fmt.Sprint(i), UID: types.UID(fmt.Sprint(i))})
	}
	object.SetOwnerReferences(all)

	return object
}

func TestValidate(t *testing.T) {
	t.Parallel()
	secret := func(owners int) *corev1.Secret {
		return ownedBy(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: "s"}}, owners)
	}
	status := admissiontest.Request{Object: ownedBy(admissiontest.Project(), 21), Old: admissiontest.Project(), Subresource: "status"}
	admissiontest.Run(t, ownerlimit.New, map[string]admissiontest.Case{
		"none":     {Reason: "most objects have no owner", Request: admissiontest.Request{Object: secret(0)}},
		"many":     {Reason: "some have many", Request: admissiontest.Request{Object: secret(20)}},
		"too many": {Reason: "and no object more", Request: admissiontest.Request{Object: secret(21)}, Refused: []string{"metadata.ownerReferences", "21 owners"}},
		"garden":   {Reason: "of whatever kind", Request: admissiontest.Request{Object: ownedBy(admissiontest.Project(), 21)}, Refused: []string{"21 owners"}},
		"added":    {Reason: "also later", Request: admissiontest.Request{Object: secret(21), Old: secret(20)}, Refused: []string{"21 owners"}},
		"more":     {Reason: "one with more does not get others", Request: admissiontest.Request{Object: secret(31), Old: secret(30)}, Refused: []string{"31 owners"}},
		"less":     {Reason: "but can lose some", Request: admissiontest.Request{Object: secret(29), Old: secret(30)}},
		"server":   {Reason: "the server takes owners away by itself", Request: admissiontest.Request{Object: secret(30), User: "system:apiserver"}},
		"status":   {Reason: "a status has none", Request: status},
	})
}
