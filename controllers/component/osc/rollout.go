// SPDX-License-Identifier: Apache-2.0

package osc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/terrarium-garden/terrarium/apis/core/query"
)

// rolloutKey is the name of the Secret that the agents of a pool read. It changes with everything that needs new machines: with the name of the
// configuration, and with what the agent cannot change on a machine that runs: where its API server is, whom its pods ask for names, and what
// is reserved on a node or how its processors are shared, on which the pods count that are there. All other changes reach machines in place.
// Of a pool that is updated in place, only the address of the API server counts: all the rest is changed on a node that is drained.
func rolloutKey(name string, v Values) (string, error) {
	dns, err := v.Facts.ResolverAddress()
	if err != nil {
		return "", err
	}
	kubelet := kubeletConfiguration(v, dns)
	covered := []any{v.Server, dns, kubelet.KubeReserved, kubelet.EvictionHard, kubelet.CPUManagerPolicy}
	if query.InPlace(v.Pool) {
		covered = covered[:1]
	}
	data, err := json.Marshal(covered)
	if err != nil {
		return "", fmt.Errorf("hash configuration %q: %w", name, err)
	}
	sum := sha256.Sum256(data)

	return strings.TrimSuffix(name, nameSuffix) + "-" + hex.EncodeToString(sum[:])[:8], nil
}
