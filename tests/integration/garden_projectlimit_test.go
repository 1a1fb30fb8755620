// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// flood creates projects at once, and returns the names of those that were allowed.
func (o *operator) flood(who client.Client, prefix string, projects int) (made []string) {
	o.t.Helper()
	var mutex sync.Mutex
	var all sync.WaitGroup
	for i := range projects {
		all.Go(func() {
			p := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(prefix, i)}}
			err := who.Create(o.t.Context(), p)
			if err != nil && !apierrors.IsForbidden(err) {
				o.t.Errorf("create project %q: %v", p.Name, err)
			}
			mutex.Lock()
			defer mutex.Unlock()
			if err == nil {
				made = append(made, p.Name)
			}
		})
	}
	all.Wait()
	slices.Sort(made)

	return made
}

// TestProjectsOfAUser floods a garden with projects, as a user and as accounts in his projects.
func TestProjectsOfAUser(t *testing.T) {
	t.Parallel()
	const most = 3
	o := operate(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) { c.Projects.MaxPerUser = new(most) }))
	mallory := o.as("mallory")
	own := o.flood(mallory, "m", 12)
	if len(own) != most {
		t.Fatalf("a user creates %d projects, however many are requested at once: got %q", most, own)
	}
	first := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: own[0]}}
	first = o.phase(first, gardencorev1beta1.ProjectPhaseReady)
	account := func(p *gardencorev1beta1.Project) client.Client {
		return o.as("system:serviceaccount:"+*p.Spec.Namespace+":robot", "system:serviceaccounts")
	}
	robots := o.flood(account(first), "r", 12)
	if len(robots) != most {
		t.Fatalf("the accounts of a project create as many: got %q", robots)
	}
	second := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: robots[0]}}
	second = o.phase(second, gardencorev1beta1.ProjectPhaseReady)
	if more := o.flood(account(second), "s", 4); len(more) > 0 {
		t.Errorf("and the accounts of those none: got %q", more)
	}

	o.confirm(first)
	o.gone(first, "a project goes")
	if more := o.flood(mallory, "n", 4); len(more) != 1 {
		t.Errorf("one that is gone leaves a place: got %q", more)
	}
	if more := o.flood(account(second), "t", 4); len(more) > 0 {
		t.Errorf("but none to accounts, whose projects are there: got %q", more)
	}

	teams := o.flood(o.Client, "o", most+2)
	if len(teams) != most+2 {
		t.Fatalf("administrators have no limit: got %q", teams)
	}
	for i, name := range teams[:2] {
		team := o.phase(&gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: name}}, gardencorev1beta1.ProjectPhaseReady)
		if more := o.flood(account(team), fmt.Sprint("u", i, "-"), most+1); len(more) != most {
			t.Errorf("the accounts of each of their projects create as many as those of a user: got %q", more)
		}
	}
	if more := o.flood(o.as("rose"), "p", 1); len(more) != 1 {
		t.Errorf("nor do the projects of others count: got %q", more)
	}
}

// TestOwnersAreBounded gives objects more owners than the garbage collector should have to look for.
func TestOwnersAreBounded(t *testing.T) {
	t.Parallel()
	o := operate(t)
	namespace := *o.project("own").Spec.Namespace
	owned := func(name string, owners int) metav1.ObjectMeta {
		m := metav1.ObjectMeta{Namespace: namespace, Name: name}
		for i := range owners {
			m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: fmt.Sprint(i), UID: types.UID(fmt.Sprint(name, i))})
		}
		return m
	}
	for _, object := range []client.Object{
		&corev1.Secret{ObjectMeta: owned("many", 4000)},
		&gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: owned("many", 21), Spec: gardensecurityv1alpha1.WorkloadIdentitySpec{
			Audiences: []string{"somebody"}, TargetSystem: gardensecurityv1alpha1.TargetSystem{Type: "local"},
		}},
	} {
		refusedWith(t, o.Client.Create(t.Context(), object), "owners, and at most 20 are allowed", fmt.Sprintf("a %T has too many owners", object))
	}
	secret := &corev1.Secret{ObjectMeta: owned("few", 20)}
	o.create(secret)
	o.gone(secret, "an object whose owners do not exist is deleted")
}

// TestDataOfAProject fills a project with large objects, which are in the memory of the server (GAC-SIZE-6).
func TestDataOfAProject(t *testing.T) {
	t.Parallel()
	o := operate(t)
	namespace := *o.project("data", member("mallory", "admin")).Spec.Namespace
	o.allowed(person("mallory"), authorizationv1.ResourceAttributes{Verb: "create", Resource: "secrets", Namespace: namespace})
	mallory := o.as("mallory")
	// A Secret of 1 MiB has metadata, too.
	const secrets, room = 48, 32
	content := make([]byte, 1<<20-1<<10)
	large := func(n int) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: named(namespace, fmt.Sprint("s", n)), Data: map[string][]byte{"x": content}}
	}
	made := make([]bool, secrets)
	var all errgroup.Group
	all.SetLimit(4)
	for n := range secrets {
		all.Go(func() error {
			err := mallory.Create(t.Context(), large(n))
			if made[n] = err == nil; !made[n] {
				refusedWith(t, err, "bytes in total", "there is no room for another one")
			}
			return nil
		})
	}
	_ = all.Wait()
	if diff := cmp.Diff(room, strings.Count(fmt.Sprint(made), "true")); diff != "" {
		t.Fatalf("Secrets of 1 MiB for which there is room (-want +got):\n%s", diff)
	}
	labels := map[string]string{}
	for i := range 1000 {
		labels[fmt.Sprint("label-", i)] = strings.Repeat("x", 60)
	}
	labelled := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "labelled", Labels: labels}}
	refusedWith(t, mallory.Create(t.Context(), labelled), "bytes in total", "labels are no way around it")
	if err := mallory.Delete(t.Context(), large(slices.Index(made, true))); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "a Secret that is gone leaves room", func(ctx context.Context) error { return mallory.Create(ctx, large(secrets)) })
	if err := mallory.Create(t.Context(), &corev1.Secret{ObjectMeta: named(namespace, "small"), Data: map[string][]byte{"x": content[:16_000]}}); err != nil {
		t.Errorf("small ones are always allowed: %v", err)
	}
	config := &corev1.ConfigMap{ObjectMeta: named(namespace, "large"), BinaryData: map[string][]byte{"x": content[:128<<10]}}
	refusedWith(t, mallory.Create(t.Context(), config), "at most 131072 are allowed", "a ConfigMap is not that large")
}
