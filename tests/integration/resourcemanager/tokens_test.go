// SPDX-License-Identifier: Apache-2.0

package resourcemanager_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

const template = `apiVersion: v1
kind: Config
current-context: shoot
contexts: [{name: shoot, context: {cluster: shoot, user: shoot}}]
clusters: [{name: shoot, cluster: {server: https://shoot.example.org}}]
users: [{name: other, user: {}}, {name: shoot, user: {}}]
`

// request is a Secret that asks for the token of the service account default/agent of the shoot.
func request(name string, annotations map[string]string) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: home, Name: name, Labels: map[string]string{"resources.gardener.cloud/purpose": "token-requestor", "resources.gardener.cloud/class": "shoot"},
		Annotations: map[string]string{"serviceaccount.resources.gardener.cloud/name": "agent", "serviceaccount.resources.gardener.cloud/namespace": "default"},
	}}
	maps.Copy(secret.Annotations, annotations)
	return secret
}

// TestTokens is about tokens in Secrets of the seed and of the shoot, and about their renewal.
func TestTokens(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	shoot := s.withShoot()
	inKubeconfig := request("kubeconfig", nil)
	inKubeconfig.Data = map[string][]byte{"kubeconfig": []byte(template)}
	delivered := request("delivered", map[string]string{
		"token-requestor.resources.gardener.cloud/target-secret-name": "for-agent", "token-requestor.resources.gardener.cloud/target-secret-namespace": "default",
	})
	foreign := request("foreign", nil)
	foreign.Labels["resources.gardener.cloud/class"] = "garden"
	plain := request("plain", map[string]string{
		"serviceaccount.resources.gardener.cloud/labels": `{"a":"b"}`, "serviceaccount.resources.gardener.cloud/token-expiration-duration": "1h",
	})
	const inject = "serviceaccount.resources.gardener.cloud/inject-ca-bundle"
	bundled, bundledKubeconfig := request("bundled", map[string]string{inject: "true"}), request("bundled-kubeconfig", map[string]string{inject: "true"})
	bundledKubeconfig.Data = map[string][]byte{"kubeconfig": []byte(template)}
	s.create(inKubeconfig, delivered, foreign, plain, bundled, bundledKubeconfig)
	checkBundles(s, shoot.CA, bundled, bundledKubeconfig)

	live := s.token(plain, "")
	token := string(live.Data["token"])
	accepts(t, shoot, token)
	checkAccount(t, shoot.Client)
	checkRenewal(t, live, time.Hour)
	written := s.kubeconfig(inKubeconfig)
	checkRenewal(t, written, 12*time.Hour)
	accepts(t, shoot, fromKubeconfig(written.Data["kubeconfig"]))
	checkDelivered(s, shoot.Client, delivered)

	// Without the time of renewal, there is a new token at once.
	patch(t, s, plain, `{"metadata":{"annotations":{"serviceaccount.resources.gardener.cloud/token-renew-timestamp":null}}}`)
	renewed := s.token(plain, token)
	accepts(t, shoot, string(renewed.Data["token"]))

	patch(t, s, plain, `{"data":{"token":"d3Jvbmc="}}`)
	replaced := s.token(plain, "wrong")
	accepts(t, shoot, string(replaced.Data["token"]))

	if err := s.Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign); err != nil || len(foreign.Data) > 0 {
		t.Errorf("GRM-TOKREQ-1: a Secret of another class holds %d keys, %v", len(foreign.Data), err)
	}
}

// checkBundles looks at the CA beside a token and in a kubeconfig, and at what happens to it when nobody asks for it any more.
func checkBundles(s *stage, ca []byte, plain, inKubeconfig *corev1.Secret) {
	s.t.Helper()
	if diff := cmp.Diff(string(ca), string(s.token(plain, "").Data["bundle.crt"])); diff != "" {
		s.t.Errorf("GRM-TOKREQ-9: the CA beside the token (-want +got):\n%s", diff)
	}
	type cluster struct {
		Server string
		CA     []byte `json:"certificate-authority-data"` //nolint:tagliatelle // As in a kubeconfig.
	}
	var config struct {
		Clusters []struct{ Cluster cluster }
	}
	if err := yaml.Unmarshal(s.kubeconfig(inKubeconfig).Data["kubeconfig"], &config); err != nil {
		s.t.Fatal(err)
	}
	if diff := cmp.Diff([]struct{ Cluster cluster }{{cluster{Server: "https://shoot.example.org", CA: ca}}}, config.Clusters); diff != "" {
		s.t.Errorf("GRM-TOKREQ-9: clusters of the kubeconfig (-want +got):\n%s", diff)
	}
	patch(s.t, s, plain, `{"data":{"bundle.crt":"b2xk"}}`)
	harness.Await(s.t, s.Client, plain, "GRM-TOKREQ-7: another CA is replaced", func(secret *corev1.Secret) error {
		if got := secret.Data["bundle.crt"]; !bytes.Equal(got, ca) {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
	patch(s.t, s, plain, `{"metadata":{"annotations":{"serviceaccount.resources.gardener.cloud/inject-ca-bundle":null}}}`)
	harness.Await(s.t, s.Client, plain, "GRM-TOKREQ-9: a CA that nobody asks for is removed", func(secret *corev1.Secret) error {
		if got := secret.Data["bundle.crt"]; got != nil {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
}

// token waits until a Secret has a token other than the given one.
func (s *stage) token(secret *corev1.Secret, other string) *corev1.Secret {
	s.t.Helper()
	return harness.Await(s.t, s.Client, secret, fmt.Sprintf("Secret %q has a token", secret.Name), func(secret *corev1.Secret) error {
		if token := string(secret.Data["token"]); token == "" || token == other {
			return errors.New("it has none, or the old one")
		}
		return nil
	})
}

func (s *stage) kubeconfig(secret *corev1.Secret) *corev1.Secret {
	s.t.Helper()
	return harness.Await(s.t, s.Client, secret, "the kubeconfig has a token", func(secret *corev1.Secret) error {
		if fromKubeconfig(secret.Data["kubeconfig"]) == "" {
			return errors.New("it has none")
		}
		return nil
	})
}

// fromKubeconfig is the token of the user "shoot"; the other user must not get one.
func fromKubeconfig(data []byte) string {
	var config struct {
		Users []struct {
			Name string
			User struct{ Token string }
		}
	}
	if err := yaml.Unmarshal(data, &config); err != nil || len(config.Users) != 2 || config.Users[0].User.Token != "" {
		return ""
	}
	return config.Users[1].User.Token
}

// accepts fails the test unless the shoot takes the token for the agent.
func accepts(t *testing.T, shoot *harness.Garden, token string) {
	t.Helper()
	const user = "system:serviceaccount:default:agent"
	review := &authenticationv1.SelfSubjectReview{}
	if err := shoot.WithToken(t, token).Create(t.Context(), review); err != nil {
		t.Errorf("show the token to the shoot: %v", err)
	} else if got := review.Status.UserInfo.Username; got != user {
		t.Errorf("the token is that of %q, want %q", got, user)
	}
}

func checkAccount(t *testing.T, shoot client.Client) {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent"}}
	harness.Await(t, shoot, account, "the service account mounts no token by itself", func(account *corev1.ServiceAccount) error {
		if account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken || account.Labels["a"] != "b" {
			return fmt.Errorf("GRM-TOKREQ-2: it is %+v", account)
		}
		return nil
	})
}

// checkRenewal looks at a Secret with a new token of that life.
func checkRenewal(t *testing.T, secret *corev1.Secret, life time.Duration) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, secret.Annotations["serviceaccount.resources.gardener.cloud/token-renew-timestamp"])
	if left := time.Until(at); err != nil || left < life*78/100 || left > life*85/100 {
		t.Errorf("GRM-TOKREQ-3, GRM-TOKREQ-6: a token for %s is renewed in %s, %v", life, left, err)
	}
}

func checkDelivered(s *stage, shoot client.Client, secret *corev1.Secret) {
	s.t.Helper()
	s.eventually("GRM-TOKREQ-5: the token is in the shoot", func(ctx context.Context) error {
		there := &corev1.Secret{}
		if err := shoot.Get(ctx, client.ObjectKey{Namespace: "default", Name: "for-agent"}, there); err != nil {
			return err
		}
		if len(there.Data["token"]) == 0 {
			return errors.New("the Secret is empty")
		}
		return s.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	})
	if len(secret.Data) > 0 {
		s.t.Errorf("GRM-TOKREQ-5: the Secret of the seed still holds %d keys", len(secret.Data))
	}
}
