// SPDX-License-Identifier: Apache-2.0

package controllerregistration_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerregistration"
)

func fill(t *testing.T, i *installation, target controllerregistration.Target, s *seed) {
	t.Helper()
	if err := controllerregistration.Fill(i, target, controllerregistration.OnSeed{Seed: s}); err != nil {
		t.Fatalf("Fill: %v", err)
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	r := local()
	r.ResourceVersion = "5"
	r.Annotations = map[string]string{"security.gardener.cloud/pod-security-enforce": "privileged"}
	s := newSeed(func(s *seed) { s.ResourceVersion = "7" })
	target := controllerregistration.Target{
		Registration: &r,
		Deployment:   &gardencorev1beta1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: "local", ResourceVersion: "6"}, Type: "helm"},
	}
	got := &installation{}
	fill(t, got, target, s)

	wantSpec := gardencorev1beta1.ControllerInstallationSpec{
		RegistrationRef: corev1.ObjectReference{Name: "provider-local", ResourceVersion: "5"},
		DeploymentRef:   &corev1.ObjectReference{Name: "local", ResourceVersion: "6"},
		SeedRef:         &corev1.ObjectReference{Name: "eu", ResourceVersion: "7"},
	}
	if diff := cmp.Diff(wantSpec, got.Spec); diff != "" {
		t.Errorf("GCM-CR-7: references (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("eu", got.Labels["seed-ref-name"]); diff != "" {
		t.Errorf("GCM-CR-10: an installation on a seed names it (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(r.Annotations, got.Annotations); diff != "" {
		t.Errorf("GCM-CR-7: the pod security level is mirrored (-want +got):\n%s", diff)
	}
	for _, label := range []string{"registration-spec-hash", "seed-spec-hash", "deployment-hash"} {
		if len(got.Labels[label]) != 16 {
			t.Errorf("GCM-CR-7: label %q = %q, want the first 16 characters of a hash", label, got.Labels[label])
		}
	}

	r.Annotations = nil
	got.Annotations["note"] = "mine"
	fill(t, got, target, s)
	if diff := cmp.Diff(map[string]string{"note": "mine"}, got.Annotations); diff != "" {
		t.Errorf("GCM-CR-7: a level that the registration has no more goes (-want +got):\n%s", diff)
	}
}

func TestFillAgain(t *testing.T) {
	t.Parallel()
	heartbeat := func(s *seed) { s.ResourceVersion = "8" }
	cases := map[string]struct {
		reason string
		seed   func(*seed)
		target func(*controllerregistration.Target)
		labels []string
		ref    string
	}{
		"GCM-CR-7 heartbeat": {reason: "a seed that only beats does not install everything again", seed: heartbeat, ref: "7"},
		"GCM-CR-7 other seed": {
			reason: "a seed that changed does", ref: "8", labels: []string{"seed-spec-hash"},
			seed: func(s *seed) {
				heartbeat(s)
				s.Spec.Provider.Region = "north"
			},
		},
		"GCM-CR-7 other registration": {
			reason: "a registration that changed does", ref: "7", labels: []string{"registration-spec-hash"},
			target: func(target *controllerregistration.Target) {
				target.Registration = new(offers("provider-local", "Worker/local"))
			},
		},
		"GCM-CR-7 other deployment": {
			reason: "a deployment that changed does", ref: "7", labels: []string{"deployment-hash"},
			target: func(target *controllerregistration.Target) {
				target.Deployment = &gardencorev1beta1.ControllerDeployment{Type: "other"}
			},
		},
		"GCM-CR-7 access to the garden": {
			reason: "so does one whose charts are given access to the garden", ref: "7", labels: []string{"deployment-hash"},
			target: func(target *controllerregistration.Target) {
				target.Deployment = &gardencorev1beta1.ControllerDeployment{Type: "helm", InjectGardenKubeconfig: new(true)}
			},
		},
		"GCM-CR-7 no deployment": {
			reason: "a deployment that is not named any more leaves no hash", ref: "7", labels: []string{"deployment-hash"},
			target: func(target *controllerregistration.Target) { target.Deployment = nil },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := controllerregistration.Target{Registration: new(local()), Deployment: &gardencorev1beta1.ControllerDeployment{Type: "helm"}}
			s := newSeed(func(s *seed) { s.ResourceVersion = "7" })
			before := &installation{}
			fill(t, before, target, s)
			if tc.seed != nil {
				tc.seed(s)
			}
			if tc.target != nil {
				tc.target(&target)
			}
			after := before.DeepCopy()
			fill(t, after, target, s)

			var changed []string
			for label, hash := range before.Labels {
				if after.Labels[label] != hash {
					changed = append(changed, label)
				}
			}
			if diff := cmp.Diff(tc.labels, changed); diff != "" {
				t.Errorf("%s\nlabels that changed (-want +got):\n%s", tc.reason, diff)
			}
			if after.Spec.SeedRef.ResourceVersion != tc.ref {
				t.Errorf("%s\nversion of the seed = %q, want %q", tc.reason, after.Spec.SeedRef.ResourceVersion, tc.ref)
			}
		})
	}
}
