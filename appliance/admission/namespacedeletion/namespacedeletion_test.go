// SPDX-License-Identifier: Apache-2.0

package namespacedeletion_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/namespacedeletion"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func project() *gardencorev1beta1.Project {
	return admissiontest.Project(func(p *gardencorev1beta1.Project) { p.Finalizers = []string{"gardener"} })
}

func TestValidate(t *testing.T) {
	t.Parallel()
	request := admissiontest.Request{Old: admissiontest.ProjectNamespace()}
	ending := admissiontest.ProjectNamespace(func(n *corev1.Namespace) { n.DeletionTimestamp = new(metav1.Now()) })
	other := admissiontest.ProjectNamespace(func(n *corev1.Namespace) { n.Labels = nil })
	admissiontest.Run(t, namespacedeletion.New, map[string]admissiontest.Case{
		"GAC-NS-1 no project":  {Reason: "nobody else deletes it", Request: request},
		"GAC-NS-1 terminating": {Reason: "it is too late", Objects: []kind.Object{project()}, Request: admissiontest.Request{Old: ending}},
		"GAC-NS-1 update":      {Reason: "only deletions matter", Objects: []kind.Object{project()}, Request: admissiontest.Request{Object: admissiontest.ProjectNamespace(), Old: admissiontest.ProjectNamespace()}},
		"GAC-NS-2 project":     {Reason: "the answer names the project", Objects: []kind.Object{project()}, Request: request, Refused: []string{`project "meadow"`, "delete the project instead"}},
		"GAC-REG-2 label":      {Reason: "namespaces of other roles are not asked about", Objects: []kind.Object{project()}, Request: admissiontest.Request{Old: other}},
		"GAC-REG-2 kind":       {Reason: "and other kinds neither", Objects: []kind.Object{project()}, Request: admissiontest.Request{Old: admissiontest.Secret("a")}},
	})
}

func TestEndingProject(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		objects []kind.Object
		refused bool
	}{
		"GAC-NS-3 shoots":    {reason: "shoots remain", objects: []kind.Object{admissiontest.Shoot()}, refused: true},
		"GAC-NS-3 no shoots": {reason: "the project takes its namespace along"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, append(tc.objects, project())...)
			g.Delete("projects", "meadow")
			err := g.Ask(namespacedeletion.New(g.World), admissiontest.Request{Old: admissiontest.ProjectNamespace()})
			if apierrors.IsForbidden(err) != tc.refused || !tc.refused && err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if tc.refused && !strings.Contains(err.Error(), "still has shoots; delete them first: garden-meadow/sprout") {
				t.Errorf("GAC-NS-3: a refusal says which shoots remain, got %v", err)
			}
		})
	}
}

// stale is a garden whose watch cache has not seen any shoot yet.
type stale struct{ kept world.Source }

func (s stale) Get(ctx context.Context, at world.Place, version string) (runtime.Object, error) {
	return s.kept.Get(ctx, at, version)
}

func (s stale) List(ctx context.Context, at world.Place, o metav1.ListOptions) (runtime.Object, error) {
	return s.kept.List(ctx, at, o)
}

func (s stale) Metadata(ctx context.Context, of world.Target, version string) (*metav1.PartialObjectMetadata, error) {
	return s.kept.Metadata(ctx, of, version)
}

func (s stale) Names(ctx context.Context, at world.Place, o metav1.ListOptions) ([]string, error) {
	if at.Resource == "shoots" && o.ResourceVersion != "" {
		return nil, nil
	}
	return s.kept.Names(ctx, at, o)
}

// TestListsPastTheCache deletes the namespace right after a shoot was written to it.
func TestListsPastTheCache(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.Shoot(), project())
	g.Delete("projects", "meadow")
	w := world.From(stale{g.World.Source()}, nil, g.World.Clock)
	names, err := w.Cached().Names(t.Context(), world.Place{Group: gardencorev1beta1.GroupName, Resource: "shoots"})
	if diff := cmp.Diff([]string(nil), names); diff != "" || err != nil {
		t.Fatalf("the cache knows of no shoot, got error %v and names (-want +got):\n%s", err, diff)
	}
	err = g.Ask(namespacedeletion.New(w), admissiontest.Request{Old: admissiontest.ProjectNamespace()})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "garden-meadow/sprout") {
		t.Errorf("GAC-NS-3: shoots are listed from the store, not from the cache: got %v, want Forbidden", err)
	}
}

// hurried is a garden that notes how long its store may take, and gives up.
type hurried struct {
	stale

	limit *time.Duration
}

func (h hurried) Names(ctx context.Context, _ world.Place, _ metav1.ListOptions) ([]string, error) {
	if deadline, ok := ctx.Deadline(); ok {
		*h.limit = deadline.Sub(clock.RealClock{}.Now())
	}
	return nil, context.DeadlineExceeded
}

// TestAnswersInTime_GAC_NS_5 lists shoots for a request that has no limit of its own.
func TestAnswersInTime_GAC_NS_5(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, project())
	g.Delete("projects", "meadow")
	limit := time.Duration(0)
	w := world.From(hurried{stale: stale{g.World.Source()}, limit: &limit}, nil, g.World.Clock)
	if err := g.Ask(namespacedeletion.New(w), admissiontest.Request{Old: admissiontest.ProjectNamespace()}); err == nil {
		t.Error("the namespace is deleted although nobody knows whether it has shoots")
	}
	if limit <= 5*time.Second || limit > 10*time.Second {
		t.Errorf("the store may take %s, want 10s less what was needed before", limit)
	}
}
