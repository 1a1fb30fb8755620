// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// waits are the tasks that do nothing but wait until what was deployed is ready. Those whose answers other tasks need are none of them:
// the address of the API server, the infrastructure and the configuration of the machines.
func waits() []flow.ID {
	return []flow.ID{
		"etcd-main-wait", "etcd-events-wait", "ext-before-api-wait", "apiserver-wait", "controlplane-wait", "kcm-wait", "scheduler-wait",
		"ext-after-api-wait", "network-wait", "runtimes-wait", "worker-wait", "worker-status-wait", "ext-after-worker-wait", "nodes-ready", "tunnel-wait",
	}
}

// hasty reports whether a reconciliation does not wait until things are ready, which an annotation asks for. It waits nevertheless while
// credentials are being rotated or the encryption changes: each step of it relies on everything having taken the one before. So does a shoot that falls
// asleep, which nothing must be left of.
func hasty(f facts.Shoot) bool {
	if _, asked := f.Shoot.Annotations[gardencorev1beta1.AnnotationShootSkipReadiness]; !asked || f.Power != facts.Awake {
		return false
	}
	if f.Encryption.Changing {
		return false
	}
	phases := query.RotationPhases(f.Shoot)
	return !slices.ContainsFunc([]gardencorev1beta1.CredentialsRotationPhase{phases.CertificateAuthorities, phases.ServiceAccountKey, phases.ETCDEncryptionKey}, underWay)
}

func underWay(phase gardencorev1beta1.CredentialsRotationPhase) bool {
	switch phase {
	case "", gardencorev1beta1.CredentialsRotationPhasePrepared, gardencorev1beta1.CredentialsRotationPhaseCompleted:
		return false
	default:
		return true
	}
}

// hurry leaves the waits out.
func hurry(parts []fragment) []fragment {
	for _, part := range parts {
		for i := range part.deploy {
			if slices.Contains(waits(), part.deploy[i].ID) {
				part.deploy[i].Skip = true
			}
		}
	}
	return parts
}

// dropSecrets deletes the generated Secrets that no component has asked for in this run. Pods of before may have them until those of now are
// ready, and could not start again without them. So a run that has not waited leaves them to the next one (GLET-RECON-5).
func (o *operation) dropSecrets(ctx context.Context) error {
	if hasty(o.facts) {
		return nil
	}
	kept, err := sizing{ground: o.ground()}.mounted(ctx)
	if err != nil {
		return err
	}
	return o.secrets.Cleanup(ctx, kept...)
}

// calmDown removes the annotation that a run was asked with, because it is for one run only. One that came later is for the next.
func (t todo) calmDown(ctx context.Context) error {
	const asked = gardencorev1beta1.AnnotationShootSkipReadiness
	if _, found := t.shoot.Annotations[asked]; !found {
		return nil
	}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live := &gardencorev1beta1.Shoot{}
		if err := t.reader.Get(ctx, client.ObjectKeyFromObject(t.shoot), live); err != nil {
			return err
		}
		if _, found := live.Annotations[asked]; !found {
			return nil
		}
		before := live.DeepCopy()
		delete(live.Annotations, asked)
		return t.garden.Patch(ctx, live, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
	if err != nil {
		return fmt.Errorf("remove annotation %s from shoot %q: %w", asked, t.shoot.Name, err)
	}
	return nil
}
