// SPDX-License-Identifier: Apache-2.0

package monitoring_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/garden/monitoring"
)

func credentials(name, operation string, labels ...string) corev1.Secret {
	s := corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "garden", Name: name, Labels: map[string]string{"gardener.cloud/role": "global-monitoring"},
	}}
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		s.Labels[key] = value
	}
	if operation != "" {
		s.Annotations = map[string]string{"gardener.cloud/operation": operation}
	}
	return s
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const rotate = "rotate-observability-credentials"
	own := credentials("observability-ingress", "", "managed-by=terrarium")
	mine := credentials("mine", "")
	going := credentials("mine", "")
	going.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	cases := map[string]struct {
		reason string
		given  []corev1.Secret
		create bool
		delete string
		rotate string
		tell   string
		err    string
	}{
		"None":          {reason: "OPER-FLOW-19: a garden makes its own.", create: true},
		"Own":           {reason: "One is enough.", given: []corev1.Secret{own}},
		"SelfMade":      {reason: "OPER-FLOW-19: those of an operator are respected.", given: []corev1.Secret{mine}},
		"Both":          {reason: "The operator's take the place of the garden's.", given: []corev1.Secret{own, mine}, delete: "observability-ingress"},
		"OnTheWay":      {reason: "Those that are going away no longer count.", given: []corev1.Secret{own, going}},
		"Purpose":       {reason: "OPER-FLOW-19: those with a purpose are others.", given: []corev1.Secret{credentials("x", "", "gardener.cloud/purpose=remote-write")}, create: true},
		"SameName":      {reason: "A name alone makes nothing the garden's.", given: []corev1.Secret{credentials("observability-ingress", ""), own}, delete: "observability-ingress"},
		"TooMany":       {reason: "OPER-FLOW-19: nobody knows which one is meant.", given: []corev1.Secret{mine, credentials("other", "")}, err: "secrets mine, other in namespace"},
		"Rotate":        {reason: "OPER-ROT-1: an operator asks for it.", given: []corev1.Secret{credentials("mine", rotate)}, rotate: "mine"},
		"Announce":      {reason: "OPER-ROT-8: the seeds have to be told.", given: []corev1.Secret{credentials("mine", "reconcile")}, tell: "mine"},
		"SomethingElse": {reason: "Other operations mean nothing here.", given: []corev1.Secret{credentials("mine", "maintain")}},
	}
	name := func(s *corev1.Secret) string {
		if s == nil {
			return ""
		}
		return s.Name
	}
	for label, tc := range cases {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			plan, err := monitoring.Decide(tc.given)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("%s\nDecide(...): got %v, want an error with %q", tc.reason, err, tc.err)
			}
			got := []string{name(plan.Delete), name(plan.Rotate), name(plan.Announce)}
			if diff := cmp.Diff([]string{tc.delete, tc.rotate, tc.tell}, got); diff != "" || plan.Create != tc.create {
				t.Errorf("%s\nDecide(...): create %t, and to delete, rotate, announce (-want +got):\n%s", tc.reason, plan.Create, diff)
			}
		})
	}
}
