// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/seedmanagement/validation"
)

func TestValidateManagedSeedSet(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*set)
		want   []string
	}{
		"API-VALMSS-1 complete":  {reason: "a set with all it needs", change: func(*set) {}},
		"API-VALMSS-1 elsewhere": {reason: "seeds are the garden's", change: func(s *set) { s.Namespace = "garden-meadow" }, want: []string{"metadata.namespace: FieldValueInvalid"}},
		"API-VALMSS-1 everything": {
			reason: "a set does not own every shoot", change: func(s *set) { s.Spec.Selector = metav1.LabelSelector{} }, want: []string{"spec.selector: FieldValueInvalid"},
		},
		"API-VALMSS-1 selector": {
			reason: "what is made belongs to the set", change: func(s *set) { s.Spec.Selector.MatchLabels = map[string]string{"set": "other"} },
			want: []string{
				"spec.shootTemplate.metadata.labels: FieldValueInvalid", "spec.template.metadata.labels: FieldValueInvalid",
				"spec.template.spec.gardenlet.config.seedConfig.metadata.labels: FieldValueInvalid",
			},
		},
		"API-VALMSS-1 shoot": {
			reason: "each replica has a shoot of its own",
			change: func(s *set) {
				s.Spec.Template.Spec.Shoot = &gardenseedmanagementv1alpha1.Shoot{Name: "sprout"}
			},
			want: []string{"spec.template.spec.shoot: FieldValueForbidden"},
		},
		"API-VALMSS-1 template": {
			reason: "the template is checked like what is made from it", change: func(s *set) { s.Spec.Template.Spec.Gardenlet = nil },
			want: []string{"spec.template.spec.gardenlet: FieldValueRequired"},
		},
		"API-VALMSS-1 numbers": {
			reason: "numbers and names that cannot be",
			change: func(s *set) {
				s.Spec.Replicas, s.Spec.RevisionHistoryLimit = new(int32(-1)), new(int32(-1))
				s.Spec.UpdateStrategy = &gardenseedmanagementv1alpha1.UpdateStrategy{
					Type:          new(gardenseedmanagementv1alpha1.UpdateStrategyType("AllAtOnce")),
					RollingUpdate: &gardenseedmanagementv1alpha1.RollingUpdateStrategy{Partition: new(int32(-1))},
				}
				s.Spec.ShootTemplate.Annotations = map[string]string{"a b": "c"}
			},
			want: []string{
				"spec.replicas: FieldValueInvalid", "spec.revisionHistoryLimit: FieldValueInvalid", "spec.shootTemplate.metadata.annotations: FieldValueInvalid",
				"spec.updateStrategy.type: FieldValueNotSupported",
			},
		},
		"API-VALMSS-1 partition": {
			reason: "replicas are counted from zero",
			change: func(s *set) {
				s.Spec.UpdateStrategy = &gardenseedmanagementv1alpha1.UpdateStrategy{
					Type:          new(gardenseedmanagementv1alpha1.RollingUpdateStrategyType),
					RollingUpdate: &gardenseedmanagementv1alpha1.RollingUpdateStrategy{Partition: new(int32(-1))},
				}
			},
			want: []string{"spec.updateStrategy.rollingUpdate.partition: FieldValueInvalid"},
		},
		"API-VALMSS-1 little said": {
			reason: "what is not said is decided when a managed seed is made",
			change: func(s *set) {
				s.Spec.Template.Spec.Gardenlet.Bootstrap, s.Spec.Template.Spec.Gardenlet.MergeWithParent = nil, nil
			},
		},
		"API-VALMSS-1 no seed": {
			reason: "a configuration describes the seeds", change: func(s *set) { s.Spec.Template.Spec.Gardenlet.Config = settings(`,"seedConfig":null`) },
			want: []string{"spec.template.spec.gardenlet.config.seedConfig: FieldValueRequired"},
		},
		"API-VALMSS-1 shoots": {
			reason: "shoots of the set are checked like shoots",
			change: func(s *set) {
				spec := &s.Spec.ShootTemplate.Spec
				spec.Kubernetes.Version, spec.Provider.Type, spec.Provider.Workers[0].Minimum = "", "", -1
			},
			want: []string{
				"spec.shootTemplate.spec.kubernetes.version: FieldValueRequired", "spec.shootTemplate.spec.provider.type: FieldValueRequired",
				"spec.shootTemplate.spec.provider.workers[0].minimum: FieldValueInvalid",
			},
		},
		"API-VALMSS-1 machines": {
			reason: "a seed has machines", change: func(s *set) { s.Spec.ShootTemplate.Spec.Provider.Workers[0].Machine.Type = "" },
			want: []string{"spec.shootTemplate.spec.provider.workers[0].machine.type: FieldValueRequired"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateManagedSeedSet(setOf(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateManagedSeedSet(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateManagedSeedSetUpdate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*set)
		want   []string
	}{
		"API-VALMSS-1 size": {reason: "a set grows and shrinks", change: func(s *set) { s.Spec.Replicas = new(int32(7)) }},
		"API-VALMSS-1 selector": {
			reason: "what belongs to it stays its own",
			change: func(s *set) {
				s.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "set", Operator: metav1.LabelSelectorOpExists}}
			},
			want: []string{"spec.selector: FieldValueInvalid"},
		},
		"API-VALMSS-1 shoots": {
			reason: "what never changes in a shoot stays",
			change: func(s *set) {
				s.Spec.ShootTemplate.Spec.Region, s.Spec.ShootTemplate.Spec.Provider.Type = "other", "other"
			},
			want: []string{"spec.shootTemplate.spec.provider.type: FieldValueInvalid", "spec.shootTemplate.spec.region: FieldValueInvalid"},
		},
		"API-VALMSS-1 history": {
			reason: "the length of the history stays", change: func(s *set) { s.Spec.RevisionHistoryLimit = new(int32(1)) },
			want: []string{"spec.revisionHistoryLimit: FieldValueInvalid"},
		},
		"API-VALMS-1 access": {
			reason: "the template cannot take back what its seeds cannot",
			change: func(s *set) {
				s.Spec.Template.Spec.Gardenlet.MergeWithParent = new(false)
			},
			want: []string{"spec.template.spec.gardenlet.mergeWithParent: FieldValueInvalid"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateManagedSeedSetUpdate(setOf(tc.change), setOf()))); diff != "" {
				t.Errorf("%s\nValidateManagedSeedSetUpdate(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFormerBinding checks that a set which was stored with a SecretBinding can still be written.
func TestFormerBinding(t *testing.T) {
	t.Parallel()
	former := func(s *set) {
		spec := &s.Spec.ShootTemplate.Spec
		spec.Kubernetes.Version, spec.SecretBindingName, spec.CredentialsBindingName = "1.36.3", new("local"), nil
	}
	moved := func(s *set) { s.Spec.ShootTemplate.Spec.Kubernetes.Version = "1.36.3" }
	if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateManagedSeedSetUpdate(setOf(former), setOf(former)))); diff != "" {
		t.Errorf("as it is\nValidateManagedSeedSetUpdate(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateManagedSeedSetUpdate(setOf(moved), setOf(former)))); diff != "" {
		t.Errorf("and with the binding that there is now\nValidateManagedSeedSetUpdate(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"spec.shootTemplate.spec.secretBindingName: FieldValueForbidden"}, checktest.Complaints(validation.ValidateManagedSeedSet(setOf(former)))); diff != "" {
		t.Errorf("but no new one\nValidateManagedSeedSet(...) (-want +got):\n%s", diff)
	}
}

func TestValidateManagedSeedSetStatusUpdate(t *testing.T) {
	t.Parallel()
	type status = gardenseedmanagementv1alpha1.ManagedSeedSetStatus
	pending := func(name, reason string) *gardenseedmanagementv1alpha1.PendingReplica {
		return &gardenseedmanagementv1alpha1.PendingReplica{Name: name, Reason: gardenseedmanagementv1alpha1.PendingReplicaReason(reason)}
	}
	was := status{Replicas: 2, NextReplicaNumber: 3, CollisionCount: new(int32(1))}
	for name, tc := range map[string]struct {
		reason string
		is     status
		want   []string
	}{
		"API-VALMSS-1 same": {reason: "the same again", is: was},
		"API-VALMSS-1 grown": {
			reason: "more of everything",
			is: status{
				Replicas: 3, ReadyReplicas: 3, CurrentReplicas: 2, UpdatedReplicas: 1, NextReplicaNumber: 4, CollisionCount: new(int32(2)),
				PendingReplica: pending("soil-3", "ShootReconciling"),
			},
		},
		"API-VALMSS-1 shrunk": {
			reason: "numbers are used once", is: status{Replicas: 2, NextReplicaNumber: 2},
			want: []string{"status.collisionCount: FieldValueInvalid", "status.nextReplicaNumber: FieldValueInvalid"},
		},
		"API-VALMSS-1 more than all": {
			reason: "a part is no more than all",
			is:     status{Replicas: 1, ReadyReplicas: 2, CurrentReplicas: 2, UpdatedReplicas: 2, NextReplicaNumber: 3, CollisionCount: new(int32(1))},
			want: []string{
				"status.currentReplicas: FieldValueInvalid", "status.readyReplicas: FieldValueInvalid", "status.updatedReplicas: FieldValueInvalid",
			},
		},
		"API-VALMSS-1 negative": {
			reason: "nor less than nothing", is: status{Replicas: -1, ReadyReplicas: -1, NextReplicaNumber: 3, CollisionCount: new(int32(1))},
			want: []string{
				"status.currentReplicas: FieldValueInvalid", "status.readyReplicas: FieldValueInvalid", "status.replicas: FieldValueInvalid",
				"status.updatedReplicas: FieldValueInvalid",
			},
		},
		"API-VALMSS-1 pending": {
			reason: "a replica is called by the set and its number",
			is:     status{NextReplicaNumber: 3, CollisionCount: new(int32(1)), PendingReplica: pending("other-03", "Dancing")},
			want:   []string{"status.pendingReplica.name: FieldValueInvalid", "status.pendingReplica.reason: FieldValueNotSupported"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := validation.ValidateManagedSeedSetStatusUpdate(setOf(func(s *set) { s.Status = tc.is }), setOf(func(s *set) { s.Status = was }))
			if diff := cmp.Diff(tc.want, checktest.Complaints(got)); diff != "" {
				t.Errorf("%s\ncomplaints (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
