// SPDX-License-Identifier: Apache-2.0

package customverbauthorizer_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/customverbauthorizer"
)

func TestOwnProfilesAndShoots(t *testing.T) {
	t.Parallel()
	type (
		profile = gardencorev1beta1.NamespacedCloudProfile
		shoot   = gardencorev1beta1.Shoot
	)
	all := func(p *profile) {
		p.Spec.Kubernetes = &gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{{Version: "1.36.3"}}}
		p.Spec.MachineImages = []gardencorev1beta1.MachineImage{{Name: "x"}}
		p.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte("{}")}
	}
	rights := []string{
		"rose modify-spec-kubernetes namespacedcloudprofiles garden-meadow/own", "rose modify-spec-machineimages namespacedcloudprofiles garden-meadow/own",
		"rose modify-spec-providerconfig namespacedcloudprofiles garden-meadow/own",
	}
	ask := admissiontest.Request{Object: admissiontest.NamespacedProfile(all), Old: admissiontest.NamespacedProfile()}
	hosted := func(s *shoot) { s.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{} }
	admissiontest.Run(t, customverbauthorizer.New(nil), map[string]admissiontest.Case{
		"API-CVA-3 plain":       {Reason: "a profile that adds machine types needs no right", Request: admissiontest.Request{Object: admissiontest.NamespacedProfile()}},
		"API-CVA-3 kubernetes":  {Reason: "versions do", Request: ask, Refused: []string{"spec.kubernetes of a namespacedcloudprofile", "modify-spec-kubernetes"}},
		"API-CVA-3 images":      {Reason: "so do images", Rights: rights[:1], Request: ask, Refused: []string{"spec.machineImages", "modify-spec-machineimages"}},
		"API-CVA-3 config":      {Reason: "and what only the provider understands", Rights: rights[:2], Request: ask, Refused: []string{"spec.providerConfig", "modify-spec-providerconfig"}},
		"API-CVA-3 allowed":     {Reason: "who has them all may", Rights: rights, Request: ask},
		"API-CVA-3 unchanged":   {Reason: "what stays is not asked about", Request: admissiontest.Request{Object: admissiontest.NamespacedProfile(all), Old: admissiontest.NamespacedProfile(all)}},
		"API-CVA-3 self-hosted": {Reason: "not everybody hosts an own control plane", Request: admissiontest.Request{Object: admissiontest.Shoot(hosted)}, Refused: []string{"mark-self-hosted"}},
		"API-CVA-3 may host":    {Reason: "some do", Rights: []string{"rose mark-self-hosted shoots garden-meadow/sprout"}, Request: admissiontest.Request{Object: admissiontest.Shoot(hosted)}},
		"API-CVA-3 hosts":       {Reason: "and go on", Request: admissiontest.Request{Object: admissiontest.Shoot(hosted), Old: admissiontest.Shoot(hosted)}},
	})
}
