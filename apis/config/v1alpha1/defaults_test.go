// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

func TestDefaults(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		reason string
		encode func() ([]byte, error)
		file   string
	}{
		"gardenlet": {
			reason: "The defaults of a gardenlet are part of the published contract.",
			encode: func() ([]byte, error) {
				config := &gardenconfigv1alpha1.GardenletConfiguration{
					ExposureClassHandlers: []gardenconfigv1alpha1.ExposureClassHandler{{
						Name: "private",
						SNI:  &gardenconfigv1alpha1.SNI{Ingress: &gardenconfigv1alpha1.SNIIngress{}},
					}},
				}
				config.SetDefaults()

				return gardenconfigv1alpha1.EncodeGardenletConfiguration(config)
			},
			file: "gardenlet-defaults.yaml",
		},
		"server": {
			reason: "The defaults of a server are what the documentation prints.",
			encode: func() ([]byte, error) {
				config := &gardenconfigv1alpha1.ServerConfiguration{}
				config.Controllers.Event = &gardenconfigv1alpha1.ServerEventControllerConfiguration{}
				config.SetDefaults()

				return gardenconfigv1alpha1.EncodeServerConfiguration(config)
			},
			file: "server-defaults.yaml",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			want, err := os.ReadFile(filepath.Join("testdata", tc.file))
			if err != nil {
				t.Fatal(err)
			}

			got, err := tc.encode()
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s\n%s (-want +got):\n%s", tc.reason, tc.file, diff)
			}
		})
	}
}

func TestDefaultsAreStable(t *testing.T) {
	t.Parallel()

	config := &gardenconfigv1alpha1.GardenletConfiguration{}
	config.SetDefaults()
	again := config.DeepCopy()
	again.SetDefaults()

	if diff := cmp.Diff(config, again); diff != "" {
		t.Errorf("Defaults applied twice change nothing (-once +twice):\n%s", diff)
	}

	data, err := gardenconfigv1alpha1.EncodeGardenletConfiguration(config)
	if err != nil {
		t.Fatal(err)
	}

	decoded, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(data)
	if err != nil {
		t.Fatalf("A printed configuration is accepted again: %v", err)
	}

	decoded.TypeMeta = config.TypeMeta
	if diff := cmp.Diff(config, decoded); diff != "" {
		t.Errorf("A printed configuration is read back as it was (-written +read):\n%s", diff)
	}
}

func secretReference(namespace, name string) *corev1.SecretReference {
	return &corev1.SecretReference{Namespace: namespace, Name: name}
}

// TestStrategy_SCHED_PROC_3: files for older releases have another name for the default.
func TestStrategy_SCHED_PROC_3(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "SameRegion", "Default": "SameRegion", "SameRegion": "SameRegion", "MinimalDistance": "MinimalDistance", "Nearest": "Nearest"} {
		config := &gardenconfigv1alpha1.ServerConfiguration{}
		config.Scheduler.CandidateDeterminationStrategy = gardenconfigv1alpha1.CandidateDeterminationStrategy(given)
		config.SetDefaults()
		if got := string(config.Scheduler.CandidateDeterminationStrategy); got != want {
			t.Errorf("strategy %q becomes %q, want %q", given, got, want)
		}
	}
}

// TestWorkers checks that every section of a controller of the garden says how many workers it has.
func TestWorkers(t *testing.T) {
	t.Parallel()
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.Controllers.Event = &gardenconfigv1alpha1.ServerEventControllerConfiguration{}
	config.SetDefaults()
	sections := map[string]int{}
	for name, workers := range config.Controllers.Workers() {
		sections[name] = *workers.ConcurrentSyncs
	}
	for _, name := range []string{"certificateSigningRequest", "event", "project", "seed", "seedExtensionsCheck", "shootStatusLabel"} {
		if sections[name] != 5 {
			t.Errorf("section %q has %d workers, want 5", name, sections[name])
		}
	}
	// All fields are sections with workers, except the list of controllers that do not run, what is for all, and the controller of the one Garden.
	if want := reflect.TypeFor[gardenconfigv1alpha1.ServerControllerConfiguration]().NumField() - 3; len(sections) != want {
		t.Errorf("%d sections have workers, want all %d: %v", len(sections), want, sections)
	}
	*config.Controllers.Seed.ConcurrentSyncs = 7
	for name, workers := range config.Controllers.Workers() {
		if name == "seed" && *workers.ConcurrentSyncs != 7 {
			t.Error("the section itself is yielded, not a copy")
		}
	}
}
