// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

const (
	renewsGarden     = "serviceaccount.resources.gardener.cloud/token-renew-timestamp"
	renewsIdentities = "workloadidentity.security.gardener.cloud/token-renew-timestamp"
)

// TestSeedsRenewTokens changes the keys of tokens in a garden with a gardenlet, a seed whose gardenlet is silent, and one that never had a
// gardenlet. The first renews its tokens, the second is waited for, and nobody waits for the third [OPER-ROT-7].
func TestSeedsRenewTokens(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	n.garden.provider("local")
	n.invite(n.token(time.Hour))
	n.run(n.config("one"))
	n.readySeed()
	n.createTokens()
	never := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "never"}}
	never.Spec = n.garden.seed("template", "local", "north").Spec
	n.garden.create(never)
	silent := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "template"}}
	n.garden.change(silent, func() { silent.Annotations = map[string]string{"gardener.cloud/operation": "renew-kubeconfig"} })

	if err := n.garden.operate("rotate-serviceaccount-key-start;rotate-workload-identity-key-start"); err != nil {
		t.Fatal(err)
	}
	n.awaitRenewal()
	n.phases("Preparing")
	if got := n.operationOf(silent); got != "renew-kubeconfig" {
		t.Errorf("the seed that had something to do has the operation %q, want that it keeps its own", got)
	}
	// A silent seed takes one operation after the other, and only the garden waits for it.
	n.answer(silent, "renew-kubeconfig")
	first, second := "renew-garden-access-secrets", "renew-workload-identity-tokens"
	if n.awaitOneOf(silent, first, second) == second {
		first, second = second, first // Which rotation sees first that the seed has answered is not known.
	}
	n.phases("Preparing")
	for _, key := range []string{"serviceaccount", "workload-identity"} {
		if err := n.garden.operate("rotate-" + key + "-key-complete"); err == nil || !strings.Contains(err.Error(), "Prepared") {
			t.Errorf("complete the rotation of the %s key: got %v, want a refusal", key, err)
		}
	}
	for _, key := range []string{"serviceAccountKey", "workloadIdentityKey"} {
		_, err := n.ask(t.Context(), func(c rest.Interface) *rest.Request {
			return c.Post().SetHeader("Content-Type", "application/json").Body(fmt.Appendf(nil, `{"rotate":%q,"phase":"complete"}`, key))
		})
		want := "the gardenlets of 1 seeds have not been seen to renew the tokens of the former key: template; wait until they have, or force it"
		if !strings.Contains(fmt.Sprint(cause(err)), want) {
			t.Errorf("complete the rotation of the %s by command: got %v, want that it names the silent seed", key, cause(err))
		}
	}
	n.answer(silent, first)
	n.awaitOneOf(silent, second)
	n.answer(silent, second)
	n.phases("Prepared")
	if err := n.garden.operate("rotate-serviceaccount-key-complete"); err == nil || !strings.Contains(err.Error(), "may be valid until") {
		t.Errorf("complete the rotation once all have answered: got %v, want that former tokens may be valid", err)
	}
	if got := n.operationOf(never); got != "" {
		t.Errorf("a seed without a gardenlet was asked for %q", got)
	}
	if got := n.operationOf(silent); got != "" {
		t.Errorf("a seed that has answered was asked again for %q", got)
	}
}

// createTokens puts Secrets with tokens into the seed that would not be renewed before tomorrow.
func (n *nursery) createTokens() {
	n.t.Helper()
	tomorrow := time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)
	for renewal, labels := range map[string]map[string]string{
		renewsGarden:     {"resources.gardener.cloud/purpose": "token-requestor", "resources.gardener.cloud/class": "garden"},
		renewsIdentities: {"security.gardener.cloud/purpose": "workload-identity-token-requestor"},
	} {
		name, _, _ := strings.Cut(renewal, ".")
		n.seed.create(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels, Annotations: map[string]string{renewal: tomorrow}},
			StringData: map[string]string{"token": "former"},
		})
	}
}

// awaitRenewal waits until the gardenlet has been asked for both, has taken the requests off, and both tokens are due.
func (n *nursery) awaitRenewal() {
	n.t.Helper()
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	harness.Await(n.t, n.garden.Client, seed, "the gardenlet has answered", func(s *gardencorev1beta1.Seed) error {
		return has(s.Annotations["gardener.cloud/operation"] == "" && s.Annotations["seed.terrarium.garden/asked-for-service-account-key"] != "" &&
			s.Annotations["seed.terrarium.garden/asked-for-workload-identity-key"] != "", "annotations %v", s.Annotations)
	})
	for _, renewal := range []string{renewsGarden, renewsIdentities} {
		name, _, _ := strings.Cut(renewal, ".")
		n.await("the token is due", func(ctx context.Context) error {
			secret := secretIn("default", name)
			err := n.seed.Client.Get(ctx, client.ObjectKeyFromObject(secret), secret)

			return either(err, secret.Annotations[renewal] == "", "annotations %v", secret.Annotations)
		})
	}
}

// operate annotates the Garden.
func (o *operator) operate(operations string) error {
	o.t.Helper()
	own := &gardenoperatorv1alpha1.Garden{ObjectMeta: metav1.ObjectMeta{Name: "garden"}}
	harness.Await(o.t, o.Client, own, "the Garden is there and at rest", func(g *gardenoperatorv1alpha1.Garden) error {
		return has(g.Annotations["gardener.cloud/operation"] == "", "annotations %v", g.Annotations)
	})
	patch := client.MergeFrom(own.DeepCopy())
	metav1.SetMetaDataAnnotation(&own.ObjectMeta, "gardener.cloud/operation", operations)

	return o.Client.Patch(o.t.Context(), own, patch)
}

// phases waits until both rotations are in a phase.
func (n *nursery) phases(want string) {
	n.t.Helper()
	own := &gardenoperatorv1alpha1.Garden{ObjectMeta: metav1.ObjectMeta{Name: "garden"}}
	harness.Await(n.t, n.garden.Client, own, "both rotations are "+want, func(g *gardenoperatorv1alpha1.Garden) error {
		if g.Status.Credentials == nil || g.Status.Credentials.Rotation == nil {
			return fmt.Errorf("no rotation: %+v", g.Status.Credentials)
		}
		r, got := g.Status.Credentials.Rotation, []string{"", ""}
		if r.ServiceAccountKey != nil {
			got[0] = string(r.ServiceAccountKey.Phase)
		}
		if r.WorkloadIdentityKey != nil {
			got[1] = string(r.WorkloadIdentityKey.Phase)
		}
		diff := cmp.Diff([]string{want, want}, got)

		return has(diff == "", "phases (-want +got):\n%s", diff)
	})
}

func (n *nursery) operationOf(seed *gardencorev1beta1.Seed) string {
	n.t.Helper()
	if err := n.garden.Client.Get(n.t.Context(), client.ObjectKeyFromObject(seed), seed); err != nil {
		n.t.Fatal(err)
	}

	return seed.Annotations["gardener.cloud/operation"]
}

// awaitOneOf waits until a seed is asked for one of some operations, and returns which.
func (n *nursery) awaitOneOf(seed *gardencorev1beta1.Seed, wanted ...string) string {
	n.t.Helper()
	harness.Await(n.t, n.garden.Client, seed, fmt.Sprintf("the seed is asked to %v", wanted), func(s *gardencorev1beta1.Seed) error {
		return has(slices.Contains(wanted, s.Annotations["gardener.cloud/operation"]), "annotations %v", s.Annotations)
	})

	return seed.Annotations["gardener.cloud/operation"]
}

// answer takes an operation off a seed, as its gardenlet would.
func (n *nursery) answer(seed *gardencorev1beta1.Seed, operation string) {
	n.t.Helper()
	if got := n.operationOf(seed); got != operation {
		n.t.Fatalf("operation of seed %q: got %q, want %q", seed.Name, got, operation)
	}
	n.garden.change(seed, func() { delete(seed.Annotations, "gardener.cloud/operation") })
}
