// SPDX-License-Identifier: Apache-2.0

package updaterestriction_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/updaterestriction"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	const collector, internal = "system:serviceaccount:kube-system:generic-garbage-collector", "system:serviceaccount:kube-system:gardener-internal"
	free, kept := admissiontest.Secret("ca"), admissiontest.Secret("ca", func(s *corev1.Secret) {
		s.Labels = map[string]string{"gardener.cloud/update-restriction": "true"}
	})
	config := admissiontest.ConfigMap("ca", "a", "b")
	config.Labels = kept.Labels
	refused := []string{"gardener.cloud/update-restriction=true"}
	admissiontest.Run(t, updaterestriction.New, map[string]admissiontest.Case{
		"GAC-UPD-1 free":             {Reason: "objects without the label are anybody's", Request: admissiontest.Request{Object: free, Old: free}},
		"GAC-UPD-1 create":           {Reason: "nobody makes such an object", Request: admissiontest.Request{Object: kept}, Refused: refused},
		"GAC-UPD-1 update":           {Reason: "nor changes it", Request: admissiontest.Request{Object: config, Old: config}, Refused: refused},
		"GAC-UPD-1 unlabel":          {Reason: "taking the label away is a change", Request: admissiontest.Request{Object: free, Old: kept}, Refused: refused},
		"GAC-UPD-1 delete":           {Reason: "nor deletes it", Request: admissiontest.Request{Old: kept}, Refused: refused},
		"GAC-UPD-1 gardenlet":        {Reason: "but gardenlets do", Request: admissiontest.Request{Object: kept, Old: kept, User: "gardener.cloud:system:seed:a", Groups: []string{"gardener.cloud:system:seeds"}}},
		"GAC-UPD-1 self-hosted":      {Reason: "those of self-hosted shoots too", Request: admissiontest.Request{Old: kept, Groups: []string{"gardener.cloud:system:shoots"}}},
		"GAC-UPD-1 collector":        {Reason: "garbage is collected", Request: admissiontest.Request{Old: kept, User: collector}},
		"GAC-UPD-1 collector writes": {Reason: "and not written", Request: admissiontest.Request{Object: kept, Old: kept, User: collector}, Refused: refused},
		"GAC-UPD-1 internal":         {Reason: "the garden rotates", Request: admissiontest.Request{Object: kept, Old: kept, User: internal}},
		"GAC-UPD-1 internal deletes": {Reason: "and does not delete", Request: admissiontest.Request{Old: kept, User: internal}, Refused: refused},
		"GAC-UPD-1 server":           {Reason: "the loops of the server act as the server", Request: admissiontest.Request{Old: kept, User: "system:apiserver"}},
		"GAC-UPD-1 other kinds":      {Reason: "other kinds have no such label", Request: admissiontest.Request{Old: admissiontest.ProjectNamespace(func(n *corev1.Namespace) { n.Labels = kept.Labels })}},
	})
}

// TestMessage shows what the user reads who would change an object that is not for users in full.
func TestMessage(t *testing.T) {
	t.Parallel()
	kept := admissiontest.Secret("ca", func(s *corev1.Secret) { s.Labels = map[string]string{"gardener.cloud/update-restriction": "true"} })
	g := admissiontest.New(t, nil)
	err := g.Ask(updaterestriction.New(g.World), admissiontest.Request{Object: kept})
	want := `secrets "ca" is forbidden: it has the label gardener.cloud/update-restriction=true, so only gardenlets may write it; change what it is made from instead`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}
