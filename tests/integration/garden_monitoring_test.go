// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

func TestMonitoringCredentials(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	own := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "observability-ingress"}}
	own = harness.Await(t, o.Client, own, "OPER-FLOW-19: a garden makes its own credentials", func(*corev1.Secret) error { return nil })
	type facts struct {
		User, Role     string
		PasswordLength int
	}
	want := facts{User: "admin", Role: "global-monitoring", PasswordLength: 32}
	got := facts{User: string(own.Data["username"]), Role: own.Labels["gardener.cloud/role"], PasswordLength: len(own.Data["password"])}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("OPER-FLOW-19: the credentials (-want +got):\n%s", diff)
	}
	line, found := strings.CutPrefix(string(own.Data["auth"]), "admin:")
	if err := bcrypt.CompareHashAndPassword([]byte(line), own.Data["password"]); !found || err != nil {
		t.Errorf("A web server can check the password: %v", err)
	}
	seed := o.seed("watched", "local", "north")
	copied := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "seed-watched", Name: own.Name}}
	is := func(want string) func(*corev1.Secret) error {
		return func(s *corev1.Secret) error { return has(string(s.Data["password"]) == want, "another password") }
	}
	harness.Await(t, o.Client, copied, "GCM-SEED-2: a seed gets the credentials", is(string(own.Data["password"])))

	before := string(own.Data["password"])
	if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(seed), seed); err != nil {
		t.Fatal(err)
	}
	generation := seed.Generation
	o.change(own, func() {
		metav1.SetMetaDataAnnotation(&own.ObjectMeta, "gardener.cloud/operation", "rotate-observability-credentials")
	})
	own = harness.Await(t, o.Client, own, "OPER-ROT-8: the rotation ends", func(s *corev1.Secret) error {
		return has(s.Annotations["gardener.cloud/operation"] == "" && string(s.Data["password"]) != before, "operation %q", s.Annotations["gardener.cloud/operation"])
	})
	harness.Await(t, o.Client, copied, "OPER-ROT-8: seeds have the new password", is(string(own.Data["password"])))
	harness.Await(t, o.Client, seed, "OPER-ROT-8: seeds are told, which the server keeps as another generation", func(s *gardencorev1beta1.Seed) error {
		return has(s.Generation > generation, "generation %d, before %d", s.Generation, generation)
	})

	mine := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "mine", Labels: map[string]string{"gardener.cloud/role": "global-monitoring"}},
		StringData: map[string]string{"username": "me", "password": "secret", "auth": "me:x"},
	}
	o.create(mine)
	o.gone(own, "OPER-FLOW-19: an operator's own credentials take the place of the garden's")
	o.delete(mine)
	harness.Eventually(t, "without any the garden makes its own again", func(ctx context.Context) error {
		return o.Client.Get(ctx, client.ObjectKeyFromObject(own), own)
	})
}
