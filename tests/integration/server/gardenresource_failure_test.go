// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
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

// TestGardenGoesOn_OPER_REC_4 stops a server while an operation is tried again and again: the next one carries it out. Its controllers act before
// it can read all objects.
func TestGardenGoesOn_OPER_REC_4(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	described(t, g, "the server is well", well)
	credentials := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "observability-ingress"}}
	before := harness.Await(t, g.Client, credentials, "the credentials of monitoring", func(*corev1.Secret) error { return nil }).DeepCopy()
	nobody := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "nobody"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "nobody.example.org", ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/")},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"secrets"}},
			}},
			ObjectSelector:          &metav1.LabelSelector{MatchLabels: map[string]string{"gardener.cloud/role": "global-monitoring"}},
			AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionregistrationv1.SideEffectClassNone),
		}},
	}
	if err := g.Client.Create(t.Context(), nobody); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "nobody may write the credentials", func(ctx context.Context) error {
		err := g.Client.Update(ctx, before.DeepCopy(), client.DryRunAll)

		return is(err != nil && strings.Contains(err.Error(), nobody.Webhooks[0].Name), "got %v", err)
	})
	if err := ask(t, g, "rotate-observability-credentials"); err != nil {
		t.Fatal(err)
	}
	described(t, g, "the operation fails", func(own *gardenObject) error {
		last := own.Status.LastOperation

		return is(last.State == gardencorev1beta1.LastOperationStateError && strings.Contains(last.Description, nobody.Webhooks[0].Name), "last operation %+v", last)
	})
	g.Stop(t)
	again := harness.Start(t, harness.WithDataDir(g.DataDir))
	described(t, again, "the server is well again", well)
	if err := again.Client.Delete(t.Context(), nobody); err != nil {
		t.Fatal(err)
	}
	described(t, again, "the operation is carried out", func(own *gardenObject) error {
		asked, last := own.Annotations["gardener.cloud/operation"], own.Status.LastOperation

		return is(asked == "" && last.State == gardencorev1beta1.LastOperationStateSucceeded, "asked %q, last operation %+v", asked, last)
	})
	harness.Await(t, again.Client, credentials, "the password is another one", func(s *corev1.Secret) error {
		return is(!bytes.Equal(s.Data["password"], before.Data["password"]), "the password is the same")
	})
}
