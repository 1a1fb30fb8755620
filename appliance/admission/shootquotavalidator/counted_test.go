// SPDX-License-Identifier: Apache-2.0

package shootquotavalidator_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootquotavalidator"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// limitedBy makes a CredentialsBinding, and a SecretBinding, of the project with quotas.
func limitedBy(name string, quotas ...string) *gardensecurityv1alpha1.CredentialsBinding {
	return admissiontest.Credentials(func(b *gardensecurityv1alpha1.CredentialsBinding) { b.Name, b.Quotas = name, refs(quotas) })
}

func formerlyLimitedBy(name string, quotas ...string) *gardencorev1beta1.SecretBinding {
	return admissiontest.Binding(func(b *gardencorev1beta1.SecretBinding) { b.Name, b.Quotas = name, refs(quotas) })
}

func refs(quotas []string) []corev1.ObjectReference {
	var all []corev1.ObjectReference
	for _, name := range quotas {
		all = append(all, corev1.ObjectReference{Namespace: "garden-trial", Name: name})
	}
	return all
}

func bound(name, to string) *shoot {
	return admissiontest.Shoot(func(s *shoot) { s.Name, s.Spec.CredentialsBindingName = name, &to })
}

func formerlyBound(name, to string) *shoot {
	return admissiontest.Shoot(admissiontest.Formerly, func(s *shoot) { s.Name, s.Spec.SecretBindingName = name, &to })
}

// TestCounted_API_QUOTA_4 asks for a shoot with two processors beside others.
func TestCounted_API_QUOTA_4(t *testing.T) {
	t.Parallel()
	enough := func(most string, others ...kind.Object) []kind.Object {
		all := []kind.Object{admissiontest.Profile(), quota("Project", nil, "cpu", most), limitedBy("local", "trial")}
		return append(all, others...)
	}
	elsewhere := quota("Project", nil, "cpu", "1")
	elsewhere.Name = "second"
	namesake := quota("Project", nil, "cpu", "1")
	namesake.Namespace = "garden"
	ofNamesake := limitedBy("free")
	ofNamesake.Quotas = []corev1.ObjectReference{{Namespace: "garden", Name: "trial"}}
	ask := admissiontest.Request{Object: admissiontest.Shoot()}
	admissiontest.Run(t, shootquotavalidator.New, map[string]admissiontest.Case{
		"free":     {Reason: "a shoot without a quota is not counted", Objects: enough("2", limitedBy("free"), bound("other", "free")), Request: ask},
		"second":   {Reason: "nor one with another quota", Objects: enough("2", elsewhere, limitedBy("free", "second"), bound("other", "free")), Request: ask},
		"namesake": {Reason: "nor one with a quota of the same name elsewhere", Objects: enough("2", namesake, ofNamesake, bound("other", "free")), Request: ask},
		"formerly": {Reason: "one with a SecretBinding is", Objects: enough("3", formerlyLimitedBy("former", "trial"), formerlyBound("other", "former")), Request: ask, Refused: []string{"cpu (2 here and 2 by other shoots, of 3)"}},
		"formerly free": {
			Reason: "unless that has no quota, whatever it is called", Objects: enough("2", formerlyLimitedBy("local"), formerlyBound("other", "local")), Request: ask,
		},
		"no binding": {
			Reason: "one without credentials is not", Objects: enough("2", admissiontest.Shoot(func(s *shoot) {
				s.Name, s.Spec.CredentialsBindingName, s.Spec.Provider.Workers, s.Spec.Networking = "other", nil, nil, nil
			})), Request: ask,
		},
		"all of them": {
			Reason: "each quota of a binding counts", Objects: []kind.Object{admissiontest.Profile(), quota("Project", nil, "cpu", "2"), elsewhere, limitedBy("local", "trial", "second")},
			Request: ask, Refused: []string{"quota garden-trial/second is exceeded"},
		},
	})
}

// TestVolumes_API_QUOTA_3 asks for volumes of which the profile says little.
func TestVolumes_API_QUOTA_3(t *testing.T) {
	t.Parallel()
	storing := func(storage *gardencorev1beta1.MachineTypeStorage) []kind.Object {
		profile := admissiontest.Profile(func(p *gardencorev1beta1.CloudProfile) { p.Spec.MachineTypes[0].Storage = storage })
		return []kind.Object{profile, quota("Project", nil, "storage.premium", "29Gi", "storage.standard", "0"), limitedBy("local", "trial")}
	}
	least := resource.MustParse("1Gi")
	sizeless := &gardencorev1beta1.MachineTypeStorage{Type: "root", Class: "premium", MinSize: &least}
	untyped := admissiontest.Request{Object: admissiontest.Shoot(func(s *shoot) { s.Spec.Provider.Workers[0].Volume = &gardencorev1beta1.Volume{Size: "30Gi"} })}
	typed := admissiontest.Request{Object: admissiontest.Shoot(disk("lost"))}
	admissiontest.Run(t, shootquotavalidator.New, map[string]admissiontest.Case{
		"none":      {Reason: "a machine may have no disk that counts", Objects: storing(nil), Request: admissiontest.Request{Object: admissiontest.Shoot()}},
		"sizeless":  {Reason: "or one of a size that the pool decides on", Objects: storing(sizeless), Request: admissiontest.Request{Object: admissiontest.Shoot()}},
		"untyped":   {Reason: "a volume without a type has the class of the machine's", Objects: storing(sizeless), Request: untyped, Refused: []string{"storage.premium (30Gi here"}},
		"classless": {Reason: "or none", Objects: storing(nil), Request: untyped},
		"lost":      {Reason: "a type that is not there cannot be counted", Objects: storing(nil), Request: typed, As: metav1.StatusReasonInternalError, Refused: []string{`volume type "lost"`}},
	})
}

// TestShortest_API_QUOTA_5 has two quotas with lifetimes.
func TestShortest_API_QUOTA_5(t *testing.T) {
	t.Parallel()
	named := func(name string, days *int32) *gardencorev1beta1.Quota {
		q := quota("Project", days)
		q.Name = name
		return q
	}
	days := func(first, second *int32) []kind.Object {
		return []kind.Object{admissiontest.Profile(), named("first", first), named("second", second), limitedBy("local", "first", "second")}
	}
	// It is 2030-01-02T03:04:05Z in these tests.
	until := func(when string) *shoot {
		return admissiontest.Shoot(func(s *shoot) {
			s.Annotations = map[string]string{"shoot.gardener.cloud/expiration-timestamp": when}
		})
	}
	longer := admissiontest.Request{Object: until("2030-01-07T00:00:00Z"), Old: until("2030-01-03T00:00:00Z")}
	bind := longer
	bind.Subresource = "binding"
	report := longer
	report.Subresource = "status"
	admissiontest.Run(t, shootquotavalidator.New, map[string]admissiontest.Case{
		"first":   {Reason: "the shortest lifetime counts", Objects: days(new(int32(3)), new(int32(7))), Request: longer, Refused: []string{"at most 3 days"}},
		"last":    {Reason: "wherever it stands", Objects: days(new(int32(7)), new(int32(3))), Request: longer, Refused: []string{"at most 3 days"}},
		"endless": {Reason: "a quota without one does not count", Objects: days(new(int32(3)), nil), Request: longer, Refused: []string{"at most 3 days"}},
		"both":    {Reason: "a shoot that fits both may be", Objects: days(new(int32(7)), new(int32(30))), Request: longer},
		"binding": {Reason: "there is no way around it through the binding", Objects: days(new(int32(3)), nil), Request: bind, Refused: []string{"at most 3 days"}},
		"status":  {Reason: "a report changes no annotation", Objects: days(new(int32(3)), nil), Request: report},
		"ingress": {
			Reason: "nor does an ingress that is there already use more", Objects: slices.Concat(garden(quota("Project", nil, "cpu", "1"))),
			Request: admissiontest.Request{Object: admissiontest.Shoot(nginx), Old: admissiontest.Shoot(nginx)},
		},
	})
}
