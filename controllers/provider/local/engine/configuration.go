// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Unconfigured refuses a provider configuration where a local shoot has nothing to configure: whoever writes a setting into it relies on it, and it
// would have no effect. One that only says what it is passes, and none keeps a shoot from its deletion. The field is where its owner has written
// it (EXT-CONV-9).
func (c *Cluster) Unconfigured(config *runtime.RawExtension, field string) error {
	leaving := c != nil && c.Shoot != nil && c.Shoot.DeletionTimestamp != nil
	if leaving || config == nil || len(config.Raw) == 0 {
		return nil
	}
	if err := yaml.UnmarshalStrict(config.Raw, &metav1.TypeMeta{}); err != nil {
		return ConfigurationProblem(fmt.Errorf("%s: a local shoot has nothing to configure there: %w", field, err))
	}
	return nil
}
