// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// TestUnconfigured_EXT_CONV_9 has a configuration where there is nothing to configure.
func TestUnconfigured_EXT_CONV_9(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		config *runtime.RawExtension
		want   string
	}{
		"None":    {},
		"Empty":   {config: &runtime.RawExtension{}},
		"Kind":    {config: &runtime.RawExtension{Raw: []byte(`{"apiVersion":"local.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig"}`)}},
		"Setting": {config: &runtime.RawExtension{Raw: []byte(`{"kind":"WorkerConfig","volume":{}}`)}, want: `unknown field "volume"`},
		"Doubled": {config: &runtime.RawExtension{Raw: []byte(`{"kind":"A","kind":"B"}`)}, want: `key "kind" already set`},
		"NoJSON":  {config: &runtime.RawExtension{Raw: []byte(`"text"`)}, want: "nothing to configure"},
	} {
		for _, cluster := range []*engine.Cluster{nil, {Shoot: &gardencorev1beta1.Shoot{}}} {
			err := cluster.Unconfigured(tc.config, "spec.a")
			if tc.want == "" && err != nil {
				t.Errorf("%s: Unconfigured(...) = %v", name, err)
			}
			if tc.want == "" {
				continue
			}
			if err == nil || !strings.HasPrefix(err.Error(), "spec.a: ") || !strings.Contains(err.Error(), tc.want) || len(operation.Codes(err)) == 0 {
				t.Errorf("%s: Unconfigured(...) = %v, want %q at spec.a, as a problem of the configuration", name, err, tc.want)
			}
		}
		leaving := &engine.Cluster{Shoot: &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.Now())}}}
		if err := leaving.Unconfigured(tc.config, "spec.a"); err != nil {
			t.Errorf("%s: Unconfigured(...) = %v, and the shoot cannot be deleted", name, err)
		}
	}
}
