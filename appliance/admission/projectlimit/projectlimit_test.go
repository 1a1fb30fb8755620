// SPDX-License-Identifier: Apache-2.0

package projectlimit_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/projectlimit"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

const (
	createdFor = "project.terrarium.garden/created-for"
	robot      = "system:serviceaccount:garden-x:robot"
	// apart is the note of a project whose accounts create for themselves.
	apart = "system:serviceaccounts"
)

// made is a project that somebody has created, or creates. A service account is named as in requests.
func made(name, creator string, person ...string) *gardencorev1beta1.Project {
	p := &gardencorev1beta1.Project{}
	p.Name, p.Spec.Namespace = name, new("garden-"+name)
	p.Spec.CreatedBy = &rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: creator}
	if account, is := strings.CutPrefix(creator, "system:serviceaccount:"); is {
		namespace, name, _ := strings.Cut(account, ":")
		p.Spec.CreatedBy = &rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}
	}
	if len(person) > 0 {
		p.Annotations = map[string]string{createdFor: person[0]}
	}

	return p
}

func TestLimit(t *testing.T) {
	t.Parallel()
	two := []kind.Object{made("x", "rose"), made("y", "rose")}
	robots := []kind.Object{made("x", "rose"), made("a", robot, "rose"), made("b", "system:serviceaccount:garden-a:robot", "rose")}
	teams := []kind.Object{
		made("x", "rose", apart), made("y", "rose", apart),
		made("a", "system:serviceaccount:garden-y:robot", "system:serviceaccounts:garden-y"), made("b", "system:serviceaccount:garden-a:robot", "system:serviceaccounts:garden-y"),
	}
	by := func(user string, p *gardencorev1beta1.Project) admissiontest.Request {
		return admissiontest.Request{User: user, Object: p}
	}
	none := by("rose", made("new", "rose"))
	none.Subresource = "status"
	admissiontest.Run(t, projectlimit.New(2), map[string]admissiontest.Case{
		"second":           {Reason: "two are allowed", Objects: two[:1], Request: by("rose", made("new", "rose"))},
		"third":            {Reason: "a third one is not", Objects: two, Request: by("rose", made("new", "rose")), Refused: []string{"at most 2 are allowed", "exceed-limit"}},
		"of others":        {Reason: "those of others do not count", Objects: two, Request: by("bob", made("new", "bob"))},
		"operator":         {Reason: "who has the permission has no limit", Rights: []string{"rose exceed-limit projects new"}, Objects: two, Request: by("rose", made("new", "rose"))},
		"update":           {Reason: "those that are there can change", Objects: two, Request: admissiontest.Request{User: "rose", Object: made("x", "rose"), Old: made("x", "rose")}},
		"unknown":          {Reason: "there may be too many", Failing: "projects", Request: by("rose", made("new", "rose"))},
		"unknown behind":   {Reason: "a service account may act for somebody", Failing: "projects", Request: admissiontest.Request{User: robot, Object: made("new", robot)}},
		"other kind":       {Reason: "other kinds are not counted", Objects: two, Request: admissiontest.Request{Object: admissiontest.Seed("a")}},
		"status":           {Reason: "a status is none", Objects: two, Request: none},
		"account":          {Reason: "service accounts have as many again", Objects: two, Request: by(robot, made("new", robot))},
		"accounts":         {Reason: "all of a user together", Objects: robots, Request: by(robot, made("new", robot)), Refused: []string{`the service accounts in projects of "rose"`}},
		"account of those": {Reason: "also those in projects that such an account has created", Objects: robots, Request: by("system:serviceaccount:garden-b:robot", made("new", "system:serviceaccount:garden-b:robot")), Refused: []string{`"rose"`}},
		"their creator":    {Reason: "who has not created them by himself", Objects: robots, Request: by("rose", made("new", "rose"))},
		"of many teams":    {Reason: "projects that an automation creates have places of their own", Objects: teams, Request: by(robot, made("new", robot))},
		"of one team":      {Reason: "and as many as all", Objects: teams, Request: by("system:serviceaccount:garden-y:other", made("new", "system:serviceaccount:garden-y:other")), Refused: []string{`"system:serviceaccounts:garden-y"`}},
		"of their creator": {Reason: "who still has created them when the permission is gone", Objects: teams, Request: by("rose", made("new", "rose")), Refused: []string{`"rose" created 2 projects`}},
		"forged":           {Reason: "nobody creates projects for another one", Objects: two, Request: by("rose", made("new", "rose", "bob")), Refused: []string{"at most 2"}},
	})
	admissiontest.Run(t, projectlimit.New(0), map[string]admissiontest.Case{
		"no limit": {Reason: "an operator can do without", Objects: two, Request: by("rose", made("new", "rose"))},
	})
}

// TestNote asks for whom projects count, from their creation on.
func TestNote(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, user, want string
		object, old        *gardencorev1beta1.Project
	}{
		"person":           {reason: "people create for themselves", user: "rose", object: made("new", "rose")},
		"forged":           {reason: "and for nobody else", user: "rose", object: made("new", "rose", "bob")},
		"account":          {reason: "an account creates for the creator of its project", user: robot, object: made("new", robot), want: "rose"},
		"account of those": {reason: "or for whom that one was created", user: "system:serviceaccount:garden-a:robot", object: made("new", "system:serviceaccount:garden-a:robot"), want: "rose"},
		"operators":        {reason: "accounts that operators have made create for themselves", user: "system:serviceaccount:garden:robot", object: made("new", "system:serviceaccount:garden:robot")},
		"no project":       {reason: "and so do those elsewhere", user: "system:serviceaccount:kube-system:robot", object: made("new", "system:serviceaccount:kube-system:robot")},
		"operator":         {reason: "what is created without a limit has accounts of its own", user: "bob", object: made("new", "bob"), want: apart},
		"automation":       {reason: "also by an account", user: "system:serviceaccount:garden-x:free", object: made("new", "system:serviceaccount:garden-x:free"), want: apart},
		"account of team":  {reason: "which create for themselves", user: "system:serviceaccount:garden-y:robot", object: made("new", "system:serviceaccount:garden-y:robot"), want: "system:serviceaccounts:garden-y"},
		"not an operator":  {reason: "nobody claims to have no limit", user: "rose", object: made("new", "rose", apart)},
		"removed":          {reason: "the note stays", user: "rose", object: made("a", robot), old: made("a", robot, "rose"), want: "rose"},
		"changed":          {reason: "as it is", user: "rose", object: made("a", robot, "bob"), old: made("a", robot, "rose"), want: "rose"},
		"added":            {reason: "and none is added later", user: "rose", object: made("x", "rose", "bob"), old: made("x", "rose")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rights := []string{"bob exceed-limit projects new", "system:serviceaccount:garden-x:free exceed-limit projects new"}
			g := admissiontest.New(t, rights, made("x", "rose"), made("y", "bob", apart), made("a", robot, "rose"), made("garden", "rose"), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}})
			r := admissiontest.Request{User: tc.user, Object: tc.object}
			if tc.old != nil {
				r.Old = tc.old
			}
			if err := g.Ask(projectlimit.New(0)(g.World), r); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, tc.object.Annotations[createdFor]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAtOnce has several requests look for the last place.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, made("x", "rose"))
	rule := projectlimit.New(3)(g.World)
	validate, ok := rule.(admission.ValidationInterface)
	if !ok {
		t.Fatalf("%T validates nothing", rule)
	}
	var allowed atomic.Int32
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			err := g.Ask(validate, admissiontest.Request{User: "rose", Object: made(fmt.Sprint("new", i), "rose")})
			switch {
			case err == nil:
				allowed.Add(1)
			case !apierrors.IsForbidden(err):
				t.Errorf("got %v, want a refusal", err)
			}
		})
	}
	all.Wait()
	if n := allowed.Load(); n != 2 {
		t.Errorf("%d requests got a place, and two were left", n)
	}
	dry := admissiontest.Request{User: "bob", DryRun: true, Object: made("dry", "bob")}
	for range 5 {
		if err := g.Ask(rule, dry); err != nil {
			t.Errorf("a dry run takes no place: %v", err)
		}
	}
}

// TestNobodyBehind has a service account of a namespace whose project has gone, with the creator of that.
func TestNobodyBehind(t *testing.T) {
	t.Parallel()
	const left = "system:serviceaccount:garden-left:robot"
	going := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-left", DeletionTimestamp: new(metav1.Now()), Finalizers: []string{"kubernetes"}}}
	request := admissiontest.Request{User: left, Object: made("new", left)}
	refused := []string{`namespace "garden-left" is being deleted`}
	admissiontest.Run(t, projectlimit.New(2), map[string]admissiontest.Case{
		"going":    {Reason: "nobody knows for whom it acts", Objects: []kind.Object{going}, Request: request, Refused: refused},
		"gone":     {Reason: "as long as its token is valid", Request: request, Refused: refused},
		"unknown":  {Reason: "the namespace may go", Failing: "namespaces", Request: request},
		"operator": {Reason: "who has the permission has no limit", Rights: []string{left + " exceed-limit projects new"}, Request: request},
	})
}
