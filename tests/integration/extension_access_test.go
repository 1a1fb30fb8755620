// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// checkGardenAccess uses the kubeconfig and the token that the workloads of the extension mount, and has the token renewed.
func (n *nursery) checkGardenAccess(seed *gardencorev1beta1.Seed, home string) {
	n.t.Helper()
	token := secretIn(home, "garden-access-extension")
	token = harness.Await(n.t, n.seed.Client, token, "EXT-GARDEN-2: the extension gets a token of the garden", func(s *corev1.Secret) error {
		return has(len(s.Data["token"]) > 0, "keys %d, annotations %v", len(s.Data), s.Annotations)
	})
	garden := n.asExtension(home, string(token.Data["token"]))
	if err := garden.Get(n.t.Context(), client.ObjectKeyFromObject(seed), &gardencorev1beta1.Seed{}); err != nil {
		n.t.Errorf("EXT-GARDEN-2: the extension cannot read its seed: %v", err)
	}
	other := secretIn("garden", "internal-domain")
	if err := garden.Delete(n.t.Context(), other); !apierrors.IsForbidden(err) {
		n.t.Errorf("EXT-GARDEN-2: deleting a Secret of operators = %v, want forbidden", err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "seed-one", Name: home}}
	if err := n.garden.Client.Get(n.t.Context(), client.ObjectKeyFromObject(account), account); err != nil {
		n.t.Fatal(err)
	}
	if got := account.Labels["controllerregistration.core.gardener.cloud/name"]; got != "greeting" {
		n.t.Errorf("EXT-GARDEN-3: roles select the account by the label of its registration, got %q", got)
	}

	before := string(token.Data["token"])
	n.garden.change(seed, func() {
		seed.Annotations = map[string]string{"gardener.cloud/operation": "renew-garden-access-secrets"}
	})
	token = harness.Await(n.t, n.seed.Client, token, "EXT-GARDEN-4: the token is renewed on request", func(s *corev1.Secret) error {
		return has(string(s.Data["token"]) != before && len(s.Data["token"]) > 0, "annotations %v", s.Annotations)
	})
	harness.Await(n.t, n.garden.Client, seed, "GLET-SEED-11: the operation is taken off", func(s *gardencorev1beta1.Seed) error {
		return has(s.Annotations["gardener.cloud/operation"] == "", "annotations %v", s.Annotations)
	})
	if err := n.asExtension(home, string(token.Data["token"])).Get(n.t.Context(), client.ObjectKeyFromObject(seed), &gardencorev1beta1.Seed{}); err != nil {
		n.t.Errorf("EXT-GARDEN-4: the new token is not accepted: %v", err)
	}
	renewal := token.Annotations["serviceaccount.resources.gardener.cloud/token-renew-timestamp"]
	if at, err := time.Parse(time.RFC3339, renewal); err != nil || time.Until(at) < 8*time.Hour || time.Until(at) > 12*time.Hour {
		n.t.Errorf("GLET-TOK-1: a token of 12 hours is renewed at %q, want long before its end and not before", renewal)
	}
}

// asExtension is a client with the kubeconfig of the extension's namespace and a token.
func (n *nursery) asExtension(home, token string) client.Client {
	n.t.Helper()
	list := &corev1.SecretList{}
	if err := n.seed.Client.List(n.t.Context(), list, client.InNamespace(home)); err != nil {
		n.t.Fatal(err)
	}
	for i := range list.Items {
		if !strings.HasPrefix(list.Items[i].Name, "generic-garden-kubeconfig-") {
			continue
		}
		kubeconfig, err := clientcmd.Load(list.Items[i].Data["kubeconfig"])
		if err != nil {
			n.t.Fatal(err)
		}
		user := kubeconfig.AuthInfos[kubeconfig.Contexts[kubeconfig.CurrentContext].AuthInfo]
		want := &clientcmdapi.AuthInfo{TokenFile: "/var/run/secrets/gardener.cloud/garden/generic-kubeconfig/token"}
		if diff := cmp.Diff(want, user, cmpopts.IgnoreFields(*want, "LocationOfOrigin", "Extensions")); diff != "" {
			n.t.Errorf("EXT-GARDEN-1: the kubeconfig reads the token from a file: user (-want +got):\n%s", diff)
		}
		user.TokenFile, user.Token = "", token
		config, err := clientcmd.NewDefaultClientConfig(*kubeconfig, nil).ClientConfig()
		if err != nil {
			n.t.Fatal(err)
		}
		c, err := client.New(config, client.Options{Scheme: n.garden.Scheme})
		if err != nil {
			n.t.Fatal(err)
		}
		return c
	}
	n.t.Fatalf("namespace %q has no kubeconfig for the garden", home)
	return nil
}
