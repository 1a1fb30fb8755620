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
	formerly := wants("a")
	formerly.Status.EncryptedResources = []string{"b"}
	for name, tc := range map[string]struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		want   bool
	}{
		"API-VALSHOOT-22 silent":   {"who reports nothing waits for nothing", wants("a"), false},
		"API-VALSHOOT-22 done":     {"all is as it should be, in whatever order and form", reports(wants("b", "a."), "secrets", "a", "b"), false},
		"API-VALSHOOT-22 added":    {"something is still to be encrypted", reports(wants("a"), "secrets"), true},
		"API-VALSHOOT-22 removed":  {"something is no more", reports(wants(), "a"), true},
		"API-VALSHOOT-22 formerly": {"the former field counts as well", formerly, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := query.EncryptionPending(tc.shoot); got != tc.want {
				t.Errorf("%s: EncryptionPending(...) = %t", tc.reason, got)
			}
		})
	}
}
