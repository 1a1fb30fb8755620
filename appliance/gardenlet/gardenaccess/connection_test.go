// SPDX-License-Identifier: Apache-2.0

package gardenaccess_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

// TestRequestsAreAsConfigured: limits and formats are those of the configuration, wherever the credentials come from.
func TestRequestsAreAsConfigured_GLET_CFG_1(t *testing.T) {
	t.Parallel()
	type requests struct {
		QPS                 float32
		Burst               int
		ContentType, Accept string
	}
	of := func(c *rest.Config) requests {
		return requests{QPS: c.QPS, Burst: c.Burst, ContentType: c.ContentType, Accept: c.AcceptContentTypes}
	}
	want := requests{QPS: 7, Burst: 9, ContentType: "application/json", Accept: "application/yaml,application/json"}
	for name, prepare := range map[string]func(*testing.T, *world){
		"Certificate": func(_ *testing.T, w *world) { w.bootstrapSecret(bootstrapToken) },
		"File": func(t *testing.T, w *world) {
			t.Helper()
			w.storedSecret("one", w.clock.Now())
			kubeconfig, err := w.stored().Kubeconfig()
			if err != nil {
				t.Fatal(err)
			}
			w.settings.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
			if err := os.WriteFile(w.settings.Kubeconfig, kubeconfig, 0o600); err != nil {
				t.Fatal(err)
			}
			w.settings.KubeconfigSecret, w.settings.BootstrapKubeconfig = nil, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.settings.Connection = gardenconfigv1alpha1.ClientConnectionConfiguration{
				QPS: 7, Burst: 9, ContentType: "application/json", AcceptContentTypes: "application/yaml,application/json",
			}
			prepare(t, w)
			access, err := w.open()
			if err != nil {
				t.Fatalf("Open(...): %v", err)
			}
			if diff := cmp.Diff(map[string]requests{"own": want, "anonymous": want}, map[string]requests{"own": of(access.Config()), "anonymous": of(access.Anonymous())}); diff != "" {
				t.Errorf("requests to the garden (-want +got):\n%s", diff)
			}
		})
	}
}
