// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestServiceAccountKeyRotation changes the key of service account tokens while the server runs [OPER-ROT-1].
func TestServiceAccountKeyRotation(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	robot := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "robot"}}
	static := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "robot-token", Annotations: map[string]string{corev1.ServiceAccountNameKey: robot.Name},
		},
		Type: corev1.SecretTypeServiceAccountToken,
	}
	for _, o := range []client.Object{robot, static} {
		if err := g.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	request := func() string {
		t.Helper()
		r := &authenticationv1.TokenRequest{}
		if err := g.Client.SubResource("token").Create(t.Context(), robot, r); err != nil {
			t.Fatalf("request token: %v", err)
		}

		return r.Status.Token
	}
	// reasons are why the garden refuses tokens; there is none for those that it accepts.
	reasons := func(g *harness.Garden, tokens map[string]string) map[string]metav1.StatusReason {
		got := map[string]metav1.StatusReason{}
		for name, token := range tokens {
			if err := g.WithToken(t, token).Create(t.Context(), &authenticationv1.SelfSubjectReview{}); err != nil {
				got[name] = apierrors.ReasonForError(err)
			}
		}

		return got
	}
	stored := func(not string) (token string) {
		t.Helper()
		harness.Eventually(t, "a token in the Secret", func(ctx context.Context) error {
			if err := g.Client.Get(ctx, client.ObjectKeyFromObject(static), static); err != nil {
				return err
			}
			if token = string(static.Data["token"]); token == "" || token == not {
				return errSame
			}

			return nil
		})

		return token
	}
	published := func() int {
		t.Helper()
		data, err := raw(t, g, "/openid/v1/jwks", "")
		var set struct{ Keys []any }
		if err = errors.Join(err, json.Unmarshal(data, &set)); err != nil {
			t.Fatalf("published keys: %v", err)
		}

		return len(set.Keys)
	}
	phase := func(want int, says string, args ...string) {
		t.Helper()
		status, out, errs := terrarium(t, append([]string{"certificate", "rotate-service-account-key", "--data-dir", g.DataDir}, args...)...)
		if status != want || !strings.Contains(errs, says) {
			t.Fatalf("%q: status %d, want %d and %q\n%s%s", args, status, want, says, out, errs)
		}
	}
	oldToken, oldStored := request(), stored("")
	if n := published(); n != 1 {
		t.Errorf("published keys: got %d, want 1", n)
	}
	phase(1, "no rotation has begun", "complete")

	phase(0, "new key signs", "start")
	newToken := request()
	got := reasons(g, map[string]string{"old": oldToken, "old stored": oldStored, "new": newToken})
	if diff := cmp.Diff(map[string]metav1.StatusReason{}, got); diff != "" {
		t.Errorf("tokens that are refused while the rotation goes on (-want +got):\n%s", diff)
	}
	if n := published(); n != 2 {
		t.Errorf("published keys: got %d, want 2", n)
	}
	phase(1, "a rotation has begun", "start")
	phase(1, "may be valid until", "complete")

	phase(0, "refused now", "complete", "--force")
	newStored := stored(oldStored)
	refused := func(g *harness.Garden) {
		t.Helper()
		harness.Eventually(t, "the old tokens to be refused", func(context.Context) error {
			got := reasons(g, map[string]string{"old": oldToken, "old stored": oldStored})
			want := map[string]metav1.StatusReason{"old": metav1.StatusReasonUnauthorized, "old stored": metav1.StatusReasonUnauthorized}
			if diff := cmp.Diff(want, got); diff != "" {
				return fmt.Errorf("%w: old tokens that are refused (-want +got):\n%s", errSame, diff)
			}

			return nil
		})
		if diff := cmp.Diff(map[string]metav1.StatusReason{}, reasons(g, map[string]string{"new": newToken, "new stored": newStored})); diff != "" {
			t.Errorf("new tokens that are refused after the rotation (-want +got):\n%s", diff)
		}
	}
	refused(g)
	if n := published(); n != 1 {
		t.Errorf("published keys: got %d, want 1", n)
	}
	g.Stop(t)
	refused(harness.Start(t, harness.WithDataDir(g.DataDir)))
}
