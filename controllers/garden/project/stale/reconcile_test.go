// SPDX-License-Identifier: Apache-2.0

package stale_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/project/stale"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const namespace = "garden-dev"

// idle is a project in which nothing has happened since the first day, and its namespace.
func idle() (*gardencorev1beta1.Project, *corev1.Namespace) {
	project := &gardencorev1beta1.Project{
		ObjectMeta: metav1.ObjectMeta{Name: "dev", UID: "uid-1", CreationTimestamp: *stamp(1)},
		Spec:       gardencorev1beta1.ProjectSpec{Namespace: new(namespace)},
	}
	return project, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
}

// world is what the reconciler reads and writes.
func world(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(kinds).WithObjects(objects...).
		WithStatusSubresource(&gardencorev1beta1.Project{}).Build()
}

// pass makes one pass over the project at a time.
func pass(t *testing.T, cached, live client.WithWatch, now time.Time) reconcile.Result {
	t.Helper()
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.SetDefaults()
	r := &stale.Reconciler{Base: kit.Base{Client: cached, Reader: live, Clock: clocktesting.NewFakeClock(now)}, Config: config.Controllers.Project}
	result, err := reconcile.AsReconciler(cached, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "dev"}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestUse(t *testing.T) {
	t.Parallel()
	in := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	bySecret := func(namespace, binding string) *gardencorev1beta1.Shoot {
		return &gardencorev1beta1.Shoot{ObjectMeta: in(namespace, "a"), Spec: gardencorev1beta1.ShootSpec{SecretBindingName: &binding}}
	}
	byCredentials := func(namespace, binding string) *gardencorev1beta1.Shoot {
		return &gardencorev1beta1.Shoot{ObjectMeta: in(namespace, "a"), Spec: gardencorev1beta1.ShootSpec{CredentialsBindingName: &binding}}
	}
	secrets := func(of string, quotas ...corev1.ObjectReference) *gardencorev1beta1.SecretBinding {
		return &gardencorev1beta1.SecretBinding{ObjectMeta: in("garden-other", "b"), SecretRef: corev1.SecretReference{Namespace: of, Name: "s"}, Quotas: quotas}
	}
	credentials := func(kind, of string, quotas ...corev1.ObjectReference) *gardensecurityv1alpha1.CredentialsBinding {
		return &gardensecurityv1alpha1.CredentialsBinding{
			ObjectMeta: in("garden-other", "b"), CredentialsRef: corev1.ObjectReference{Kind: kind, Namespace: of, Name: "s"}, Quotas: quotas,
		}
	}
	here := corev1.ObjectReference{Namespace: namespace, Name: "q"}
	for name, tc := range map[string]struct {
		reason  string
		objects []client.Object
		used    bool
	}{
		"GCM-STALE-4 nothing":            {reason: "an empty namespace is not used"},
		"GCM-STALE-4 shoot":              {reason: "it has a shoot", objects: []client.Object{&gardencorev1beta1.Shoot{ObjectMeta: in(namespace, "a")}}, used: true},
		"GCM-STALE-4 backup":             {reason: "it has a backup", objects: []client.Object{&gardencorev1beta1.BackupEntry{ObjectMeta: in(namespace, "a")}}, used: true},
		"GCM-STALE-4 plant":              {reason: "it has a plant", objects: []client.Object{&gardencorev1beta1.Plant{ObjectMeta: in(namespace, "a")}}, used: true},
		"GCM-STALE-4 foreign":            {reason: "what others have does not count", objects: []client.Object{&gardencorev1beta1.Shoot{ObjectMeta: in("garden-other", "a")}}},
		"GCM-STALE-4 secret":             {reason: "a shoot of another project uses its Secret", objects: []client.Object{secrets(namespace), bySecret("garden-other", "b")}, used: true},
		"GCM-STALE-4 idle secret":        {reason: "its Secret is bound, but no shoot uses it", objects: []client.Object{secrets(namespace)}},
		"GCM-STALE-4 other binding":      {reason: "shoots use another binding", objects: []client.Object{secrets(namespace), bySecret("garden-other", "c")}},
		"GCM-STALE-4 other kind":         {reason: "a binding of the other kind has the same name", objects: []client.Object{secrets(namespace), byCredentials("garden-other", "b")}},
		"GCM-STALE-4 other namespace":    {reason: "a binding in the namespace of the shoot has the same name", objects: []client.Object{secrets(namespace), bySecret("garden-third", "b")}},
		"GCM-STALE-4 quota":              {reason: "a shoot of another project is limited by its Quota", objects: []client.Object{secrets("garden-other", here), bySecret("garden-other", "b")}, used: true},
		"GCM-STALE-4 internal secret":    {reason: "CredentialsBindings count as well", objects: []client.Object{credentials("InternalSecret", namespace), byCredentials("garden-other", "b")}, used: true},
		"GCM-STALE-4 workload identity":  {reason: "of all kinds", objects: []client.Object{credentials("WorkloadIdentity", namespace), byCredentials("garden-other", "b")}, used: true},
		"GCM-STALE-4 quota of new kind":  {reason: "and their Quotas", objects: []client.Object{credentials("Secret", "garden-other", here), byCredentials("garden-other", "b")}, used: true},
		"GCM-STALE-4 credentials others": {reason: "but only of this project", objects: []client.Object{credentials("Secret", "garden-other"), byCredentials("garden-other", "b")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project, home := idle()
			c := world(t, append(tc.objects, project, home)...)
			result := pass(t, c, c, day(200))
			if diff := cmp.Diff(reconcile.Result{RequeueAfter: 12 * time.Hour}, result); diff != "" {
				t.Errorf("GCM-STALE-1: it is asked again (-want +got):\n%s", diff)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(project), project); err != nil {
				t.Fatal(err)
			}
			if used := project.Status.StaleSinceTimestamp == nil; used != tc.used {
				t.Errorf("%s\nused = %t, want %t", tc.reason, used, tc.used)
			}
		})
	}
}

// TestSkip sees that projects in deletion and those without a namespace are not judged.
func TestSkip(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*gardencorev1beta1.Project){
		"GCM-STALE-2 in deletion": func(p *gardencorev1beta1.Project) {
			p.DeletionTimestamp, p.Finalizers = stamp(2), []string{"gardener"}
		},
		"GCM-STALE-2 no namespace yet":    func(p *gardencorev1beta1.Project) { p.Spec.Namespace = nil },
		"GCM-STALE-2 namespace not there": func(p *gardencorev1beta1.Project) { p.Spec.Namespace = new("garden-missing") },
		"GCM-STALE-2 empty namespace":     func(p *gardencorev1beta1.Project) { p.Spec.Namespace = new("") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project, home := idle()
			change(project)
			project.Status.StaleSinceTimestamp = stamp(5)
			c := world(t, project, home)
			pass(t, c, c, day(200))
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(project), project); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(gardencorev1beta1.ProjectStatus{StaleSinceTimestamp: stamp(5)}, project.Status); diff != "" {
				t.Errorf("GCM-STALE-2: nothing is written (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRemove deletes a project whose time has come, unless something has happened that the cache does not show yet.
func TestRemove(t *testing.T) {
	t.Parallel()
	doomed := func() (*gardencorev1beta1.Project, *corev1.Namespace) {
		project, home := idle()
		project.Status.StaleSinceTimestamp, project.Status.StaleAutoDeleteTimestamp = stamp(31), stamp(121)
		return project, home
	}
	for name, tc := range map[string]struct {
		reason string
		// live changes what the server has, compared with the cache.
		live func(*gardencorev1beta1.Project, *corev1.Namespace) []client.Object
		now  time.Time
		want bool
	}{
		"GCM-STALE-6 due":     {reason: "its time has come", now: day(121), want: true},
		"GCM-STALE-6 not due": {reason: "its time has not come", now: day(120)},
		"GCM-STALE-6 shoot": {
			reason: "a shoot was created that the cache does not have yet", now: day(121),
			live: func(*gardencorev1beta1.Project, *corev1.Namespace) []client.Object {
				return []client.Object{&gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}}}
			},
		},
		"GCM-STALE-6 active": {
			reason: "something happened that the cache does not have yet", now: day(121),
			live: func(p *gardencorev1beta1.Project, _ *corev1.Namespace) []client.Object {
				p.Status.LastActivityTimestamp = stamp(121)
				return nil
			},
		},
		"GCM-STALE-6 exempt": {
			reason: "an operator exempted it at the last moment", now: day(121),
			live: func(_ *gardencorev1beta1.Project, n *corev1.Namespace) []client.Object {
				n.Annotations = map[string]string{"project.gardener.cloud/skip-stale-check": "true"}
				return nil
			},
		},
		"GCM-STALE-6 another": {
			reason: "the project was deleted, and another one has its name", now: day(121),
			live: func(p *gardencorev1beta1.Project, _ *corev1.Namespace) []client.Object {
				p.UID = "uid-2"
				return nil
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cached := world(t, objects(doomed())...)
			project, home := doomed()
			var more []client.Object
			if tc.live != nil {
				more = tc.live(project, home)
			}
			live := world(t, append(more, project, home)...)
			// What the reconciler writes goes to the same place as in the product: the server.
			pass(t, split(cached, live), live, tc.now)
			err := live.Get(t.Context(), client.ObjectKeyFromObject(project), project)
			if client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
			if gone := apierrors.IsNotFound(err); gone != tc.want {
				t.Errorf("%s\ndeleted = %t, want %t", tc.reason, gone, tc.want)
			}
			if err == nil && len(project.Annotations) > 0 {
				t.Errorf("%s\nnothing is confirmed, got %v", tc.reason, project.Annotations)
			}
		})
	}
}

func objects(project *gardencorev1beta1.Project, home *corev1.Namespace) []client.Object {
	return []client.Object{project, home}
}

// split reads from one world and deletes and patches in another.
func split(cached, live client.WithWatch) client.WithWatch {
	return interceptor.NewClient(cached, interceptor.Funcs{
		Patch: func(ctx context.Context, _ client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return live.Patch(ctx, object, patch, options...)
		},
		Delete: func(ctx context.Context, _ client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return live.Delete(ctx, object, options...)
		},
	})
}
