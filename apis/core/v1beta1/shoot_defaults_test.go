// SPDX-License-Identifier: Apache-2.0

package v1beta1_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestShootDefaultsWhole compares whole Shoots: those that say as little as possible, and those that open every section in
// which something is filled in. testdata holds, beside each other, what is given and what becomes of it (API-DEF-1 to 7,
// 9 to 12).
func TestShootDefaultsWhole(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"shoot", "shoot-sections", "shoot-workerless", "shoot-workerless-sections", "shoot-in-place"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := readShoot(t, name+".yaml"), readShoot(t, name+".defaulted.yaml")
			gardencorev1beta1.SetDefaultsShoot(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("a defaulted Shoot (-want +got):\n%s", diff)
			}
			again := got.DeepCopy()
			gardencorev1beta1.SetDefaultsShoot(again)
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("what is defaulted stays (-first +second):\n%s", diff)
			}
		})
	}
}

func readShoot(t *testing.T, name string) *gardencorev1beta1.Shoot {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	s := &gardencorev1beta1.Shoot{}
	if err := yaml.UnmarshalStrict(raw, s); err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return s
}
