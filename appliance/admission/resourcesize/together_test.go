// SPDX-License-Identifier: Apache-2.0

package resourcesize_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/resourcesize"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

const ki = 1 << 10

// secret has so many bytes of data.
func secret(name string, size int) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: name}, Data: map[string][]byte{"key": make([]byte, size-3)},
	}
}

// together limits the Secrets of a namespace to 100 KiB of data.
func together() *gardenconfigv1alpha1.ResourceSizeConfiguration {
	return &gardenconfigv1alpha1.ResourceSizeConfiguration{Limits: []limit{
		{APIGroups: []string{""}, APIVersions: []string{"*"}, Resources: []string{"secrets"}, Together: bytes(100 * ki)},
	}}
}

func TestTogether(t *testing.T) {
	t.Parallel()
	of := func(objects ...*corev1.Secret) []kind.Object {
		all := []kind.Object{admissiontest.ProjectNamespace()}
		for _, o := range objects {
			all = append(all, o)
		}
		return all
	}
	elsewhere := secret("c", 90*ki)
	elsewhere.Namespace = "garden-other"
	many := of(secret("a", 50*ki), secret("b", 30*ki), elsewhere)
	admissiontest.Run(t, resourcesize.New(together()), map[string]admissiontest.Case{
		"GAC-SIZE-3 fits":    {Reason: "there is room", Objects: many, Request: admissiontest.Request{Object: secret("d", 20*ki)}},
		"GAC-SIZE-3 full":    {Reason: "and then there is none", Objects: many, Request: admissiontest.Request{Object: secret("d", 20*ki+1)}, Refused: []string{"102401 bytes of data together", "at most 102400"}},
		"GAC-SIZE-3 small":   {Reason: "small ones are counted, not weighed", Objects: of(secret("a", 200*ki)), Request: admissiontest.Request{Object: secret("d", 16*ki)}},
		"GAC-SIZE-3 grows":   {Reason: "what is there counts as it becomes", Objects: many, Request: admissiontest.Request{Object: secret("b", 51*ki), Old: secret("b", 30*ki)}, Refused: []string{"together"}},
		"GAC-SIZE-3 fits in": {Reason: "and no more as it was", Objects: many, Request: admissiontest.Request{Object: secret("b", 50*ki), Old: secret("b", 30*ki)}},
		"GAC-SIZE-3 shrinks": {Reason: "what is too much can become less", Objects: of(secret("a", 200*ki)), Request: admissiontest.Request{Object: secret("a", 199*ki), Old: secret("a", 200*ki)}},
		"GAC-SIZE-2 others":  {Reason: "only projects have a limit", Request: admissiontest.Request{Object: secret("a", 200*ki)}},
	})
}

// TestTogetherAtOnce asks for several Secrets before the cache has one of them.
func TestTogetherAtOnce(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.ProjectNamespace(), secret("there", 20*ki))
	clock := clocktesting.NewFakePassiveClock(g.World.Clock.Now())
	g.World.Clock = clock
	rule := resourcesize.New(together())(g.World)
	for _, step := range []struct {
		reason  string
		request admissiontest.Request
		later   time.Duration
		refused bool
	}{
		{reason: "a dry run takes nothing", request: admissiontest.Request{Object: secret("z", 80*ki), DryRun: true}},
		{reason: "one fits", request: admissiontest.Request{Object: secret("a", 40*ki)}},
		{reason: "and is judged twice", request: admissiontest.Request{Object: secret("a", 40*ki)}},
		{reason: "another one does not", request: admissiontest.Request{Object: secret("b", 50*ki)}, refused: true},
		{reason: "and leaves nothing behind", request: admissiontest.Request{Object: secret("c", 40*ki)}},
		{reason: "what is there cannot grow either", request: admissiontest.Request{Object: secret("there", 21*ki), Old: secret("there", 20*ki)}, refused: true},
		{reason: "as long as a request may take", request: admissiontest.Request{Object: secret("b", 50*ki)}, later: 64 * time.Second, refused: true},
		{reason: "then what there is counts", request: admissiontest.Request{Object: secret("there", 60*ki), Old: secret("there", 20*ki)}, later: time.Second},
		{reason: "and what it becomes", request: admissiontest.Request{Object: secret("b", 50*ki)}, refused: true},
	} {
		clock.SetTime(clock.Now().Add(step.later))
		err := g.Ask(rule, step.request)
		if (err != nil) != step.refused || err != nil && !strings.Contains(err.Error(), "together") {
			t.Errorf("%s: %v", step.reason, err)
		}
	}
}

// TestManaged applies objects with the names of many managers.
func TestManaged(t *testing.T) {
	t.Parallel()
	fields := `{"f:` + strings.Repeat("x", ki-10) + `":{}}`
	by := func(of *corev1.Secret, managers int) *corev1.Secret {
		for range managers {
			of.ManagedFields = append(of.ManagedFields, metav1.ManagedFieldsEntry{Manager: "m", FieldsV1: metav1.NewFieldsV1(fields)})
		}
		return of
	}
	project := []kind.Object{admissiontest.ProjectNamespace()}
	run := func(c *gardenconfigv1alpha1.ResourceSizeConfiguration, cases map[string]admissiontest.Case) {
		for name, tc := range cases {
			tc.Objects = project
			cases[name] = tc
		}
		admissiontest.Run(t, resourcesize.New(c), cases)
	}
	run(together(), map[string]admissiontest.Case{
		"GAC-SIZE-3 managed":      {Reason: "what the server notes does not count", Request: admissiontest.Request{Object: by(secret("a", ki), 64)}},
		"GAC-SIZE-3 managers":     {Reason: "but clients choose how much that is", Request: admissiontest.Request{Object: by(secret("a", ki), 65)}, Refused: []string{"66560 bytes", "at most 65536"}},
		"GAC-SIZE-3 more of them": {Reason: "also later", Request: admissiontest.Request{Object: by(secret("a", ki), 66), Old: by(secret("a", ki), 65)}, Refused: []string{"managed fields"}},
		"GAC-SIZE-3 of before":    {Reason: "what was too much can stay", Request: admissiontest.Request{Object: by(secret("a", 2*ki), 66), Old: by(secret("a", ki), 66)}},
	})
	large := together()
	large.Limits[0].Size = bytes(100 * ki)
	run(large, map[string]admissiontest.Case{
		"GAC-SIZE-3 as large as the object": {Reason: "a large object has many fields", Request: admissiontest.Request{Object: by(secret("a", ki), 100)}},
	})
}
