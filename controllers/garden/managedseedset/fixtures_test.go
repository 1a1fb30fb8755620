// SPDX-License-Identifier: Apache-2.0

package managedseedset_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/managedseedset"
)

type (
	set     = gardenseedmanagementv1alpha1.ManagedSeedSet
	pending = gardenseedmanagementv1alpha1.PendingReplica
	state   = managedseedset.State
	replica = managedseedset.Replica
)

// at is a minute of the day of the tests.
func at(minute int) time.Time { return time.Date(2026, 5, 4, 8, minute, 0, 0, time.UTC) }

func labelled() map[string]string { return map[string]string{"bed": "a"} }

// bed is a set called a.
func bed(replicas int32, change ...func(*set)) *set {
	s := &set{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "a", UID: "uid-a", Generation: 4, Finalizers: []string{"gardener"}}}
	s.Spec.Replicas = &replicas
	s.Spec.Selector.MatchLabels = labelled()
	s.Spec.ShootTemplate.Labels, s.Spec.Template.Labels = labelled(), labelled()
	s.Spec.ShootTemplate.Annotations = map[string]string{"note": "shoot"}
	s.Spec.ShootTemplate.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("replica-name.example.org")}
	s.Spec.Template.Spec.Gardenlet = &gardenseedmanagementv1alpha1.GardenletConfig{Config: runtime.RawExtension{
		Raw: []byte(`{"seedConfig":{"spec":{"ingress":{"domain":"ingress.replica-name.example.org"}}},"number":9007199254740993}`),
	}}
	for _, c := range change {
		c(s)
	}
	return s
}

func ending(s *set) { s.DeletionTimestamp = new(metav1.NewTime(at(0))) }

// waits makes a replica pending since minute 1.
func waits(name string, why gardenseedmanagementv1alpha1.PendingReplicaReason, retries ...int32) func(*set) {
	return func(s *set) {
		s.Status.PendingReplica = &pending{Name: name, Reason: why, Since: metav1.NewTime(at(1))}
		if len(retries) > 0 {
			s.Status.PendingReplica.Retries = &retries[0]
		}
	}
}

func next(number int32) func(*set) {
	return func(s *set) { s.Status.NextReplicaNumber = number }
}

func shootOf(name string) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name, UID: "uid-shoot", Generation: 1, Labels: labelled()}}
	s.Labels["shoot.gardener.cloud/status"] = "healthy"
	return s
}

// operated gives a shoot a last operation about its present generation, and a seed.
func operated(s *gardencorev1beta1.Shoot, kind gardencorev1beta1.LastOperationType, is gardencorev1beta1.LastOperationState) {
	s.Status.ObservedGeneration = s.Generation
	s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: kind, State: is}
	s.Spec.SeedName = new("soil")
}

func managedOf(name string, is gardencorev1beta1.ConditionStatus) *gardenseedmanagementv1alpha1.ManagedSeed {
	m := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name, Generation: 1, Labels: labelled()}}
	m.Status.ObservedGeneration = 1
	m.Status.Conditions = []gardencorev1beta1.Condition{{Type: "SeedRegistered", Status: is}}
	return m
}

func seedOf(name string) *gardencorev1beta1.Seed {
	s := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1}}
	s.Status.ObservedGeneration = 1
	s.Status.Conditions = []gardencorev1beta1.Condition{{Type: "GardenletReady", Status: "True"}, {Type: "SeedSystemComponentsHealthy", Status: "True"}}
	return s
}

// in makes a replica of set a that is in the state.
func in(number int32, is state, change ...func(*replica)) replica {
	name := fmt.Sprintf("a-%d", number)
	r := replica{Name: name, Ordinal: number, Shoot: shootOf(name)}
	end := new(metav1.NewTime(at(0)))
	switch is {
	case managedseedset.ShootReconciling:
		operated(r.Shoot, "Create", "Processing")
	case managedseedset.ShootReconcileFailed:
		operated(r.Shoot, "Create", "Failed")
	case managedseedset.ShootDeleteFailed:
		operated(r.Shoot, "Delete", "Failed")
		r.Shoot.DeletionTimestamp = end
	case managedseedset.ShootDeleting:
		operated(r.Shoot, "Delete", "Processing")
		r.Shoot.DeletionTimestamp = end
	default:
		operated(r.Shoot, "Reconcile", "Succeeded")
	}
	switch is {
	case managedseedset.ManagedSeedPreparing:
		r.ManagedSeed = managedOf(name, "False")
	case managedseedset.ManagedSeedDeleting:
		r.ManagedSeed = managedOf(name, "True")
		r.ManagedSeed.DeletionTimestamp = end
	case managedseedset.ManagedSeedRegistered:
		r.ManagedSeed, r.Seed = managedOf(name, "True"), seedOf(name)
	default:
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

func ready(number int32, change ...func(*replica)) replica {
	return in(number, managedseedset.ManagedSeedRegistered, change...)
}

func homeless(r *replica) { r.Shoot.Spec.SeedName = nil }
func silent(r *replica)   { r.Seed.Status.Conditions[0].Status = "Unknown" }
func hosting(r *replica)  { r.Hosts = true }

func health(label string) func(*replica) {
	return func(r *replica) { r.Shoot.Labels["shoot.gardener.cloud/status"] = label }
}

func spared(annotated ...func(*replica) *metav1.ObjectMeta) func(*replica) {
	return func(r *replica) {
		for _, of := range annotated {
			metav1.SetMetaDataAnnotation(of(r), "seedmanagement.gardener.cloud/protect-from-deletion", "true")
		}
	}
}

func theShoot(r *replica) *metav1.ObjectMeta       { return &r.Shoot.ObjectMeta }
func theManagedSeed(r *replica) *metav1.ObjectMeta { return &r.ManagedSeed.ObjectMeta }
