// SPDX-License-Identifier: Apache-2.0

package extensions_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
)

func TestAddOns(t *testing.T) {
	t.Parallel()
	const (
		before = gardencorev1beta1.ControllerResourceLifecycleStrategyBeforeKubeAPIServer
		after  = gardencorev1beta1.ControllerResourceLifecycleStrategyAfterKubeAPIServer
		worker = gardencorev1beta1.ControllerResourceLifecycleStrategyAfterWorker
	)
	config := &runtime.RawExtension{Raw: []byte(`{"a":"b"}`)}
	registrations := []gardencorev1beta1.ControllerRegistration{{Spec: gardencorev1beta1.ControllerRegistrationSpec{Resources: []gardencorev1beta1.ControllerResource{
		{Kind: "Extension", Type: "global", GloballyEnabled: new(true)},
		{Kind: "Extension", Type: "seeds", AutoEnable: []gardencorev1beta1.ClusterType{gardencorev1beta1.ClusterTypeSeed}},
		{Kind: "Worker", Type: "chosen", Primary: new(true)},
		{
			Kind: "Extension", Type: "chosen", WorkerlessSupported: new(true), ReconcileTimeout: &metav1.Duration{Duration: time.Hour},
			Lifecycle: &gardencorev1beta1.ControllerResourceLifecycle{Reconcile: new(worker), Delete: new(after), Migrate: new(after)},
		},
	}}}, {Spec: gardencorev1beta1.ControllerRegistrationSpec{Resources: []gardencorev1beta1.ControllerResource{
		{
			Kind: "Extension", Type: "chosen", Primary: new(false), WorkerlessSupported: new(true),
			Lifecycle: &gardencorev1beta1.ControllerResourceLifecycle{Reconcile: new(before)},
		},
	}}}}
	global := extensions.AddOn{Type: "global", Reconcile: after, Delete: before, Migrate: before}
	chosen := extensions.AddOn{Type: "chosen", ProviderConfig: config, Reconcile: worker, Delete: after, Migrate: after, Timeout: time.Hour}
	pools := []gardencorev1beta1.Worker{{Name: "small"}}
	for reason, tc := range map[string]struct {
		listed  []gardencorev1beta1.Extension
		workers []gardencorev1beta1.Worker
		want    []extensions.AddOn
	}{
		"what every shoot gets, at the usual points": {workers: pools, want: []extensions.AddOn{global}},
		"what the shoot asks for, as its primary registration says": {
			workers: pools, listed: []gardencorev1beta1.Extension{{Type: "chosen", ProviderConfig: config}}, want: []extensions.AddOn{chosen, global},
		},
		"not what the shoot disables": {
			workers: pools, listed: []gardencorev1beta1.Extension{{Type: "chosen", Disabled: new(true)}, {Type: "global", Disabled: new(true)}}, want: []extensions.AddOn{},
		},
		"a shoot without workers gets what supports it": {
			listed: []gardencorev1beta1.Extension{{Type: "chosen", ProviderConfig: config}}, want: []extensions.AddOn{chosen},
		},
	} {
		got := extensions.AddOns(&gardencorev1beta1.ShootSpec{
			Extensions: tc.listed, Provider: gardencorev1beta1.Provider{Type: "local", Workers: tc.workers},
		}, registrations)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s\nAddOns(...) (-want +got):\n%s", reason, diff)
		}
	}
}
