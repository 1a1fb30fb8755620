// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestGardenFails breaks what the controller of the Garden reads in each of its runs. It tells so, and the garden works all the while: requests
// are answered, also those for what is encrypted, and the other controllers act. The next run after that succeeds, and shows what was asked for
// meanwhile.
func TestGardenFails_OPER_NOTE_2(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	described(t, g, "the server is well", well)
	broken := filepath.Join(g.DataDir, "pki", "encryption-rotation.json")
	if err := os.WriteFile(broken, []byte("half a fi"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ask(t, g, "rotate-serviceaccount-key-start"); err != nil {
		t.Fatal(err)
	}
	described(t, g, "the Garden tells of the failure", func(own *gardenObject) error {
		last := own.Status.LastOperation

		return is(last.State == gardencorev1beta1.LastOperationStateError && strings.Contains(last.Description, "encryption-rotation.json"), "last operation %+v", last)
	})
	kept := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "kept"}, Data: map[string][]byte{"a": []byte("b")}}
	if err := g.Client.Create(t.Context(), kept); err != nil {
		t.Errorf("write a Secret: %v", err)
	}
	if err := g.Client.Get(t.Context(), client.ObjectKeyFromObject(kept), kept); err != nil || string(kept.Data["a"]) != "b" {
		t.Errorf("read a Secret: %v, %q", err, kept.Data)
	}
	project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "meadow"}}
	if err := g.Client.Create(t.Context(), project); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, g.Client, project, "the other controllers act", func(p *gardencorev1beta1.Project) error {
		return is(p.Status.Phase == gardencorev1beta1.ProjectPhaseReady, "phase %q", p.Status.Phase)
	})
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	if err := ask(t, g, "reconcile"); err != nil {
		t.Fatal(err)
	}
	described(t, g, "the next run succeeds, and shows what was asked for", func(own *gardenObject) error {
		last, asked := own.Status.LastOperation, own.Annotations["gardener.cloud/operation"]
		done := own.Status.Credentials != nil && own.Status.Credentials.Rotation != nil && own.Status.Credentials.Rotation.ServiceAccountKey != nil

		return is(last.State == gardencorev1beta1.LastOperationStateSucceeded && asked == "" && done, "last operation %+v, asked %q, done %t", last, asked, done)
	})
}
