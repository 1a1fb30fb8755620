// SPDX-License-Identifier: Apache-2.0

package query_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func TestMoving(t *testing.T) {
	t.Parallel()
	on := func(spec, status string, op *gardencorev1beta1.LastOperation) *gardencorev1beta1.Shoot {
		return shoot(func(s *gardencorev1beta1.Shoot) {
			s.Status.LastOperation = op
			if spec != "" {
				s.Spec.SeedName = &spec
			}
			if status != "" {
				s.Status.SeedName = &status
			}
		})
	}
	for name, tc := range map[string]struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		want   bool
	}{
		"API-SVAL-6 at rest":    {reason: "both seeds are the same", shoot: on("a", "a", nil)},
		"API-SVAL-6 first":      {reason: "a first seed is no move", shoot: on("a", "", nil)},
		"API-SVAL-6 asked":      {reason: "another seed is set", shoot: on("b", "a", nil), want: true},
		"API-SVAL-6 migrating":  {reason: "the old seed lets go", shoot: on("b", "a", &gardencorev1beta1.LastOperation{Type: "Migrate", State: "Succeeded"}), want: true},
		"API-SVAL-6 restoring":  {reason: "the new seed takes over", shoot: on("b", "b", &gardencorev1beta1.LastOperation{Type: "Restore", State: "Error"}), want: true},
		"API-SVAL-6 restored":   {reason: "it is done", shoot: on("b", "b", &gardencorev1beta1.LastOperation{Type: "Restore", State: "Succeeded"})},
		"API-SVAL-6 reconciled": {reason: "an ordinary operation is no move", shoot: on("a", "a", &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Processing"})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := query.Moving(tc.shoot)
			if diff := cmp.Diff(tc.want, got != ""); diff != "" {
				t.Errorf("%s\nMoving(...) = %q, is there a reason? (-want +got):\n%s", tc.reason, got, diff)
			}
		})
	}
}

func TestShoot(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason    string
		got, want any
	}{
		"hibernation unset": {"a shoot is awake unless it says else", query.HibernationWanted(shoot()), false},
		"hibernation": {"it can be asked to sleep", query.HibernationWanted(shoot(func(s *gardencorev1beta1.Shoot) {
			s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
		})), true},
		"self-hosted": {"a pool that runs the control plane makes it self-hosted", query.SelfHosted(&shoot(func(s *gardencorev1beta1.Shoot) {
			s.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
		}).Spec), true},
		"hosted":     {"an ordinary pool does not", query.SelfHosted(&shoot().Spec), false},
		"older name": {"the older field names the profile as well", query.ProfileName(&gardencorev1beta1.ShootSpec{CloudProfileName: new("a")}), "a"},
		"reference":  {"the newer field wins", query.ProfileName(&gardencorev1beta1.ShootSpec{CloudProfileName: new("a"), CloudProfile: &gardencorev1beta1.CloudProfileReference{Name: "b"}}), "b"},
		"no name":    {"it may be missing", query.ProfileName(&gardencorev1beta1.ShootSpec{}), ""},
		"reference of the older field": {
			"the older field names a CloudProfile", *query.ProfileReference(&gardencorev1beta1.ShootSpec{CloudProfileName: new("a")}),
			gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "a"},
		},
		"reference without kind": {
			"so does a reference without a kind", *query.ProfileReference(&gardencorev1beta1.ShootSpec{CloudProfile: &gardencorev1beta1.CloudProfileReference{Name: "b"}}),
			gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "b"},
		},
		"profile of the project": {
			"the kind of a reference counts", *query.ProfileReference(&gardencorev1beta1.ShootSpec{CloudProfile: &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "b"}}),
			gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "b"},
		},
		"no reference":        {"it may be missing", query.ProfileReference(&gardencorev1beta1.ShootSpec{}) == nil, true},
		"secret binding":      {"the older field names a SecretBinding", query.BindingOf(&gardencorev1beta1.ShootSpec{SecretBindingName: new("a")}), query.Binding{Kind: "SecretBinding", Name: "a"}},
		"credentials binding": {"the newer field names a CredentialsBinding", query.BindingOf(&gardencorev1beta1.ShootSpec{CredentialsBindingName: new("a")}), query.Binding{Kind: "CredentialsBinding", Name: "a"}},
		"no binding":          {"a shoot without workers has none", query.BindingOf(&gardencorev1beta1.ShootSpec{}), query.Binding{}},
		"SSH":                 {"machines can be reached unless the owner says otherwise", query.SSHAllowed(&shoot().Spec), true},
		"SSH off": {"the owner may switch it off", query.SSHAllowed(&shoot(func(s *gardencorev1beta1.Shoot) {
			s.Spec.Provider.WorkersSettings = &gardencorev1beta1.WorkersSettings{SSHAccess: &gardencorev1beta1.SSHAccess{}}
		}).Spec), false},
		"SSH without machines": {"without machines there is nothing to reach", query.SSHAllowed(&gardencorev1beta1.ShootSpec{}), false},
		"missing pool":         {"a pool may be missing", query.Pool(&shoot().Spec, "x") == nil, true},
		"pool":                 {"a pool is found by its name", query.Pool(&shoot().Spec, "w") != nil, true},
		"condition":            {"a condition is found by its type", query.FindCondition([]gardencorev1beta1.Condition{{Type: "x"}, {Type: "y"}}, "y") != nil, true},
		"no condition":         {"a condition may be missing", query.FindCondition(nil, "y") == nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPoolVersion(t *testing.T) {
	t.Parallel()
	spec := &gardencorev1beta1.ShootSpec{Kubernetes: gardencorev1beta1.Kubernetes{Version: "1.36.3"}}
	for want, pool := range map[string]*gardencorev1beta1.Worker{
		"1.36.3": {Kubernetes: &gardencorev1beta1.WorkerKubernetes{}},
		"1.35.1": {Kubernetes: &gardencorev1beta1.WorkerKubernetes{Version: new("1.35.1")}},
	} {
		if got := query.PoolVersion(spec, pool); got != want {
			t.Errorf("PoolVersion(...) = %q, want %q: a pool without a version has that of the shoot", got, want)
		}
	}
}
