// SPDX-License-Identifier: Apache-2.0

package managedseedset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/managedseedset"
)

func TestState(t *testing.T) {
	t.Parallel()
	outdated := func(r *replica) { r.Shoot.Generation = 2 }
	ofDeletion := func(r *replica) { r.Shoot.Status.LastOperation.Type = "Delete" }
	for name, tc := range map[string]struct {
		reason  string
		replica replica
		want    state
	}{
		"GCM-MSS-3 nothing":            {reason: "nothing is known of what is not there", want: managedseedset.Unknown},
		"GCM-MSS-3 new":                {reason: "a shoot that no seed has is on its way", replica: replica{Shoot: shootOf("a-0")}, want: managedseedset.ShootReconciling},
		"GCM-MSS-3 reconciling":        {reason: "so is one that is made", replica: in(0, managedseedset.ShootReconciling), want: managedseedset.ShootReconciling},
		"GCM-MSS-3 failed":             {reason: "a failure is told apart", replica: in(0, managedseedset.ShootReconcileFailed), want: managedseedset.ShootReconcileFailed},
		"GCM-MSS-3 failed before":      {reason: "one of an earlier generation is none", replica: in(0, managedseedset.ShootReconcileFailed, outdated), want: managedseedset.ShootReconciling},
		"GCM-MSS-3 reconciled":         {reason: "it is made", replica: in(0, managedseedset.ShootReconciled), want: managedseedset.ShootReconciled},
		"GCM-MSS-3 reconciled before":  {reason: "the present generation counts", replica: in(0, managedseedset.ShootReconciled, outdated), want: managedseedset.ShootReconciling},
		"GCM-MSS-3 deleting":           {reason: "it ends", replica: in(0, managedseedset.ShootDeleting), want: managedseedset.ShootDeleting},
		"GCM-MSS-3 delete failed":      {reason: "it cannot end", replica: in(0, managedseedset.ShootDeleteFailed), want: managedseedset.ShootDeleteFailed},
		"GCM-MSS-3 failed, then ended": {reason: "a failure to make it is no failure to delete it", replica: in(0, managedseedset.ShootReconcileFailed, func(r *replica) { r.Shoot.DeletionTimestamp = new(metav1.NewTime(at(0))) }), want: managedseedset.ShootDeleting},
		"GCM-MSS-3 failed Delete":      {reason: "nor is a failed deletion one to make it", replica: in(0, managedseedset.ShootReconcileFailed, ofDeletion), want: managedseedset.ShootReconciling},
		"GCM-MSS-3 Delete":             {reason: "nor has a deletion that succeeded made it", replica: in(0, managedseedset.ShootReconciled, ofDeletion), want: managedseedset.ShootReconciling},
		"GCM-MSS-3 preparing":          {reason: "its gardenlet is not there yet", replica: in(0, managedseedset.ManagedSeedPreparing), want: managedseedset.ManagedSeedPreparing},
		"GCM-MSS-3 changed":            {reason: "what was registered before a change may not be now", replica: ready(0, func(r *replica) { r.ManagedSeed.Generation = 2 }), want: managedseedset.ManagedSeedPreparing},
		"GCM-MSS-3 seed deleting":      {reason: "the seed ends first", replica: in(0, managedseedset.ManagedSeedDeleting), want: managedseedset.ManagedSeedDeleting},
		"GCM-MSS-3 registered":         {reason: "it is a seed", replica: ready(0), want: managedseedset.ManagedSeedRegistered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.replica.State(); got != tc.want {
				t.Errorf("%s: State() = %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

func TestReadyAndDeletable(t *testing.T) {
	t.Parallel()
	buckets := func(status gardencorev1beta1.ConditionStatus, why string) func(*replica) {
		return func(r *replica) {
			r.Seed.Status.Conditions = append(r.Seed.Status.Conditions, gardencorev1beta1.Condition{Type: "BackupBucketsReady", Status: status, Reason: why})
		}
	}
	for name, tc := range map[string]struct {
		reason           string
		replica          replica
		ready, deletable bool
	}{
		"GCM-MSS-4 ready":       {reason: "all is well", replica: ready(0), ready: true, deletable: true},
		"GCM-MSS-4 buckets":     {reason: "its buckets are well", replica: ready(0, buckets("True", "")), ready: true, deletable: true},
		"GCM-MSS-4 bad buckets": {reason: "they are not", replica: ready(0, buckets("False", "BackupBucketsError")), deletable: true},
		"GCM-MSS-4 no buckets":  {reason: "there are none, which is no obstacle to shoots either", replica: ready(0, buckets("Unknown", "BackupBucketsGone")), ready: true, deletable: true},
		"GCM-MSS-4 silent":      {reason: "its gardenlet is silent", replica: ready(0, silent), deletable: true},
		"GCM-MSS-4 components":  {reason: "its components are not well", replica: ready(0, func(r *replica) { r.Seed.Status.Conditions[1].Status = "False" }), deletable: true},
		"GCM-MSS-4 unobserved":  {reason: "its gardenlet has not seen the latest seed", replica: ready(0, func(r *replica) { r.Seed.Generation = 2 }), deletable: true},
		"GCM-MSS-4 seed ends":   {reason: "its seed ends", replica: ready(0, func(r *replica) { r.Seed.DeletionTimestamp = new(metav1.NewTime(at(0))) }), deletable: true},
		"GCM-MSS-4 no seed":     {reason: "there is no seed", replica: ready(0, func(r *replica) { r.Seed = nil }), deletable: true},
		"GCM-MSS-4 unhealthy":   {reason: "its shoot is not well", replica: ready(0, health("unhealthy")), deletable: true},
		"GCM-MSS-4 preparing":   {reason: "it is no seed yet", replica: in(0, managedseedset.ManagedSeedPreparing), deletable: true},
		"GCM-MSS-5 hosting":     {reason: "shoots would lose their control planes", replica: ready(0, hosting), ready: true},
		"GCM-MSS-5 shoot":       {reason: "its shoot is spared", replica: ready(0, spared(theShoot)), ready: true},
		"GCM-MSS-5 seed":        {reason: "its seed is spared", replica: ready(0, spared(theManagedSeed)), ready: true},
		"GCM-MSS-5 false": {reason: "it is not spared", replica: ready(0, func(r *replica) {
			r.Shoot.Annotations = map[string]string{"seedmanagement.gardener.cloud/protect-from-deletion": "false"}
		}), ready: true, deletable: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := map[string]bool{"ready": tc.ready, "deletable": tc.deletable}
			if diff := cmp.Diff(want, map[string]bool{"ready": tc.replica.Ready(), "deletable": tc.replica.Deletable()}); diff != "" {
				t.Errorf("%s\nreplica (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
