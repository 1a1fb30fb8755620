// SPDX-License-Identifier: Apache-2.0

package resourcesize_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/outcome"
	"github.com/terrarium-garden/terrarium/appliance/admission/resourcesize"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

const ki = 1 << 10

// secret has a size in the store, most of which is data.
func secret(name string, size int) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: name}}
	for length := 1; s.Size() != size; length += size - s.Size() {
		s.Data = map[string][]byte{"key": make([]byte, length)}
	}
	return s
}

// limited limits the Secrets of a namespace to 100 KiB.
func limited() *gardenconfigv1alpha1.ResourceSizeConfiguration {
	return &gardenconfigv1alpha1.ResourceSizeConfiguration{Limits: []limit{
		{APIGroups: []string{""}, APIVersions: []string{"*"}, Resources: []string{"secrets"}, TotalSize: bytes(100 * ki)},
	}}
}

func TestTotalSize(t *testing.T) {
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
	long := func(o *corev1.Secret, length int) *corev1.Secret {
		o.Labels = map[string]string{"label": strings.Repeat("x", length)}
		return o
	}
	held, typed := secret("d", ki), secret("d", ki)
	for i := range ki {
		held.Finalizers = append(held.Finalizers, fmt.Sprintf("example.org/%0100d", i))
	}
	typed.Type = corev1.SecretType(strings.Repeat("x", 100*ki))
	admissiontest.Run(t, resourcesize.New(limited()), map[string]admissiontest.Case{
		"GAC-SIZE-3 fits":             {Reason: "there is room", Objects: many, Request: admissiontest.Request{Object: secret("d", 20*ki)}},
		"GAC-SIZE-3 full":             {Reason: "and then there is none", Objects: many, Request: admissiontest.Request{Object: secret("d", 20*ki+1)}, Refused: []string{"102401 bytes in total", "at most 102400"}},
		"GAC-SIZE-3 small":            {Reason: "small ones are counted, not weighed", Objects: of(secret("a", 200*ki)), Request: admissiontest.Request{Object: secret("d", 16*ki)}},
		"GAC-SIZE-3 not small":        {Reason: "and no others", Objects: of(secret("a", 200*ki)), Request: admissiontest.Request{Object: secret("d", 16*ki+1)}, Refused: []string{"in total"}},
		"GAC-SIZE-3 grows":            {Reason: "what is there counts as it becomes", Objects: many, Request: admissiontest.Request{Object: secret("b", 51*ki), Old: secret("b", 30*ki)}, Refused: []string{"in total"}},
		"GAC-SIZE-3 fits in":          {Reason: "and no more as it was", Objects: many, Request: admissiontest.Request{Object: secret("b", 50*ki), Old: secret("b", 30*ki)}},
		"GAC-SIZE-3 shrinks":          {Reason: "what is too much can become less", Objects: of(secret("a", 200*ki)), Request: admissiontest.Request{Object: secret("a", 199*ki), Old: secret("a", 200*ki)}},
		"GAC-SIZE-3 labels":           {Reason: "labels are no way around the limit", Request: admissiontest.Request{Object: long(secret("d", ki), 1024*ki)}, Objects: of(), Refused: []string{"in total"}},
		"GAC-SIZE-3 labels there":     {Reason: "those that are there count as well", Objects: of(long(secret("a", ki), 90*ki)), Request: admissiontest.Request{Object: secret("d", 20*ki)}, Refused: []string{"in total"}},
		"GAC-SIZE-3 labels grow":      {Reason: "and those that come", Objects: of(), Request: admissiontest.Request{Object: long(secret("d", 20*ki), 1024*ki), Old: secret("d", 21*ki)}, Refused: []string{"in total"}},
		"GAC-SIZE-3 labels for data":  {Reason: "data may take their place", Objects: of(long(secret("a", ki), 200*ki)), Request: admissiontest.Request{Object: secret("a", 199*ki), Old: long(secret("a", ki), 200*ki)}},
		"GAC-SIZE-3 finalizers":       {Reason: "so do finalizers", Objects: of(), Request: admissiontest.Request{Object: held}, Refused: []string{"in total"}},
		"GAC-SIZE-3 type":             {Reason: "and a long type", Objects: of(), Request: admissiontest.Request{Object: typed}, Refused: []string{"in total"}},
		"GAC-SIZE-3 noted by servers": {Reason: "managed fields have their own limit", Objects: of(), Request: admissiontest.Request{Object: by(secret("d", 90*ki), 60)}},
		"GAC-SIZE-2 others":           {Reason: "only projects have a limit", Request: admissiontest.Request{Object: secret("a", 200*ki)}},
	})
}

// TestTotalSizeAtOnce asks for several Secrets before the cache has one of them.
func TestTotalSizeAtOnce(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.ProjectNamespace(), secret("there", 20*ki))
	clock, ok := g.World.Clock.(*clocktesting.FakePassiveClock)
	if !ok {
		t.Fatalf("%T cannot be set", g.World.Clock)
	}
	rule := resourcesize.New(limited())(g.World)
	written, refused, unknown := outcome.Written, outcome.Refused, outcome.Unknown
	for _, step := range []struct {
		reason  string
		request admissiontest.Request
		later   time.Duration
		// was is what becomes of the request that the plugin has allowed; it remains on its way without.
		was     *outcome.Outcome
		refused bool
	}{
		{reason: "a dry run takes nothing", request: admissiontest.Request{Object: secret("z", 80*ki), DryRun: true}},
		{reason: "what another plugin refuses neither", request: admissiontest.Request{Object: secret("y", 80*ki)}, was: &refused},
		{reason: "one fits", request: admissiontest.Request{Object: secret("a", 40*ki)}},
		{reason: "and is judged twice", request: admissiontest.Request{Object: secret("a", 40*ki)}, was: &written},
		{reason: "another one does not", request: admissiontest.Request{Object: secret("b", 50*ki)}, refused: true},
		{reason: "not even in a dry run", request: admissiontest.Request{Object: secret("b", 50*ki), DryRun: true}, refused: true},
		{reason: "and leaves nothing behind", request: admissiontest.Request{Object: secret("c", 40*ki)}, was: &unknown},
		{reason: "what is there cannot grow either", request: admissiontest.Request{Object: secret("there", 21*ki), Old: secret("there", 20*ki)}, refused: true},
		{reason: "what is deleted leaves room", request: admissiontest.Request{Old: secret("c", 40*ki), Many: true}},
		{reason: "at once", request: admissiontest.Request{Object: secret("d", 40*ki)}, was: &written},
		{reason: "a trial deletes nothing", request: admissiontest.Request{Old: secret("d", 40*ki), DryRun: true}},
		{reason: "of any", request: admissiontest.Request{Object: secret("b", 40*ki)}, refused: true},
		{reason: "as long as a request may take", request: admissiontest.Request{Object: secret("b", 50*ki)}, later: 64 * time.Second, refused: true},
		{reason: "then what there is counts", request: admissiontest.Request{Object: secret("there", 60*ki), Old: secret("there", 20*ki)}, later: time.Second},
		{reason: "and what it becomes", request: admissiontest.Request{Object: secret("b", 50*ki)}, refused: true},
	} {
		clock.SetTime(clock.Now().Add(step.later))
		ctx, request := outcome.Follow(t.Context())
		err := g.AskIn(ctx, rule, step.request)
		if (err != nil) != step.refused || err != nil && !strings.Contains(err.Error(), "in total") {
			t.Errorf("%s: %v", step.reason, err)
		}
		switch {
		case err != nil:
			request.End(refused)
		case step.was != nil:
			request.End(*step.was)
		}
	}
}

// by is a Secret that was applied with so many names of managers, each of which has 1 KiB of managed fields.
func by(of *corev1.Secret, managers int) *corev1.Secret {
	const weight, names = 256, "mUpdatev1FieldsV1status"
	fields := `{"f:` + strings.Repeat("x", ki-weight-len(names)-9) + `":{}}`
	for range managers {
		of.ManagedFields = append(of.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: "m", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1", Subresource: "status", FieldsV1: metav1.NewFieldsV1(fields),
		})
	}
	return of
}

// TestManaged applies objects with the names of many managers.
func TestManaged(t *testing.T) {
	t.Parallel()
	project := []kind.Object{admissiontest.ProjectNamespace()}
	empty := secret("a", ki)
	for range ki {
		empty.ManagedFields = append(empty.ManagedFields, metav1.ManagedFieldsEntry{})
	}
	full := admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) {
		s.Status.TechnicalID, s.ManagedFields = strings.Repeat("x", 100*ki), by(&corev1.Secret{}, 100).ManagedFields
	})
	cases := map[string]admissiontest.Case{
		"GAC-SIZE-3 managed":              {Reason: "what the server notes does not count", Request: admissiontest.Request{Object: by(secret("a", ki), 64)}},
		"GAC-SIZE-3 managers":             {Reason: "but clients choose how much that is", Request: admissiontest.Request{Object: by(secret("a", ki), 65)}, Refused: []string{"66560 bytes", "at most 65536"}},
		"GAC-SIZE-3 more of them":         {Reason: "also later", Request: admissiontest.Request{Object: by(secret("a", ki), 66), Old: by(secret("a", ki), 65)}, Refused: []string{"managed fields"}},
		"GAC-SIZE-3 of before":            {Reason: "what was too much can stay", Request: admissiontest.Request{Object: by(secret("a", 2*ki), 66), Old: by(secret("a", ki), 66)}},
		"GAC-SIZE-3 empty entries":        {Reason: "an entry takes more than its texts", Request: admissiontest.Request{Object: empty}, Refused: []string{"262144 bytes"}},
		"GAC-SIZE-3 as large":             {Reason: "a large object has many fields", Request: admissiontest.Request{Object: by(secret("a", 90*ki), 90)}},
		"GAC-SIZE-3 larger":               {Reason: "but has no others", Request: admissiontest.Request{Object: by(secret("a", 89*ki), 90)}, Refused: []string{"92160 bytes", "at most 91136"}},
		"GAC-SIZE-3 fields of the status": {Reason: "those of its status are fields", Request: admissiontest.Request{Object: full}},
	}
	for name, tc := range cases {
		tc.Objects = project
		cases[name] = tc
	}
	c := limited()
	c.Limits[0].Size = bytes(300 * ki)
	c.Limits = append(c.Limits, shoots(300*ki))
	admissiontest.Run(t, resourcesize.New(c), cases)
}
