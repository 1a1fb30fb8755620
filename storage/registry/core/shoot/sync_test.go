// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

// profiles are the two fields that name the cloud profile.
type profiles struct {
	Name string
	Ref  gardencorev1beta1.CloudProfileReference
}

func profileOf(s *object) profiles {
	var p profiles
	if s.Spec.CloudProfileName != nil {
		p.Name = *s.Spec.CloudProfileName
	}
	if s.Spec.CloudProfile != nil {
		p.Ref = *s.Spec.CloudProfile
	}
	return p
}

func TestProfile(t *testing.T) {
	t.Parallel()
	ref := func(kind, name string) *gardencorev1beta1.CloudProfileReference {
		return &gardencorev1beta1.CloudProfileReference{Kind: kind, Name: name}
	}
	for name, tc := range map[string]struct {
		reason, version string
		name            *string
		ref             *gardencorev1beta1.CloudProfileReference
		want            profiles
	}{
		"API-SHOOTSTRAT-9 older name": {"the reference follows from the name, which stays", "1.33.1", new("a"), nil, profiles{"a", *ref("CloudProfile", "a")}},
		"API-SHOOTSTRAT-9 oldest":     {"and is made up in the oldest", "1.32.1", nil, ref("CloudProfile", "a"), profiles{"a", *ref("CloudProfile", "a")}},
		"API-SHOOTSTRAT-9 between":    {"but not in between", "1.33.1", nil, ref("CloudProfile", "a"), profiles{"", *ref("CloudProfile", "a")}},
		"API-SHOOTSTRAT-9 both":       {"the name goes where the reference says the same", "1.34.0", new("a"), ref("CloudProfile", "a"), profiles{"", *ref("CloudProfile", "a")}},
		"API-SHOOTSTRAT-9 kind":       {"the kind can be left out", "1.36.3", nil, ref("", "a"), profiles{"", *ref("CloudProfile", "a")}},
		"API-SHOOTSTRAT-9 project":    {"a profile of the project has no such name", "1.32.1", new("a"), ref("NamespacedCloudProfile", "a"), profiles{"", *ref("NamespacedCloudProfile", "a")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			got := w.main.MustCreate(w.ctx, sprout(func(s *object) {
				s.Spec.Kubernetes.Version, s.Spec.CloudProfileName, s.Spec.CloudProfile = tc.version, tc.name, tc.ref
			}))
			if diff := cmp.Diff(tc.want, profileOf(got)); diff != "" {
				t.Errorf("%s\nCreate (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFormerProfile raises the version of Kubernetes to the first that has no name of a profile beside the reference.
func TestFormerProfile(t *testing.T) {
	t.Parallel()
	ref := &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "a"}
	older := func(s *object) {
		s.Spec.Kubernetes.Version, s.Spec.CloudProfileName, s.Spec.CloudProfile = "1.33.1", new("a"), nil
	}
	for name, tc := range map[string]struct {
		reason string
		name   *string
		ref    *gardencorev1beta1.CloudProfileReference
		ok     bool
	}{
		"as it is": {"the name goes by itself", new("a"), ref, true},
		"cleared":  {"or was taken away", nil, ref, true},
		"alone":    {"it is not enough any more", new("a"), nil, false},
		"other":    {"and is not followed", new("b"), ref, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.main.MustCreate(w.ctx, sprout(older))
			s.Spec.Kubernetes.Version, s.Spec.CloudProfileName, s.Spec.CloudProfile = "1.34.1", tc.name, tc.ref
			got, err := w.main.Update(w.ctx, s)
			if !tc.ok {
				if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.cloudProfileName") {
					t.Errorf("%s: got %v, want a refusal of the name", tc.reason, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(profiles{Ref: *ref}, profileOf(got)); diff != "" {
				t.Errorf("%s\nUpdate (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	w := newWorld(t)
	_, err := w.main.Create(w.ctx, sprout(older, func(s *object) { s.Spec.Kubernetes.Version = "1.34.0" }))
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.cloudProfileName") {
		t.Errorf("API-SHOOTSTRAT-9: from 1.34 on the name alone is refused, got %v", err)
	}
}

func TestDNSCredentials(t *testing.T) {
	t.Parallel()
	secret := func(name string) *autoscalingv1.CrossVersionObjectReference {
		return &autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: name}
	}
	identity := &autoscalingv1.CrossVersionObjectReference{APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Name: "c"}
	for name, tc := range map[string]struct {
		reason   string
		name     *string
		ref      *autoscalingv1.CrossVersionObjectReference
		wantName *string
		wantRef  *autoscalingv1.CrossVersionObjectReference
	}{
		"API-SHOOTSTRAT-10 name":      {"what changed is what counts: the name", new("b"), secret("a"), new("b"), secret("b")},
		"API-SHOOTSTRAT-10 reference": {"or the reference", new("a"), secret("b"), new("b"), secret("b")},
		"API-SHOOTSTRAT-10 identity":  {"which may lead to no Secret at all", new("a"), identity, nil, identity},
		"API-SHOOTSTRAT-10 one":       {"a former field alone is enough", new("b"), nil, new("b"), secret("b")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.main.MustCreate(w.ctx, sprout(func(s *object) {
				s.Spec.Kubernetes.Version = "1.34.1"
				s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.example.org"), Providers: []gardencorev1beta1.DNSProvider{{Type: new("one"), SecretName: new("a")}}}
			}))
			p := &s.Spec.DNS.Providers[0]
			if diff := cmp.Diff(secret("a"), p.CredentialsRef); diff != "" {
				t.Fatalf("API-SHOOTSTRAT-10: the reference follows from the name\nCreate (-want +got):\n%s", diff)
			}
			p.SecretName, p.CredentialsRef = tc.name, tc.ref
			got := w.main.MustUpdate(w.ctx, s).Spec.DNS.Providers[0]
			if diff := cmp.Diff([]any{tc.wantName, tc.wantRef}, []any{got.SecretName, got.CredentialsRef}); diff != "" {
				t.Errorf("%s\nUpdate (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	main, ok := w.all["shoots"].(*kind.Store)
	if !ok {
		t.Fatalf("shoots are kept by %T", w.all["shoots"])
	}
	s := sprout()
	s.Spec.SecretBindingName, s.Spec.CredentialsBindingName = new("local"), nil
	s.CreationTimestamp.Time = kindtest.Now().Add(-100 * 24 * time.Hour)
	binding := "spec.secretBindingName is deprecated: use spec.credentialsBindingName"
	if got := main.CreateStrategy.WarningsOnCreate(w.ctx, s); !slices.Equal(got, []string{binding}) {
		t.Errorf("API-WARN-1: who makes a shoot hears of fields that are deprecated, got %q", got)
	}
	if got := main.UpdateStrategy.WarningsOnUpdate(w.ctx, s, s); len(got) != 6 {
		t.Errorf("API-WARN-1: who changes one hears of old credentials as well, got %q", got)
	}
}

func TestShareOfIPv6(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.main.MustCreate(w.ctx, sprout(func(s *object) {
		s.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{"IPv4", "IPv6"}
		s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{NodeCIDRMaskSizeIPv6: new(int32(64))}
	}))
	s.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{"IPv4"}
	s = w.main.MustUpdate(w.ctx, s)
	if size := s.Spec.Kubernetes.KubeControllerManager.NodeCIDRMaskSizeIPv6; size != nil {
		t.Errorf("API-VALSHOOT-2: what was filled in for a family goes with it, got %d", *size)
	}
}
