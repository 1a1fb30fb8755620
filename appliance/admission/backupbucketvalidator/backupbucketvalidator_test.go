// SPDX-License-Identifier: Apache-2.0

package backupbucketvalidator_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/backupbucketvalidator"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func bucket(kind string) *gardencorev1beta1.BackupBucket {
	return &gardencorev1beta1.BackupBucket{
		ObjectMeta: metav1.ObjectMeta{Name: "bucket"},
		Spec: gardencorev1beta1.BackupBucketSpec{
			Provider:       gardencorev1beta1.BackupBucketProvider{Type: "local", Region: "north"},
			CredentialsRef: &corev1.ObjectReference{Kind: kind, Namespace: admissiontest.Namespace, Name: "me"},
		},
	}
}

func identity(provider string) []kind.Object {
	return []kind.Object{&gardensecurityv1alpha1.WorkloadIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: "me"},
		Spec: gardensecurityv1alpha1.WorkloadIdentitySpec{
			Audiences: []string{"a"}, TargetSystem: gardensecurityv1alpha1.TargetSystem{Type: provider},
		},
	}}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	b := bucket("WorkloadIdentity")
	admissiontest.Run(t, backupbucketvalidator.New, map[string]admissiontest.Case{
		"API-BBV-1 same":      {Reason: "an identity opens its provider", Objects: identity("local"), Request: admissiontest.Request{Object: b}},
		"API-BBV-1 other":     {Reason: "and no other", Objects: identity("cloud"), Request: admissiontest.Request{Object: b}, Refused: []string{"spec.credentialsRef", `"cloud"`, `"local"`}},
		"API-BBV-1 missing":   {Reason: "it has to exist", Request: admissiontest.Request{Object: b}, Refused: []string{"does not exist"}},
		"API-BBV-1 unchanged": {Reason: "what was looked at is not looked at again", Request: admissiontest.Request{Object: b, Old: b}},
		"API-BBV-1 changed":   {Reason: "a new one is", Objects: identity("cloud"), Request: admissiontest.Request{Object: b, Old: bucket("Secret")}, Refused: []string{"spec.credentialsRef"}},
		"API-BBV-1 secret":    {Reason: "a secret has no provider", Request: admissiontest.Request{Object: bucket("Secret")}},
	})
}
