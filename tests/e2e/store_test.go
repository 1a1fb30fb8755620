// SPDX-License-Identifier: Apache-2.0

package e2e_test

import "testing"

// brokenHeld is what the shoot that loses its store cannot have: machines, and later its store.
func brokenHeld() []string { return []string{"broken machine", "broken etcd-statefulset"} }

// lostStore takes the store away from a shoot, for ever, and deletes the shoot while its API server does not answer any more. The gardenlet
// dies meanwhile: it would see the deletion only once the operation before it has failed. The deletion fails after some minutes too, and
// other chapters are told until then. Its owner gives up on it in interruptions.
func lostStore(t *testing.T, w *world) {
	t.Helper()
	e := &ends{world: w}
	e.hold(t, brokenHeld()[:1]...)
	e.order(t, map[string]string{"broken": endMachines})
	e.await(t, map[string]string{"broken": "Create *the pod is held"})
	e.hold(t, brokenHeld()...)
	e.must(t, e.seed("-n", endPlane+"broken", "delete", "pod", "etcd-main-0", "--now")...)
	e.delete(t, "broken")
	e.kill(t, e.gardenletPID(t))
	e.await(t, map[string]string{"broken": "Delete Processing: *Waiting for the etcd for main"})
}

// giveUp deletes by force the shoot that cannot be cleaned up, because its store does not come back.
func (e *ends) giveUp(t *testing.T) {
	t.Helper()
	e.await(t, map[string]string{"broken": "Delete *ERR_CLEANUP_CLUSTER_RESOURCES"})
	e.must(t, e.garden("-n", namespace, "annotate", "shoot", endPrefix+"broken", "confirmation.gardener.cloud/force-deletion=true")...)
}
