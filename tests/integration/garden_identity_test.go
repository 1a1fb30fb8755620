// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestTokenClaims has gardenlets ask for tokens that name objects: they get those of their own seed into the claims, and do not
// find out whether others exist (API-TOKEN-1).
func TestTokenClaims(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growAccess(o)
	mine := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "mine"}}
	foreign := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-wood", Name: "other"}}
	two := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "two"}}
	bucket := &gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: "two"}}
	entry := entryOf("foreign", "two")
	o.create(entry)
	for _, object := range []client.Object{mine, foreign, two, bucket, entry} {
		o.read(object)
	}
	own := &gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: mine.Namespace, Name: "own"}}
	own.Spec.Audiences, own.Spec.TargetSystem.Type = []string{"sts"}, "local"
	o.create(own)
	o.change(mine, func() {
		mine.Spec.Resources = append(mine.Spec.Resources, gardencorev1beta1.NamedResourceReference{Name: "own", ResourceRef: autoscalingv1.CrossVersionObjectReference{
			APIVersion: gardensecurityv1alpha1.GroupVersion.String(), Kind: "WorkloadIdentity", Name: own.Name,
		}})
	})
	ask := func(who role, kind, namespace, name string, uid types.UID) (map[string]any, error) {
		request := &gardensecurityv1alpha1.TokenRequest{}
		request.Spec.ContextObject = &gardensecurityv1alpha1.ContextObject{APIVersion: "core.gardener.cloud/v1beta1", Kind: kind, Name: name, UID: uid}
		if namespace != "" {
			request.Spec.ContextObject.Namespace = &namespace
		}
		identity := &gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: own.Namespace, Name: own.Name}}
		if err := o.acting(who).SubResource("token").Create(t.Context(), identity, request); err != nil {
			return nil, err
		}
		body, err := base64.RawURLEncoding.DecodeString(strings.Split(request.Status.Token, ".")[1])
		if err != nil {
			t.Fatal(err)
		}
		var claims struct {
			Garden map[string]any `json:"gardener.cloud"` //nolint:tagliatelle // verifiers look for this name
		}
		if err := json.Unmarshal(body, &claims); err != nil {
			t.Fatal(err)
		}
		delete(claims.Garden, "workloadIdentity")
		return claims.Garden, nil
	}
	var claims map[string]any
	harness.Eventually(t, "a gardenlet names a shoot of its seed", func(context.Context) error {
		var err error
		claims, err = ask(seedRole("one"), "Shoot", mine.Namespace, mine.Name, mine.UID)
		return err
	})
	named := func(claim string) any {
		found, _ := claims[claim].(map[string]any)
		return found["name"]
	}
	if diff := cmp.Diff([]any{"mine", "meadow", "one"}, []any{named("shoot"), named("project"), named("seed")}); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	extension := role{
		"extension", "system:serviceaccount:seed-one:extension-local", []string{"system:serviceaccounts", "system:serviceaccounts:seed-one", "system:authenticated"},
	}
	if claims, err := ask(extension, "Shoot", foreign.Namespace, foreign.Name, foreign.UID); err != nil || len(claims) > 0 {
		t.Errorf("what an extension says is ignored: %v, %v", claims, err)
	}
	for what, tc := range map[string]struct {
		kind, namespace, name string
		uid                   types.UID
	}{
		"a foreign shoot":       {"Shoot", foreign.Namespace, foreign.Name, foreign.UID},
		"another UID":           {"Shoot", foreign.Namespace, foreign.Name, "11111111-1111-1111-1111-111111111111"},
		"a missing shoot":       {"Shoot", foreign.Namespace, "missing", foreign.UID},
		"its shoot before":      {"Shoot", mine.Namespace, mine.Name, "11111111-1111-1111-1111-111111111111"},
		"another seed":          {"Seed", "", "two", two.UID},
		"a missing seed":        {"Seed", "", "three", two.UID},
		"a foreign bucket":      {"BackupBucket", "", "two", bucket.UID},
		"a foreign entry":       {"BackupEntry", entry.Namespace, entry.Name, entry.UID},
		"a shoot in no project": {"Shoot", "", "other", foreign.UID},
	} {
		_, err := ask(seedRole("one"), tc.kind, tc.namespace, tc.name, tc.uid)
		want := " \"\" is invalid: spec.contextObject: Invalid value: \"" + strings.TrimPrefix(tc.namespace+"/"+tc.name, "/") +
			"\": seed \"one\" has no " + tc.kind + " with this name and UID"
		if !apierrors.IsInvalid(err) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", what, err, want)
		}
	}
	one := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	o.read(one)
	if _, err := ask(seedRole("one"), "Seed", "", one.Name, one.UID); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "does not refer to the workload identity") {
		t.Errorf("the identity of a shoot on behalf of its seed: got %v", err)
	}
}
