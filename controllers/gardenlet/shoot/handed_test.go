// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	ownPolicy         = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"
	ownAuthentication = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n" +
		"jwt: [{issuer: {url: \"https://login.example.com\", audiences: [a]}, claimMappings: {username: {claim: sub, prefix: \"x:\"}}}]\n"
	ownAuthorization = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n" +
		"authorizers: [{type: Webhook, name: guard, webhook: {connectionInfo: {type: InClusterConfig}}}]\n"
	ownKubeconfig = "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: \"https://hook.example.com\"}}]\n" +
		"users: [{name: a, user: {token: very-secret}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\ncurrent-context: a\n"
)

// handsIn refers to everything that the owner of a shoot can hand in for its API server.
func handsIn(s *gardencorev1beta1.Shoot) {
	s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{
		// Whatever namespace a reference has, only the project is read.
		AuditConfig:              &gardencorev1beta1.AuditConfig{AuditPolicy: &gardencorev1beta1.AuditPolicy{ConfigMapRef: &corev1.ObjectReference{Namespace: "kube-system", Name: "policy"}}},
		StructuredAuthentication: &gardencorev1beta1.StructuredAuthentication{ConfigMapName: "authn"},
		StructuredAuthorization: &gardencorev1beta1.StructuredAuthorization{
			ConfigMapName: "authz", Kubeconfigs: []gardencorev1beta1.AuthorizerKubeconfigReference{{AuthorizerName: "guard", SecretName: "hook"}},
		},
		AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{
			{Name: "ImagePolicyWebhook", KubeconfigSecretName: new("images")}, {Name: "PodNodeSelector", Disabled: new(true), KubeconfigSecretName: new("gone")},
		},
	}
}

// handedIn are the objects that handsIn refers to, without those of some names.
func handedIn(without ...string) []client.Object {
	config := func(name, key, text string) client.Object {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name}, Data: map[string]string{key: text}}
	}
	kubeconfig := func(name string) client.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name}, Data: map[string][]byte{"kubeconfig": []byte(ownKubeconfig)}}
	}
	all := []client.Object{
		config("policy", "policy", ownPolicy), config("authn", "config.yaml", ownAuthentication), config("authz", "config.yaml", ownAuthorization),
		kubeconfig("hook"), kubeconfig("images"),
	}
	return slices.DeleteFunc(all, func(obj client.Object) bool { return slices.Contains(without, obj.GetName()) })
}

// serverFiles are the configuration of the API server in the seed, and the keys of the kubeconfigs beside it.
func (l *landscape) serverFiles(t *testing.T) (map[string]string, []string) {
	t.Helper()
	config, kubeconfigs := &corev1.ConfigMap{}, &corev1.Secret{}
	if err := l.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: "kube-apiserver-config"}, config); err != nil {
		t.Fatal(err)
	}
	if err := l.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: "kube-apiserver-kubeconfigs"}, kubeconfigs); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return config.Data, namesOf(kubeconfigs.Data)
}

// TestHandedIn follows what the owner hands in through the life of a shoot.
func TestHandedIn(t *testing.T) {
	t.Parallel()
	b := newBedroom(t, handsIn)
	b.give(t, b.GardenClient, handedIn()...)
	b.give(t, b.inside, machineNode())
	b.run(t)
	files, kubeconfigs := b.serverFiles(t)
	for key, want := range map[string]string{"audit-policy.yaml": "Metadata", "authentication-config.yaml": "login.example.com", "authorization-config.yaml": "guard"} {
		if !strings.Contains(files[key], want) {
			t.Errorf("%s has no %q:\n%s", key, want, files[key])
		}
	}
	if diff := cmp.Diff([]string{"admission-imagepolicywebhook.yaml", "authorizer-0.yaml"}, kubeconfigs); diff != "" {
		t.Errorf("kubeconfigs for the server (-want +got):\n%s", diff)
	}

	b.shoot.Spec.Kubernetes.KubeAPIServer = nil
	b.run(t)
	files, kubeconfigs = b.serverFiles(t)
	if _, left := files["authorization-config.yaml"]; left || len(kubeconfigs) > 0 || !strings.Contains(files["audit-policy.yaml"], "None") {
		t.Errorf("what was taken back is still there: %v, kubeconfigs %v", files, kubeconfigs)
	}

	handsIn(b.shoot)
	b.run(t)
	for _, obj := range handedIn("images") {
		if err := b.GardenClient.Delete(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	b.shoot.DeletionTimestamp = &metav1.Time{Time: now()}
	b.run(t)
}

// TestHandedInIsNeeded: an operation does not begin without what the shoot refers to, and its owner learns what to do.
func TestHandedInIsNeeded(t *testing.T) {
	t.Parallel()
	const at = "spec.kubernetes.kubeAPIServer."
	for name, tc := range map[string]struct {
		without string
		other   client.Object
		want    string
	}{
		"policy":         {without: "policy", want: at + `auditConfig.auditPolicy.configMapRef: the project has no ConfigMap "policy"; create it, or remove the reference`},
		"authentication": {without: "authn", want: at + `structuredAuthentication.configMapName: the project has no ConfigMap "authn"`},
		"authorization":  {without: "authz", want: at + `structuredAuthorization.configMapName: the project has no ConfigMap "authz"`},
		"authorizer":     {without: "hook", want: at + `structuredAuthorization.kubeconfigs[0].secretName: the project has no Secret "hook"`},
		"plugin":         {without: "images", want: at + `admissionPlugins[0].kubeconfigSecretName: the project has no Secret "images"`},
		"no key": {
			without: "policy", other: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "policy"}, Data: map[string]string{"policy.yaml": ownPolicy}},
			want: `has nothing under the key "policy"; put the configuration there`,
		},
		"no kubeconfig": {
			without: "hook", other: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "hook"}, Data: map[string][]byte{"config": []byte(ownKubeconfig)}},
			want: `has nothing under the key "kubeconfig"; put the kubeconfig there`,
		},
		"other namespace": {
			without: "policy", other: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "policy"}, Data: map[string]string{"policy": ownPolicy}},
			want: `the project has no ConfigMap "policy"`,
		},
		"program": {
			without: "hook", other: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "hook"}, Data: map[string][]byte{
				"kubeconfig": []byte(strings.ReplaceAll(ownKubeconfig, "token: very-secret", "tokenFile: /srv/kubernetes/service-account/id_rsa")),
			}},
			want: at + `structuredAuthorization.kubeconfigs: the kubeconfig for "guard" must not have tokenFile`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, fresh(handsIn))
			l.give(t, l.GardenClient, handedIn(tc.without)...)
			if tc.other != nil {
				l.give(t, l.GardenClient, tc.other)
			}
			if _, err := l.pass(t.Context()); err == nil {
				t.Fatal("the operation began")
			}
			status := l.shoot(t).Status
			if status.LastOperation == nil || status.LastOperation.State != "Failed" || len(status.LastErrors) != 1 {
				t.Fatalf("last operation %v, errors %v", status.LastOperation, status.LastErrors)
			}
			one := status.LastErrors[0]
			if !strings.Contains(one.Description, tc.want) || strings.Contains(one.Description, "very-secret") {
				t.Errorf("got %q, want %q", one.Description, tc.want)
			}
			if diff := cmp.Diff([]gardencorev1beta1.ErrorCode{"ERR_CONFIGURATION_PROBLEM"}, one.Codes); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHandedInCannotBeRead: that is nothing that the owner could correct.
func TestHandedInCannotBeRead(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(handsIn))
	l.give(t, l.GardenClient, handedIn()...)
	inner, isWatching := l.GardenClient.(client.WithWatch)
	if !isWatching {
		t.Fatal("the client cannot be intercepted")
	}
	l.GardenReader = interceptor.NewClient(inner, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, o ...client.GetOption) error {
		if key.Name == "authn" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, key.Name, nil)
		}
		return c.Get(ctx, key, obj, o...)
	}})
	if result, err := l.pass(t.Context()); err != nil || result.RequeueAfter != 10*time.Second {
		t.Errorf("Reconcile(...) = %v, %v, want another pass after 10s", result, err)
	}
	s := l.shoot(t)
	if s.Status.LastOperation.State != "Processing" || len(s.Status.LastErrors) != 1 || len(s.Status.LastErrors[0].Codes) > 0 {
		t.Errorf("lastOperation = %+v, lastErrors = %+v, want that it waits and shows one error without codes", s.Status.LastOperation, s.Status.LastErrors)
	}
}
