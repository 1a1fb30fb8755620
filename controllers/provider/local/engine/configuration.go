// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Unconfigured refuses a provider configuration where a local shoot has nothing to configure: whoever writes a setting into it relies on it, and it
// would have no effect. One that only says what it is passes, and none keeps a shoot from its deletion, from its sleep, or between two seeds. The
// field is where its owner has written it (EXT-CONV-9).
func (c *Cluster) Unconfigured(config *runtime.RawExtension, field string) error {
	if c.urgent() || config == nil || len(config.Raw) == 0 {
		return nil
	}
	if err := yaml.UnmarshalStrict(config.Raw, &metav1.TypeMeta{}); err != nil {
		return ConfigurationProblem(fmt.Errorf("%s: a local shoot has nothing to configure there: %w", field, err))
	}
	return nil
}

// urgent reports whether what the shoot goes through must not be held up by its configuration. It is safe to call on nil.
func (c *Cluster) urgent() bool {
	if c == nil || c.Shoot == nil {
		return false
	}
	last := c.Shoot.Status.LastOperation
	restored := last != nil && last.Type == gardencorev1beta1.LastOperationTypeRestore && last.State != gardencorev1beta1.LastOperationStateSucceeded
	return restored || c.Shoot.DeletionTimestamp != nil || query.HibernationWanted(c.Shoot)
}
