// SPDX-License-Identifier: Apache-2.0

package references_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

// TestOfSelfHosted_GAC_SHOOTR_1 lists what leads to a self-hosted shoot, so that a new path is seen here.
func TestOfSelfHosted_GAC_SHOOTR_1(t *testing.T) {
	t.Parallel()
	ref := func(namespace, name string) *corev1.ObjectReference {
		return &corev1.ObjectReference{Kind: "Secret", Namespace: namespace, Name: name}
	}
	shoot := func(alone bool) *gardencorev1beta1.Shoot {
		s := &gardencorev1beta1.Shoot{ObjectMeta: named("garden", "lone")}
		s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "cloud"}
		s.Spec.CredentialsBindingName, s.Status.SeedName = new("binding"), new("seed")
		s.Annotations = map[string]string{"authentication.gardener.cloud/issuer": "managed"}
		s.Status.TechnicalID = "shoot--garden--lone"
		s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{}}
		if alone {
			s.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
		}
		for _, r := range [][2]string{
			{"Secret", "secret"},
			{"Secret", "other.ssh-keypair"},
			{"Secret", "generated-bucket-b"},
			{"ConfigMap", "config"},
			{"ConfigMap", "other.ca-cluster"},
			{"InternalSecret", "inner"},
			{"WorkloadIdentity", "identity"},
		} {
			s.Spec.Resources = append(s.Spec.Resources, resource(r[0], r[1]))
		}
		return s
	}
	bucket := &gardencorev1beta1.BackupBucket{ObjectMeta: named("", "bucket")}
	bucket.Spec.ShootRef, bucket.Spec.CredentialsRef = ref("garden", "lone"), ref("garden", "backup")
	bucket.Spec.SecretRef, bucket.Status.GeneratedSecretRef = &corev1.SecretReference{Namespace: "other", Name: "backup"}, &corev1.SecretReference{Namespace: "garden", Name: "made"}
	ofSeed := &gardencorev1beta1.BackupBucket{ObjectMeta: named("", "bucket")}
	ofSeed.Spec.SeedName, ofSeed.Spec.CredentialsRef = new("lone"), ref("garden", "backup")
	entry := func(namespace string) *gardencorev1beta1.BackupEntry {
		e := &gardencorev1beta1.BackupEntry{ObjectMeta: named(namespace, "entry")}
		e.Spec.BucketName, e.Spec.ShootRef = "bucket", ref("garden", "lone")
		return e
	}
	installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: named("", "installation")}
	installation.Spec.ShootRef, installation.Spec.DeploymentRef = ref("garden", "lone"), &corev1.ObjectReference{Name: "deployment"}
	installation.Spec.RegistrationRef.Name = "registration"
	deployment := &gardencorev1.ControllerDeployment{ObjectMeta: named("", "deployment")}
	deployment.Helm = &gardencorev1.HelmControllerDeployment{OCIRepository: &gardencorev1.OCIRepository{PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}}}
	binding := func(namespace string) *gardensecurityv1alpha1.CredentialsBinding {
		return &gardensecurityv1alpha1.CredentialsBinding{ObjectMeta: named("garden", "binding"), CredentialsRef: *ref(namespace, "cloud")}
	}
	former := func(namespace, name string) *gardencorev1beta1.SecretBinding {
		return &gardencorev1beta1.SecretBinding{ObjectMeta: named("garden", "former"), SecretRef: corev1.SecretReference{Namespace: namespace, Name: name}}
	}
	seed := &gardencorev1beta1.Seed{ObjectMeta: named("", "lone")}
	seed.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{CredentialsRef: *ref("garden", "internal-domain")}
	managed := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: named("garden", "lone")}
	managed.Spec.Shoot = &gardenseedmanagementv1alpha1.Shoot{Name: "lone"}
	for name, tc := range map[string]struct {
		object any
		want   []string
	}{
		"shoot": {shoot(true), []string{
			"CloudProfile cloud -> Shoot garden/lone", "ConfigMap garden/config -> Shoot garden/lone", "CredentialsBinding garden/binding -> Shoot garden/lone",
			"Namespace garden -> Shoot garden/lone", "Secret garden/secret -> Shoot garden/lone", "WorkloadIdentity garden/identity -> Shoot garden/lone",
		}},
		"shoot on a seed":      {shoot(false), nil},
		"bucket":               {bucket, []string{"BackupBucket bucket -> Shoot garden/lone", "Secret garden/backup -> BackupBucket bucket"}},
		"bucket of a seed":     {ofSeed, nil},
		"entry":                {entry("garden"), []string{"BackupEntry garden/entry -> Shoot garden/lone"}},
		"entry elsewhere":      {entry("garden-meadow"), nil},
		"installation":         {installation, []string{"ControllerDeployment deployment -> ControllerInstallation installation", "ControllerInstallation installation -> Shoot garden/lone", "ControllerRegistration registration -> ControllerInstallation installation"}},
		"deployment":           {deployment, nil},
		"binding":              {binding("garden"), []string{"Secret garden/cloud -> CredentialsBinding garden/binding"}},
		"binding to elsewhere": {binding("operators"), nil},
		"former binding":       {former("garden", "cloud"), []string{"Secret garden/cloud -> SecretBinding garden/former"}},
		"former, elsewhere":    {former("operators", "cloud"), nil},
		"binding to keys":      {former("garden", "other.ssh-keypair"), nil},
		"binding to a bucket":  {former("garden", "generated-bucket-b"), nil},
		"bastion":              {&gardenoperationsv1alpha1.Bastion{ObjectMeta: named("garden", "b"), Spec: gardenoperationsv1alpha1.BastionSpec{ShootRef: corev1.LocalObjectReference{Name: "lone"}}}, []string{"Bastion garden/b -> Shoot garden/lone"}},
		"seed":                 {seed, nil},
		"managed seed":         {managed, nil},
		"account":              {&corev1.ServiceAccount{ObjectMeta: named("garden", "gardenlet-bootstrap-lone")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, text(references.OfSelfHosted(tc.object))); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
		})
	}
}
