// SPDX-License-Identifier: Apache-2.0

package resourcesize_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/resourcesize"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type limit = gardenconfigv1alpha1.ResourceLimit

func bytes(n int) *resource.Quantity { return resource.NewQuantity(int64(n), resource.BinarySI) }

// shoots bounds shoots to a number of bytes.
func shoots(n int) limit {
	return limit{APIGroups: []string{"core.gardener.cloud"}, APIVersions: []string{"v1beta1"}, Resources: []string{"shoots"}, Size: bytes(n)}
}

func size(t *testing.T, object any) int {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return len(raw)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	full := func(s *gardencorev1beta1.Shoot) {
		s.Status.TechnicalID = strings.Repeat("x", 100)
		s.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: strings.Repeat("x", 100)}}
	}
	labelled := func(value string) func(s *gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) { s.Labels = map[string]string{"a": value} }
	}
	held := func(s *gardencorev1beta1.Shoot) { s.Finalizers = []string{"example.org/held"} }
	// What an object weighs without its status.
	raw, err := json.Marshal(admissiontest.Shoot())
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	if err := json.Unmarshal(raw, &content); err != nil {
		t.Fatal(err)
	}
	delete(content, "status")
	bare := size(t, content)
	secret := admissiontest.Secret("big", func(s *corev1.Secret) { s.Data = map[string][]byte{"a": []byte(strings.Repeat("x", 1000))} })
	all := limit{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}, Size: bytes(10)}
	seeds := limit{APIGroups: []string{"core.gardener.cloud"}, APIVersions: []string{"*"}, Resources: []string{"seeds"}, Count: new(int64(1))}
	namespaces := limit{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"*"}, Count: new(int64(1)), Size: bytes(100000)}
	garden := []kind.Object{admissiontest.ProjectNamespace()}
	another := admissiontest.ProjectNamespace(func(n *corev1.Namespace) { n.Name = "another" })
	cases := map[string]struct {
		admissiontest.Case

		limits []limit
	}{
		"GAC-SIZE-1 none":       {admissiontest.Case{Reason: "nothing is bounded by default", Request: admissiontest.Request{Object: admissiontest.Shoot(full)}}, nil},
		"GAC-SIZE-1 other":      {admissiontest.Case{Reason: "a limit counts for what it names", Request: admissiontest.Request{Object: secret}}, []limit{shoots(10)}},
		"GAC-SIZE-1 wildcard":   {admissiontest.Case{Reason: "a star names everything", Request: admissiontest.Request{Object: secret}, Refused: []string{"at most 10"}}, []limit{all}},
		"GAC-SIZE-1 first":      {admissiontest.Case{Reason: "the first match wins", Request: admissiontest.Request{Object: admissiontest.Shoot()}}, []limit{shoots(100000), all}},
		"GAC-SIZE-3 equal":      {admissiontest.Case{Reason: "a limit may be reached", Request: admissiontest.Request{Object: admissiontest.Shoot()}}, []limit{shoots(bare)}},
		"GAC-SIZE-3 status":     {admissiontest.Case{Reason: "what the server writes does not count", Request: admissiontest.Request{Object: admissiontest.Shoot(full)}}, []limit{shoots(bare)}},
		"GAC-SIZE-4 above":      {admissiontest.Case{Reason: "the answer has both sizes", Request: admissiontest.Request{Object: admissiontest.Shoot(full)}, Refused: []string{strconv.Itoa(bare), strconv.Itoa(bare - 1)}}, []limit{shoots(bare - 1)}},
		"GAC-SIZE-4 grows":      {admissiontest.Case{Reason: "updates count as well", Request: admissiontest.Request{Object: admissiontest.Shoot(labelled("xx")), Old: admissiontest.Shoot(labelled("x"))}, Refused: []string{"at most 10"}}, []limit{shoots(10)}},
		"GAC-SIZE-4 same":       {admissiontest.Case{Reason: "what was too large can change", Request: admissiontest.Request{Object: admissiontest.Shoot(labelled("y")), Old: admissiontest.Shoot(labelled("x"))}}, []limit{shoots(10)}},
		"GAC-SIZE-4 shrinks":    {admissiontest.Case{Reason: "and shrink, although not below the limit at once", Request: admissiontest.Request{Object: admissiontest.Shoot(labelled("x")), Old: admissiontest.Shoot(labelled("xx"))}}, []limit{shoots(10)}},
		"GAC-SIZE-4 finalizer":  {admissiontest.Case{Reason: "and go", Request: admissiontest.Request{Object: admissiontest.Shoot(), Old: admissiontest.Shoot(held)}}, []limit{shoots(10)}},
		"GAC-SIZE-4 full":       {admissiontest.Case{Reason: "what the server writes makes no room", Request: admissiontest.Request{Object: admissiontest.Shoot(labelled("xx")), Old: admissiontest.Shoot(labelled("x"), full)}, Refused: []string{"at most 10"}}, []limit{shoots(10)}},
		"GAC-REG-3 subresource": {admissiontest.Case{Reason: "nor are subresources", Request: admissiontest.Request{Object: admissiontest.Shoot(), Old: admissiontest.Shoot(), Subresource: "status"}}, []limit{shoots(10)}},
		"GAC-REG-3 elsewhere":   {admissiontest.Case{Reason: "nor namespaces that are no project's", Objects: []kind.Object{another}, Request: admissiontest.Request{Object: admissiontest.Shoot()}}, []limit{shoots(10)}},
		"GAC-SIZE-8 count":      {admissiontest.Case{Reason: "one is enough", Objects: []kind.Object{admissiontest.Seed("a")}, Request: admissiontest.Request{Object: admissiontest.Seed("b")}, Refused: []string{"already 1 seeds", "at most 1"}}, []limit{seeds}},
		"GAC-SIZE-8 first":      {admissiontest.Case{Reason: "the first one is welcome", Request: admissiontest.Request{Object: admissiontest.Seed("b")}}, []limit{seeds}},
		"GAC-SIZE-8 update":     {admissiontest.Case{Reason: "an update makes none more", Objects: []kind.Object{admissiontest.Seed("a")}, Request: admissiontest.Request{Object: admissiontest.Seed("a"), Old: admissiontest.Seed("a")}}, []limit{seeds}},
		"GAC-SIZE-8 namespaced": {admissiontest.Case{Reason: "objects of namespaces are not counted", Objects: []kind.Object{secret}, Request: admissiontest.Request{Object: admissiontest.Secret("b")}}, []limit{namespaces}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.Objects == nil || tc.Objects[0] != kind.Object(another) {
				tc.Objects = append(tc.Objects, garden...)
			}
			rule := resourcesize.New(&gardenconfigv1alpha1.ResourceSizeConfiguration{Limits: tc.limits})
			admissiontest.Run(t, rule, map[string]admissiontest.Case{"case": tc.Case})
		})
	}
}

// TestOperations asks which operations the rule is about. As it is no webhook, nobody can register it for others: the server
// does not ask it, where a webhook would have to answer that it was registered wrongly.
func TestOperations(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.ProjectNamespace())
	rule := resourcesize.New(&gardenconfigv1alpha1.ResourceSizeConfiguration{Limits: []limit{shoots(10)}})(g.World)
	want := map[admission.Operation]bool{
		admission.Create: true, admission.Update: true, admission.Delete: false, admission.Connect: false,
	}
	got := map[admission.Operation]bool{}
	for operation := range want {
		got[operation] = rule.Handles(operation)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GAC-SIZE-7: Handles(...) of each operation (-want +got):\n%s", diff)
	}
}

// TestCountAtOnce asks for several objects before one of them is written, as requests do that come at once.
func TestCountAtOnce(t *testing.T) {
	t.Parallel()
	c := &gardenconfigv1alpha1.ResourceSizeConfiguration{Limits: []limit{
		{APIGroups: []string{"core.gardener.cloud"}, APIVersions: []string{"*"}, Resources: []string{"seeds"}, Count: new(int64(2))},
	}}
	g := admissiontest.New(t, nil, admissiontest.Seed("a"))
	rule := resourcesize.New(c)(g.World)
	for _, step := range []struct {
		reason  string
		request admissiontest.Request
		written bool
		refused string
	}{
		{reason: "a dry run takes no place", request: admissiontest.Request{Object: admissiontest.Seed("z"), DryRun: true}},
		{reason: "there is one place", request: admissiontest.Request{Object: admissiontest.Seed("b")}},
		{reason: "one request may be judged twice", request: admissiontest.Request{Object: admissiontest.Seed("b")}},
		{reason: "the place is taken", request: admissiontest.Request{Object: admissiontest.Seed("c")}, refused: "already 1 seeds, 1 more have just been requested, and at most 2"},
		{reason: "who was refused takes no place", request: admissiontest.Request{Object: admissiontest.Seed("b")}, written: true},
		{reason: "what is written counts once", request: admissiontest.Request{Object: admissiontest.Seed("c")}, refused: "already 2 seeds, and at most 2"},
		{reason: "what goes makes a place", request: admissiontest.Request{Old: admissiontest.Seed("b"), Many: true}},
	} {
		var got string
		if err := g.Ask(rule, step.request); err != nil {
			got = err.Error()
		}
		if (step.refused == "") != (got == "") || !strings.Contains(got, step.refused) {
			t.Errorf("GAC-SIZE-8: %s: the answer is %q, want %q in it", step.reason, got, step.refused)
		}
		if step.written {
			g.Add(step.request.Object)
		}
	}
	g = admissiontest.New(t, nil, admissiontest.Seed("a"))
	c.Limits[0].Size = bytes(size(t, admissiontest.Seed("a")) + 10)
	large := admissiontest.Seed("large", func(s *gardencorev1beta1.Seed) { s.Labels = map[string]string{"a": strings.Repeat("x", 63)} })
	rule = resourcesize.New(c)(g.World)
	if err := g.Ask(rule, admissiontest.Request{Object: large}); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("GAC-SIZE-4: it is too large: %v", err)
	}
	for _, request := range []admissiontest.Request{{Object: admissiontest.Seed("b")}, {Old: admissiontest.Seed("b"), Many: true}, {Object: admissiontest.Seed("c")}} {
		if err := g.Ask(rule, request); err != nil {
			t.Errorf("GAC-SIZE-8: the place of what has come and gone is free: %v", err)
		}
	}
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	subject := func(kind, namespace, name string) rbacv1.Subject {
		return rbacv1.Subject{Kind: kind, Namespace: namespace, Name: name}
	}
	const robot = "system:serviceaccount:ci:robot"
	for name, tc := range map[string]struct {
		reason  string
		subject rbacv1.Subject
		user    string
		group   string
		free    bool
	}{
		"GAC-SIZE-5 robot":         {"a service account by its name", subject("ServiceAccount", "ci", "robot"), robot, "g", true},
		"GAC-SIZE-5 robots":        {"all of a namespace", subject("ServiceAccount", "ci", "*"), robot, "g", true},
		"GAC-SIZE-5 other robots":  {"and no others", subject("ServiceAccount", "cd", "*"), robot, "g", false},
		"GAC-SIZE-5 robot user":    {"a service account is no user", subject("User", "", "*"), robot, "g", false},
		"GAC-SIZE-5 robot group":   {"nor in a group", subject("Group", "", "g"), robot, "g", false},
		"GAC-SIZE-5 user":          {"a user by its name", subject("User", "", "rose"), "rose", "g", true},
		"GAC-SIZE-5 users":         {"every user", subject("User", "", "*"), "rose", "g", true},
		"GAC-SIZE-5 other user":    {"another user is another", subject("User", "", "bob"), "rose", "g", false},
		"GAC-SIZE-6 group":         {"gardenlets write what is near the limit", subject("Group", "", "gardener.cloud:system:seeds"), "x", "gardener.cloud:system:seeds", true},
		"GAC-SIZE-5 groups":        {"every group", subject("Group", "", "*"), "rose", "g", true},
		"GAC-SIZE-5 other group":   {"another group is another", subject("Group", "", "h"), "rose", "g", false},
		"GAC-SIZE-5 user as robot": {"a user is no service account", subject("ServiceAccount", "ci", "*"), "rose", "g", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, admissiontest.ProjectNamespace())
			rule := resourcesize.New(&gardenconfigv1alpha1.ResourceSizeConfiguration{
				Limits: []limit{shoots(10)}, UnrestrictedSubjects: []rbacv1.Subject{tc.subject},
			})
			err := g.Ask(rule(g.World), admissiontest.Request{Object: admissiontest.Shoot(), User: tc.user, Groups: []string{tc.group}})
			if (err == nil) != tc.free {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

func TestLogMode(t *testing.T) {
	t.Parallel()
	var lines []string
	g := admissiontest.New(t, nil, admissiontest.ProjectNamespace())
	g.World.Log = funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	rule := resourcesize.New(&gardenconfigv1alpha1.ResourceSizeConfiguration{
		Limits: []limit{shoots(10)}, OperationMode: gardenconfigv1alpha1.ResourceSizeModeLog,
	})
	if err := g.Ask(rule(g.World), admissiontest.Request{Object: admissiontest.Shoot()}); err != nil {
		t.Errorf("GAC-SIZE-4: a request above a limit passes: %v", err)
	}
	if len(lines) != 1 || !strings.Contains(lines[0], "at most 10") || !strings.Contains(lines[0], `"user"="rose"`) {
		t.Errorf("GAC-SIZE-4: and is noted: %q", lines)
	}
}
