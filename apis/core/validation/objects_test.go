// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

func TestValidateObjects(t *testing.T) {
	t.Parallel()
	user := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "rose"}
	oldRole := func(p *gardencorev1beta1.Project) {
		p.Spec.Members = []gardencorev1beta1.ProjectMember{{Subject: user, Role: "extension:a b"}}
	}
	for name, tc := range map[string]struct {
		reason string
		got    field.ErrorList
		want   []string
	}{
		"Project": {reason: "a plain project passes", got: validation.ValidateProject(project())},
		"API-NAME-2": {
			reason: "names of projects are short",
			got:    validation.ValidateProject(project(func(p *gardencorev1beta1.Project) { p.Name = "a--much-too-long" })),
			want:   []string{"metadata.name: FieldValueInvalid", "metadata.name: FieldValueTooLong"},
		},
		"API-NAME-8": {
			reason: "namespaces of the system are taken",
			got: validation.ValidateProject(project(func(p *gardencorev1beta1.Project) {
				p.Spec.Namespace = new("gardener-system-public")
			})),
			want: []string{"spec.namespace: FieldValueInvalid"},
		},
		"API-VALPROJ-1": {
			reason: "subjects are written in full, once",
			got: validation.ValidateProject(project(func(p *gardencorev1beta1.Project) {
				p.Spec.Members = []gardencorev1beta1.ProjectMember{
					{Subject: user, Role: "admin"},
					{Subject: user, Role: "viewer"},
					{Subject: rbacv1.Subject{Kind: "Robot", Name: "r2"}, Role: "viewer"},
				}
			})),
			want: []string{"spec.members[1]: FieldValueDuplicate", "spec.members[2].kind: FieldValueNotSupported"},
		},
		"API-VALPROJ-2": {
			reason: "roles are known ones, or short names of extensions",
			got: validation.ValidateProject(project(func(p *gardencorev1beta1.Project) {
				p.Spec.Members = []gardencorev1beta1.ProjectMember{
					{Subject: user, Role: "king", Roles: []string{"extension:exactly-twenty-chars", "extension:twenty-one-characters", "extension:a b", "extension:a/b"}},
				}
			})),
			want: []string{
				"spec.members[0].role: FieldValueNotSupported", "spec.members[0].roles[1]: FieldValueTooLong", "spec.members[0].roles[2]: FieldValueInvalid",
				"spec.members[0].roles[3]: FieldValueInvalid", "spec.members[0].roles[3]: FieldValueInvalid",
			},
		},
		"API-VALPROJ-3": {
			reason: "a namespace stays",
			got: validation.ValidateProjectUpdate(
				project(func(p *gardencorev1beta1.Project) { p.Spec.Namespace = new("garden-b") }),
				project(func(p *gardencorev1beta1.Project) { p.Spec.Namespace, p.Spec.Owner = new("garden-a"), &user }),
			),
			want: []string{"spec.namespace: FieldValueInvalid", "spec.owner: FieldValueInvalid"},
		},
		"API-VALPROJ-3 owner": {
			reason: "a project can get another owner",
			got: validation.ValidateProjectUpdate(
				project(func(p *gardencorev1beta1.Project) { p.Spec.Owner = new(user); p.Spec.Owner.Name = "lily" }),
				project(func(p *gardencorev1beta1.Project) { p.Spec.Owner = &user }),
			),
		},
		"API-VALPROJ-2 stored": {
			reason: "a project with a role that was valid once can lose its finalizer, and get no other one",
			got: slices.Concat(
				validation.ValidateProjectUpdate(project(oldRole), project(oldRole, func(p *gardencorev1beta1.Project) { p.Finalizers = []string{"gardener"} })),
				validation.ValidateProjectUpdate(project(oldRole), project(func(p *gardencorev1beta1.Project) { p.Spec.Description = new("a") })),
			),
			want: []string{"spec.members[0].role: FieldValueInvalid"},
		},
		"API-VALPROJ-4": {
			reason: "defaults lie within the whitelist",
			got: validation.ValidateProject(project(func(p *gardencorev1beta1.Project) {
				p.Spec.Tolerations = &gardencorev1beta1.ProjectTolerations{Defaults: []gardencorev1beta1.Toleration{{Key: "a"}}}
			})),
			want: []string{"spec.tolerations.defaults[0]: FieldValueForbidden"},
		},
		"Seed": {reason: "a plain seed passes", got: validation.ValidateSeed(seed())},
		"API-VALSEED-1": {
			reason: "networks are apart, taints have keys",
			got: validation.ValidateSeed(seed(func(s *gardencorev1beta1.Seed) {
				s.Spec.Networks.Services, s.Spec.Provider.Region = "10.98.1.0/24", ""
				s.Spec.Taints = []gardencorev1beta1.SeedTaint{{}}
			})),
			want: []string{
				"spec.networks.services: FieldValueInvalid", "spec.provider.region: FieldValueRequired",
				"spec.taints[0].key: FieldValueRequired",
			},
		},
		"API-VALSEED-2": {
			reason: "networks stay",
			got: validation.ValidateSeedUpdate(
				seed(func(s *gardencorev1beta1.Seed) { s.Spec.Networks.Pods = "10.90.0.0/16" }), seed()),
			want: []string{"spec.networks.pods: FieldValueInvalid"},
		},
		"API-STRAT-6": {
			reason: "an operation that is still to do cannot be replaced",
			got: validation.ValidateSeedUpdate(
				seed(func(s *gardencorev1beta1.Seed) {
					s.Annotations = map[string]string{"gardener.cloud/operation": "renew-garden-access-secrets"}
				}),
				seed(func(s *gardencorev1beta1.Seed) {
					s.Annotations = map[string]string{"gardener.cloud/operation": "renew-kubeconfig"}
				})),
			want: []string{"metadata.annotations[gardener.cloud/operation]: FieldValueForbidden"},
		},
		"CloudProfile": {reason: "a plain profile passes", got: validation.ValidateCloudProfile(cloudProfile())},
		"API-VALCP-1 empty": {
			reason: "a profile offers something",
			got:    validation.ValidateCloudProfile(cloudProfile(func(p *gardencorev1beta1.CloudProfile) { p.Spec = gardencorev1beta1.CloudProfileSpec{} })),
			want: []string{
				"spec.kubernetes.versions: FieldValueInvalid", "spec.kubernetes.versions: FieldValueRequired", "spec.machineImages: FieldValueRequired",
				"spec.machineTypes: FieldValueRequired", "spec.regions: FieldValueRequired", "spec.type: FieldValueRequired",
			},
		},
		"API-VALCP-1 newest": {
			reason: "the newest version never expires",
			got: validation.ValidateCloudProfile(cloudProfile(func(p *gardencorev1beta1.CloudProfile) {
				p.Spec.Kubernetes.Versions[0].ExpirationDate = &metav1.Time{Time: time.Unix(1e9, 0)}
			})),
			want: []string{"spec.kubernetes.versions[].expirationDate: FieldValueInvalid"},
		},
		"API-VALSB-1": {
			reason: "credentials stay",
			got: validation.ValidateSecretBindingUpdate(
				binding(func(b *gardencorev1beta1.SecretBinding) {
					b.SecretRef.Name, b.Provider = "other", &gardencorev1beta1.SecretBindingProvider{Type: "other"}
				}), binding()),
			want: []string{"provider: FieldValueInvalid", "secretRef: FieldValueInvalid"},
		},
		"API-VALCR-1": {
			reason: "kinds are known, listed once, and what is for Extension only is",
			got: validation.ValidateControllerRegistration(&gardencorev1beta1.ControllerRegistration{
				ObjectMeta: metav1.ObjectMeta{Name: "x"},
				Spec: gardencorev1beta1.ControllerRegistrationSpec{
					Resources: []gardencorev1beta1.ControllerResource{
						{Kind: "Worker", Type: "a", GloballyEnabled: new(true)}, {Kind: "Worker", Type: "a"}, {Kind: "Toy", Type: "a"},
					},
					Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{SeedSelector: &metav1.LabelSelector{}},
				},
			}),
			want: []string{
				"spec.deployment.seedSelector: FieldValueForbidden", "spec.resources[0].globallyEnabled: FieldValueForbidden",
				"spec.resources[1]: FieldValueDuplicate", "spec.resources[2].kind: FieldValueNotSupported",
			},
		},
		"API-VALCI-1": {
			reason: "an installation is of something, somewhere",
			got: validation.ValidateControllerInstallation(&gardencorev1beta1.ControllerInstallation{
				ObjectMeta: metav1.ObjectMeta{Name: "x"},
			}),
			want: []string{"spec.registrationRef.name: FieldValueRequired", "spec.seedRef: FieldValueRequired"},
		},
		"API-VALIS-1": {
			reason: "the type decides which keys must be there",
			got: validation.ValidateInternalSecret(&gardencorev1beta1.InternalSecret{
				ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "y"}, Type: corev1.SecretTypeTLS,
				Data: map[string][]byte{"tls.crt": nil, "no key": nil},
			}),
			want: []string{"data[no key]: FieldValueInvalid", "data[tls.key]: FieldValueRequired"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(tc.got)); diff != "" {
				t.Errorf("%s\ncomplaints (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
