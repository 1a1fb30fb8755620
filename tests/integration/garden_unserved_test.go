// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestUnserved asks a whole server for what nobody acts upon.
func TestUnserved(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	namespace := o.owned("dev")
	o.credentials(namespace, "local")
	o.seed("north-1", "local", "north")
	ear := &heard{}
	config := rest.CopyConfig(o.Config)
	config.WarningHandler = ear
	listening, err := client.New(config, client.Options{Scheme: o.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	told := func() []string {
		var paths []string
		for _, text := range ear.take() {
			if path, _, found := strings.Cut(text, " is not served yet: "); found {
				paths = append(paths, path)
			}
		}
		return paths
	}

	shoot := order(namespace, "sprout", "local", func(s *gardencorev1beta1.Shoot) {
		s.Spec.SeedName = new("north-1")
		s.Spec.Monitoring = &gardencorev1beta1.Monitoring{Alerting: &gardencorev1beta1.Alerting{EmailReceivers: []string{"someone@example.com"}}}
	})
	if err := listening.Create(t.Context(), shoot); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"spec.monitoring.alerting.emailReceivers"}, told()); diff != "" {
		t.Errorf("who wants alerts hears that there are none, and nothing of defaults (-want +got):\n%s", diff)
	}
	before := shoot.DeepCopy()
	shoot.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{HighAvailability: &gardencorev1beta1.HighAvailability{
		FailureTolerance: gardencorev1beta1.FailureTolerance{Type: gardencorev1beta1.FailureToleranceTypeNode},
	}}
	if err := listening.Patch(t.Context(), shoot, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"spec.controlPlane.highAvailability"}, told()); diff != "" {
		t.Errorf("who changes a shoot hears of what was changed only (-want +got):\n%s", diff)
	}
	state := &gardencorev1beta1.ShootState{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sprout"}}
	if err := listening.Create(t.Context(), state, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"kind ShootState"}, told()); diff != "" {
		t.Errorf("who makes an object of a kind without a controller hears of that (-want +got):\n%s", diff)
	}
}

// TestEncryptionChanges changes what the API server of a shoot encrypts, one change after the other.
func TestEncryptionChanges(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	namespace := o.owned("dev")
	o.credentials(namespace, "local")
	o.seed("north-1", "local", "north")
	shoot := order(namespace, "sprout", "local", func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("north-1") })
	o.create(shoot)
	encrypt := func(provider gardencorev1beta1.EncryptionProviderType, resources ...string) error {
		before := shoot.DeepCopy()
		wanted := shoot.DeepCopy()
		wanted.Spec.Kubernetes.KubeAPIServer.EncryptionConfig.Resources = resources
		wanted.Spec.Kubernetes.KubeAPIServer.EncryptionConfig.Provider.Type = &provider
		err := o.Client.Patch(t.Context(), wanted, client.MergeFrom(before))
		if err == nil {
			shoot = wanted
		}
		return err
	}
	report := func(provider gardencorev1beta1.EncryptionProviderType, resources ...string) {
		o.changeStatus(shoot, func() {
			shoot.Status.Credentials = &gardencorev1beta1.ShootCredentials{EncryptionAtRest: &gardencorev1beta1.EncryptionAtRest{
				Provider: gardencorev1beta1.EncryptionProviderStatus{Type: provider}, Resources: resources,
			}}
		})
	}
	const earlier = "earlier change is being rolled out"
	if err := encrypt("aescbc", "events"); err != nil {
		t.Fatalf("what nothing was encrypted with yet can change: %v", err)
	}
	report("aescbc", "events")
	for _, resources := range [][]string{{"events", "configmaps"}, {"configmaps", "events"}} {
		if err := encrypt("aescbc", resources...); err != nil {
			t.Errorf("%v in place of events: %v", resources, err)
		}
	}
	refused(t, "API-VALSHOOT-22: no wildcards", encrypt("aescbc", "*.apps"), apierrors.IsInvalid, "must name one resource, without wildcards")
	refused(t, "API-VALSHOOT-22: one change after the other", encrypt("aescbc", "events"), apierrors.IsInvalid, earlier)
	report("aescbc", "configmaps", "events")
	refused(t, "API-VALSHOOT-22: one change at a time", encrypt("secretbox", "events"), apierrors.IsInvalid, "cannot change together")
	if err := encrypt("secretbox", "configmaps", "events"); err != nil {
		t.Errorf("another provider: %v", err)
	}
	refused(t, "API-VALSHOOT-22: another provider is a change", encrypt("secretbox", "events"), apierrors.IsInvalid, earlier)
	report("secretbox", "configmaps", "events")

	if err := encrypt("secretbox", "configmaps", "events", "widgets.example.org"); err != nil {
		t.Fatal(err)
	}
	fail := func(codes ...gardencorev1beta1.ErrorCode) {
		o.changeStatus(shoot, func() {
			shoot.Status.ObservedGeneration = shoot.Generation
			shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Failed", LastUpdateTime: metav1.Now()}
			shoot.Status.LastErrors = []gardencorev1beta1.LastError{{Description: "not encrypted", TaskID: new(query.TaskEncryptionCheck), Codes: codes}}
		})
	}
	fail()
	refused(t, "API-VALSHOOT-22: a check without an answer refuses nothing", encrypt("secretbox", "configmaps", "events"), apierrors.IsInvalid, earlier)
	fail(gardencorev1beta1.ErrorCodeConfigurationProblem)
	if err := encrypt("secretbox", "configmaps", "events"); err != nil {
		t.Errorf("API-VALSHOOT-22: what the gardenlet refuses can be taken back: %v", err)
	}
}

// TestBackedSeed runs shoots on a seed that wants backups which nobody makes.
func TestBackedSeed(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	namespace := o.owned("dev")
	o.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "backup"}})
	seed := o.seed("north-1", "local", "north", func(s *gardencorev1beta1.Seed) {
		s.Spec.Backup = &gardencorev1beta1.Backup{
			Provider: "local", CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "backup"},
		}
	})
	ready := func(status gardencorev1beta1.ConditionStatus, reason string) func(*gardencorev1beta1.Seed) error {
		return func(s *gardencorev1beta1.Seed) error {
			found, err := condition(s.Status.Conditions, "BackupBucketsReady")
			if err != nil {
				return err
			}
			return has(found.Status == status && found.Reason == reason, "condition %v", found)
		}
	}
	harness.Await(t, o.Client, seed, "GCM-SEEDBB-2: a seed without a bucket says so", ready("Unknown", "BackupBucketsGone"))
	shoot := o.shoot(namespace, "a", "local")
	harness.Await(t, o.Client, shoot, "SCHED-FILT-1: it is used all the same", func(s *gardencorev1beta1.Shoot) error {
		return has(s.Spec.SeedName != nil && *s.Spec.SeedName == "north-1", "seed %v", s.Spec.SeedName)
	})
	bucket := &gardencorev1beta1.BackupBucket{
		ObjectMeta: metav1.ObjectMeta{Name: "bucket"},
		Spec: gardencorev1beta1.BackupBucketSpec{
			Provider: gardencorev1beta1.BackupBucketProvider{Type: "local", Region: "north"}, SeedName: new("north-1"),
			CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "backup"},
		},
	}
	o.create(bucket)
	o.changeStatus(bucket, func() {
		bucket.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded", LastUpdateTime: metav1.Now()}
	})
	harness.Await(t, o.Client, seed, "GCM-SEEDBB-1: a bucket that works is seen", ready("True", "BackupBucketsAvailable"))
	o.changeStatus(bucket, func() { bucket.Status.LastError = &gardencorev1beta1.LastError{Description: "no credentials"} })
	harness.Await(t, o.Client, seed, "GCM-SEEDBB-1: and one that does not", ready("False", "BackupBucketsError"))
}

// TestProjectConfiguration takes a quota from the configuration file to a project, and an activity into its status.
func TestProjectConfiguration(t *testing.T) {
	t.Parallel()
	o := operate(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.Controllers.Project.Quotas = []gardenconfigv1alpha1.QuotaConfiguration{{
			Config: corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/configmaps": resource.MustParse("7")}}},
		}}
	}))
	project := o.project("dev")
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: *project.Spec.Namespace, Name: "gardener"}}
	harness.Await(t, o.Client, quota, "GCM-PROJECT-6: a project has the quota of the file", func(q *corev1.ResourceQuota) error {
		hard := q.Spec.Hard["count/configmaps"]
		return has(hard.Value() == 7, "hard %v", q.Spec.Hard)
	})
	if diff := cmp.Diff((*metav1.Time)(nil), project.Status.LastActivityTimestamp); diff != "" {
		t.Errorf("GCM-ACTIVITY-2: nothing happened in the project yet; last activity (-want +got):\n%s", diff)
	}
	o.provider("local")
	o.shoot(*project.Spec.Namespace, "a", "local")
	harness.Await(t, o.Client, project, "GCM-ACTIVITY-1: a new shoot is activity", func(p *gardencorev1beta1.Project) error {
		return has(p.Status.LastActivityTimestamp != nil, "no activity")
	})
}
