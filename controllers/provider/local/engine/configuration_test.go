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
		for why, shoot := range map[string]*gardencorev1beta1.Shoot{
			"cannot be deleted": {ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.Now())}},
			"cannot sleep":      {Spec: gardencorev1beta1.ShootSpec{Hibernation: &gardencorev1beta1.Hibernation{Enabled: new(true)}}},
			"is on no seed":     {Status: gardencorev1beta1.ShootStatus{LastOperation: &gardencorev1beta1.LastOperation{Type: "Restore", State: "Processing"}}},
		} {
			if err := (&engine.Cluster{Shoot: shoot}).Unconfigured(tc.config, "spec.a"); err != nil {
				t.Errorf("%s: Unconfigured(...) = %v, and the shoot %s", name, err, why)
			}
		}
		restored := &gardencorev1beta1.Shoot{Status: gardencorev1beta1.ShootStatus{LastOperation: &gardencorev1beta1.LastOperation{Type: "Restore", State: "Succeeded"}}}
		if err := (&engine.Cluster{Shoot: restored}).Unconfigured(tc.config, "spec.a"); (err != nil) != (tc.want != "") {
			t.Errorf("%s: after a restoration Unconfigured(...) = %v", name, err)
		}
	}
}
