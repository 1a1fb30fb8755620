// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"hash/fnv"
	"strconv"
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	defaultMaxDelay = 5 * time.Minute
	longestDelay    = 30 * time.Minute
)

// MaxDelay is how long nodes may wait before they apply a changed configuration, as the annotations of a shoot say it. What is no number
// of seconds up to half an hour does not count.
func MaxDelay(annotations map[string]string) time.Duration {
	seconds, err := strconv.ParseUint(annotations[gardencorev1beta1.AnnotationShootCloudConfigMaxDelay], 10, 16)
	if delay := time.Duration(seconds) * time.Second; err == nil && delay <= longestDelay {
		return delay
	}
	return defaultMaxDelay
}

// Delay is how long one node waits with one configuration. It is the same when it is asked again, and spread over the nodes, so that not all
// kubelets restart at once. It is no trial: a node whose turn it is does not ask how the nodes before it fared.
func Delay(node, checksum string, longest time.Duration) time.Duration {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(node + "/" + checksum))
	return time.Duration(float64(longest) * float64(hash.Sum32()) / float64(1<<32))
}
