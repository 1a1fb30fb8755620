// SPDX-License-Identifier: Apache-2.0

package query_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func TestOperations(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, value string
		want          []string
	}{
		"API-STRAT-3 none":     {"nothing is asked for", "", nil},
		"API-STRAT-3 one":      {"one thing is", "reconcile", []string{"reconcile"}},
		"API-STRAT-3 several":  {"several things are, in their order", "rotate-ca-start;rotate-ssh-keypair", []string{"rotate-ca-start", "rotate-ssh-keypair"}},
		"API-STRAT-3 blank":    {"nor by blanks", "  ", nil},
		"API-SHOOTSTRAT-6":     {"blanks and doubles do not count", " a ; b;a ", []string{"a", "b"}},
		"API-VALOP-1":          {"a separator has something on both sides", "a;;b;", []string{"a", "", "b"}},
		"API-VALOP-7 of pools": {"names of pools belong to their operation", "rollout-workers=a,b;retry", []string{"rollout-workers=a,b", "retry"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, query.Operations(tc.value)); diff != "" {
				t.Errorf("%s\nOperations(%q) (-want +got):\n%s", tc.reason, tc.value, diff)
			}
		})
	}
}

func TestEncryptionPending(t *testing.T) {
	t.Parallel()
	wants := func(resources ...string) *gardencorev1beta1.Shoot {
		s := &gardencorev1beta1.Shoot{}
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{EncryptionConfig: &gardencorev1beta1.EncryptionConfig{Resources: resources}}
		return s
	}
	reports := func(s *gardencorev1beta1.Shoot, resources ...string) *gardencorev1beta1.Shoot {
		s.Status.Credentials = &gardencorev1beta1.ShootCredentials{EncryptionAtRest: &gardencorev1beta1.EncryptionAtRest{Resources: resources}}
		return s
	}
	refused := func(s *gardencorev1beta1.Shoot, observed int64) *gardencorev1beta1.Shoot {
		s.Generation, s.Status.ObservedGeneration = 2, observed
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateFailed}
		s.Status.LastErrors = []gardencorev1beta1.LastError{{TaskID: new(query.TaskUnserved)}}
		return s
	}
	other := reports(wants("a"), "a")
	other.Spec.Kubernetes.KubeAPIServer.EncryptionConfig.Provider.Type = new(gardencorev1beta1.EncryptionProviderTypeSecretbox)
	unchecked := refused(reports(wants("a")), 2)
	unchecked.Status.LastErrors[0] = gardencorev1beta1.LastError{
		TaskID: new("encryption-check"), Codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeConfigurationProblem},
	}
	unanswered := refused(reports(wants("a")), 2)
	unanswered.Status.LastErrors[0].TaskID = new("encryption-check")
	formerly := wants("a")
	formerly.Status.EncryptedResources = []string{"b"}
	for name, tc := range map[string]struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		want   bool
	}{
		"API-VALSHOOT-22 silent":     {"who reports nothing waits for nothing", wants("a"), false},
		"API-VALSHOOT-22 done":       {"all is as it should be, in whatever order and form", reports(wants("b", "a."), "secrets", "a", "b"), false},
		"API-VALSHOOT-22 added":      {"something is still to be encrypted", reports(wants("a"), "secrets"), true},
		"API-VALSHOOT-22 removed":    {"something is no more", reports(wants(), "a"), true},
		"API-VALSHOOT-22 refused":    {"what the gardenlet does not roll out is not awaited", refused(reports(wants("a")), 2), false},
		"API-VALSHOOT-22 earlier":    {"it may roll out what it has not seen yet", refused(reports(wants("a")), 1), true},
		"API-VALSHOOT-22 provider":   {"another provider is still to encrypt", other, true},
		"API-VALSHOOT-22 unknown":    {"what the cluster does not serve is not awaited", unchecked, false},
		"API-VALSHOOT-22 unanswered": {"a check without an answer refuses nothing", unanswered, true},
		"API-VALSHOOT-22 formerly":   {"the former field counts as well", formerly, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := query.EncryptionPending(tc.shoot); got != tc.want {
				t.Errorf("%s: EncryptionPending(...) = %t", tc.reason, got)
			}
		})
	}
}

func TestEncryptionDiffers(t *testing.T) {
	t.Parallel()
	const aescbc, secretbox = gardencorev1beta1.EncryptionProviderTypeAescbc, gardencorev1beta1.EncryptionProviderTypeSecretbox
	encrypted := func(provider gardencorev1beta1.EncryptionProviderType, resources ...string) *gardencorev1beta1.ShootCredentials {
		return &gardencorev1beta1.ShootCredentials{EncryptionAtRest: &gardencorev1beta1.EncryptionAtRest{
			Provider: gardencorev1beta1.EncryptionProviderStatus{Type: provider}, Resources: resources,
		}}
	}
	for name, tc := range map[string]struct {
		reason   string
		provider *gardencorev1beta1.EncryptionProviderType
		wanted   []string
		reported *gardencorev1beta1.ShootCredentials
		want     bool
	}{
		"silent":   {"what was not reported differs from nothing", new(secretbox), []string{"a"}, nil, false},
		"rotated":  {"nor from a status about something else", new(secretbox), []string{"a"}, &gardencorev1beta1.ShootCredentials{}, false},
		"form":     {"order, secrets and dots do not count", new(secretbox), []string{"b", "a."}, encrypted(secretbox, "secrets", "a", "b."), false},
		"default":  {"who wants no provider wants the default", nil, nil, encrypted(aescbc), false},
		"reported": {"and an empty report means it", new(aescbc), nil, encrypted(""), false},
		"provider": {"another provider is another encryption", new(secretbox), nil, encrypted(aescbc), true},
		"added":    {"one more resource differs", nil, []string{"a"}, encrypted(aescbc), true},
		"removed":  {"one less does", nil, nil, encrypted(aescbc, "a"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &gardencorev1beta1.Shoot{}
			s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{EncryptionConfig: &gardencorev1beta1.EncryptionConfig{Resources: tc.wanted}}
			s.Spec.Kubernetes.KubeAPIServer.EncryptionConfig.Provider.Type = tc.provider
			s.Status.Credentials = tc.reported
			if got := query.EncryptionDiffers(&s.Spec, &s.Status); got != tc.want {
				t.Errorf("%s: EncryptionDiffers(...) = %t", tc.reason, got)
			}
		})
	}
}
