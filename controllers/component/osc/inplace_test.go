// SPDX-License-Identifier: Apache-2.0

package osc_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/osc"
)

// TestInPlacePoolsKeepTheirKey: what needs new machines elsewhere changes neither name nor key of a pool that is updated in place, but the
// hash of what its nodes are updated to. Only another address of the API server needs new machines.
func TestInPlacePoolsKeepTheirKey_EXT_OSC_2(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(time.Unix(7, 0))
	inPlace := func() osc.Values {
		v := values()
		v.Pool.UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate)
		return v
	}
	kubelet := func(c gardencorev1beta1.KubeletConfig) func(*osc.Values) {
		return func(v *osc.Values) { v.Facts.Shoot.Spec.Kubernetes.Kubelet = &c }
	}
	cases := map[string]struct {
		change      func(*osc.Values)
		hash, other bool
	}{
		"patch":    {change: func(v *osc.Values) { v.Facts.Shoot.Spec.Kubernetes.Version = "1.36.4" }, hash: true},
		"minor":    {change: func(v *osc.Values) { v.Facts.Shoot.Spec.Kubernetes.Version = "1.37.0" }, hash: true},
		"image":    {change: func(v *osc.Values) { v.Pool.Machine.Image.Version = new("1.0.1") }, hash: true},
		"reserved": {change: kubelet(gardencorev1beta1.KubeletConfig{CPUManagerPolicy: new("static")}), hash: true},
		"light":    {change: kubelet(gardencorev1beta1.KubeletConfig{MaxPods: new(int32(7))})},
		"more":     {change: func(v *osc.Values) { v.Pool.Maximum = 9 }},
		"authorities": {change: func(v *osc.Values) {
			v.Facts.Shoot.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
				CertificateAuthorities: &gardencorev1beta1.CARotation{LastInitiationTime: &at},
			}}
		}, hash: true},
		"server": {change: func(v *osc.Values) { v.Server = "https://elsewhere" }, other: true},
	}
	base := inPlace()
	name, err := nameOf(base)
	if err != nil || name != "gardener-node-agent-"+base.Pool.Name+"-init" {
		t.Fatalf("Name(...) = %q, %v", name, err)
	}
	key, hash := keyOf(t, base), query.InPlaceHash(base.Facts.Shoot, base.Pool)
	for what, tc := range cases {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			v := inPlace()
			tc.change(&v)
			got, err := nameOf(v)
			if err != nil || got != name || (keyOf(t, v) != key) != tc.other || (query.InPlaceHash(v.Facts.Shoot, v.Pool) != hash) != tc.hash {
				t.Errorf("name %q, %v; another key: %t, want %t; another hash: %t, want %t",
					got, err, keyOf(t, v) != key, tc.other, query.InPlaceHash(v.Facts.Shoot, v.Pool) != hash, tc.hash)
			}
		})
	}
}

// TestInPlaceUpdatesAreAsked: extensions read from the configuration what machines are updated to.
func TestInPlaceUpdatesAreAsked(t *testing.T) {
	t.Parallel()
	v := values()
	if o, err := osc.RenderOriginal(v); err != nil || o.Spec.InPlaceUpdates != nil {
		t.Errorf("machines that are replaced: %v, %v", o.Spec.InPlaceUpdates, err)
	}
	at := metav1.NewTime(time.Unix(7, 0))
	v.Pool.UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate)
	v.Facts.Shoot.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
		ServiceAccountKey: &gardencorev1beta1.ServiceAccountKeyRotation{LastInitiationTime: &at},
	}}
	o, err := osc.RenderOriginal(v)
	if err != nil {
		t.Fatal(err)
	}
	want := &gardenextensionsv1alpha1.InPlaceUpdates{
		OperatingSystemVersion: "1.0.0", KubeletVersion: v.Facts.Shoot.Spec.Kubernetes.Version,
		CredentialsRotation: &gardenextensionsv1alpha1.CredentialsRotation{ServiceAccountKey: &gardenextensionsv1alpha1.ServiceAccountKeyRotation{LastInitiationTime: &at}},
	}
	if diff := cmp.Diff(want, o.Spec.InPlaceUpdates); diff != "" {
		t.Errorf("spec.inPlaceUpdates (-want +got):\n%s", diff)
	}
}
