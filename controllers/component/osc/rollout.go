// SPDX-License-Identifier: Apache-2.0

package osc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// rollouts are the times at which the machines of a pool were last to be replaced, by the reason for it. A pool that a rotation of
// credentials does not roll out yet still has the time of the rotation before (GLET-CRED-7).
func rollouts(shoot *gardencorev1beta1.Shoot, pool string) map[string]*metav1.Time {
	times := map[string]*metav1.Time{}
	if c := shoot.Status.Credentials; c != nil && c.Rotation != nil {
		if ca := c.Rotation.CertificateAuthorities; ca != nil {
			times["authorities"] = rolloutOf(pool, ca.PendingWorkersRollouts, ca.LastInitiationTime)
		}
		if key := c.Rotation.ServiceAccountKey; key != nil {
			times["serviceAccountKey"] = rolloutOf(pool, key.PendingWorkersRollouts, key.LastInitiationTime)
		}
	}
	if m := shoot.Status.ManualWorkerPoolRollout; m != nil {
		times["manual"] = rolloutOf(pool, m.PendingWorkersRollouts, nil)
	}
	for what, at := range times {
		if at == nil {
			delete(times, what)
		}
	}

	return times
}

func rolloutOf(pool string, own []gardencorev1beta1.PendingWorkersRollout, otherwise *metav1.Time) *metav1.Time {
	for i := range own {
		if own[i].Name == pool {
			return own[i].LastInitiationTime
		}
	}

	return otherwise
}

// rolloutKey is the name of the Secret that the agents of a pool read. It changes with everything that needs new machines: with the name of the
// configuration, and with what the agent cannot change on a machine that runs: where its API server is, whom its pods ask for names, and what
// is reserved on a node or how its processors are shared, on which the pods count that are there. All other changes reach machines in place.
func rolloutKey(name string, v Values) (string, error) {
	dns, err := v.Facts.ResolverAddress()
	if err != nil {
		return "", err
	}
	kubelet := kubeletConfiguration(v, dns)
	data, err := json.Marshal([]any{v.Server, dns, kubelet.KubeReserved, kubelet.EvictionHard, kubelet.CPUManagerPolicy})
	if err != nil {
		return "", fmt.Errorf("hash configuration %q: %w", name, err)
	}
	sum := sha256.Sum256(data)

	return strings.TrimSuffix(name, nameSuffix) + "-" + hex.EncodeToString(sum[:])[:8], nil
}
