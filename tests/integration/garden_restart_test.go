// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// written are all objects that the controllers of a garden write, so that a difference tells who has written what.
func (o *operator) written(ctx context.Context) (map[string]runtime.Object, error) {
	all := map[string]runtime.Object{}
	for _, list := range []client.ObjectList{
		&gardencorev1beta1.ProjectList{}, &gardencorev1beta1.ShootList{}, &gardencorev1beta1.SeedList{}, &gardencorev1beta1.CloudProfileList{},
		&gardencorev1beta1.QuotaList{}, &gardencorev1beta1.ControllerRegistrationList{}, &gardencorev1beta1.ControllerDeploymentList{},
		&gardencorev1beta1.ControllerInstallationList{}, &gardensecurityv1alpha1.CredentialsBindingList{},
		&corev1.NamespaceList{}, &corev1.SecretList{}, &corev1.ConfigMapList{}, &corev1.ResourceQuotaList{}, &corev1.ServiceAccountList{},
		&rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{}, &rbacv1.RoleList{}, &rbacv1.RoleBindingList{},
	} {
		if err := o.Client.List(ctx, list); err != nil {
			return nil, err
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object, err := meta.Accessor(item)
			if err != nil {
				return err
			}
			if quota, ok := item.(*corev1.ResourceQuota); ok {
				// Kubernetes writes what is used when it has counted it, which may be some time later.
				quota.Status, quota.ManagedFields, quota.ResourceVersion = corev1.ResourceQuotaStatus{}, nil, ""
			}
			all[fmt.Sprintf("%T %s/%s", item, object.GetNamespace(), object.GetName())] = item
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// settled waits until nothing has been written for a while.
func (o *operator) settled(what string) map[string]runtime.Object {
	o.t.Helper()
	const quiet = 2 * time.Second
	var last map[string]runtime.Object
	since := time.Now()
	harness.Eventually(o.t, what, func(ctx context.Context) error {
		found, err := o.written(ctx)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(last, found); diff != "" {
			last, since = found, time.Now()
			return fmt.Errorf("still writing (-before +now):\n%s", diff)
		}
		return has(time.Since(since) > quiet, "quiet since %s", since)
	})
	return last
}

// TestRestartRepeatsNothing restarts a garden hours later. Its controllers see all objects as new, and write none of them.
func TestRestartRepeatsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := operate(t, harness.WithDataDir(dir), harness.WithConfig(patient))
	o.provider("cloud")
	o.create(partOf("metering"))
	project := o.project("dev", member("ann", "admin"), member("bob", "viewer", "extension:metering"))
	namespace := *project.Spec.Namespace
	o.trial(namespace, 7)
	o.seed("north", "cloud", "north")
	o.ready(o.installation("north", "provider-cloud", "the seed has its extension"))
	shoot := o.shoot(namespace, "a", "cloud", withWorker("trial"))
	harness.Await(t, o.Client, shoot, "the shoot has a seed and an end", func(s *gardencorev1beta1.Shoot) error {
		return has(s.Spec.SeedName != nil && s.Annotations[expirationTimestamp] != "", "annotations %v", s.Annotations)
	})
	harness.Await(t, o.Client, project, "the project is active", func(p *gardencorev1beta1.Project) error {
		return has(p.Status.LastActivityTimestamp != nil, "status %+v", p.Status)
	})
	before := o.settled("the garden comes to rest")
	o.Stop(t)

	// The hours pass when the store is opened, before there are any controllers. The certificate of the server is looked at earlier: if the
	// addresses of the machine have changed, it is issued anew, and one that is issued hours ahead is not valid yet.
	clk := harness.NewClock(t)
	later := harness.WithDatastore(func(*kine.Config) { clk.Step(2 * time.Hour) })
	o = operate(t, harness.WithDataDir(dir), harness.WithConfig(patient), harness.WithClock(clk), later)
	// The queues of all controllers are filled before their caches are in sync, and this comes after them.
	profile := profile("late")
	o.create(profile)
	held(o, profile, "gardener", "the controllers are at work")
	after := o.settled("the garden comes to rest again")
	delete(after, "*v1beta1.CloudProfile /late")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("GCM-ROBUST-1: a restart writes nothing (-before +after):\n%s", diff)
	}
}

// TestDisabledControllers leaves a controller out. All others run.
func TestDisabledControllers(t *testing.T) {
	t.Parallel()
	o := operate(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.Controllers.Disabled = []string{"cloudprofile", "project-activity"}
	}))
	project := o.project("dev")
	quota := limit(*project.Spec.Namespace, "small", nil)
	o.create(profile("cloud"), quota)
	held(o, quota, "gardener", "GCM-PROC-4: other controllers run")
	o.settled("nothing more happens")
	left := profile("cloud")
	o.read(left)
	o.read(project)
	if len(left.Finalizers) > 0 || project.Status.LastActivityTimestamp != nil {
		t.Errorf("GCM-PROC-4: controllers that are left out do nothing, got finalizers %v, activity %v", left.Finalizers, project.Status.LastActivityTimestamp)
	}
}
