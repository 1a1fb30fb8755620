// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
	"github.com/terrarium-garden/terrarium/tests/certificates"
)

// home is the control-plane namespace of the shoot of these tests.
const home = "shoot--dev--a"

// masters finds the certificates of administrators in the Secrets of a namespace.
func masters(t *testing.T, c client.Client, namespace string) (found []string, looked int) {
	t.Helper()
	list := &corev1.SecretList{}
	if err := c.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		for key, data := range list.Items[i].Data {
			for _, certificate := range certificates.In(data) {
				looked++
				if slices.Contains(certificate.Subject.Organization, "system:masters") {
					found = append(found, list.Items[i].Name+"/"+key)
				}
			}
		}
	}

	return found, looked
}

// former makes what earlier versions have left: the certificate of an administrator, and a kubeconfig with it.
func former(t *testing.T, l *landscape, namespace string) {
	t.Helper()
	manager, err := secrets.Load(t.Context(), secrets.Config{Client: l.SeedClient, Namespace: namespace, Identity: "gardenlet", Clock: l.Clock})
	if err != nil {
		t.Fatal(err)
	}
	ca, err := manager.CA(t.Context(), "ca-client")
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := manager.Certificate(t.Context(), secrets.CertificateSpec{
		Name: "gardenlet-access", CA: ca, Usage: secrets.UsageClient, CommonName: "gardener.cloud:system:gardenlet", Organizations: []string{"system:masters"},
	})
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := secrets.Kubeconfig(secrets.KubeconfigSpec{Context: namespace, Server: "https://10.99.1.1", Certificate: certificate})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gardener", "gardener-internal", "shoot-access-extension"} {
		l.give(t, l.SeedClient, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{"kubeconfig": kubeconfig}})
	}
}

// TestNoAdministratorIsLeft_EXT_SEC_1 looks at all Secrets of a control plane after a run, where an earlier version has left
// certificates of administrators.
func TestNoAdministratorIsLeft_EXT_SEC_1(t *testing.T) {
	t.Parallel()
	b := newBedroom(t, func(s *gardencorev1beta1.Shoot) {
		s.Spec.Provider.Workers, s.Spec.Networking, s.Spec.CredentialsBindingName = nil, nil, nil
	})
	former(t, b.landscape, home)
	if found, _ := masters(t, b.SeedClient, home); len(found) != 4 {
		t.Fatalf("the test finds %v, want the certificate and three kubeconfigs", found)
	}
	synctest.Test(t, func(t *testing.T) {
		if _, err := b.pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	found, looked := masters(t, b.SeedClient, home)
	if diff := cmp.Diff([]string(nil), found); diff != "" || looked < 5 {
		t.Errorf("of %d certificates, these are of administrators (-want +got):\n%s", looked, diff)
	}
	cluster := &gardenextensionsv1alpha1.Cluster{}
	if err := b.SeedClient.Get(t.Context(), client.ObjectKey{Name: home}, cluster); err != nil {
		t.Fatal(err)
	}
	generic := &corev1.Secret{}
	name := cluster.Annotations["generic-token-kubeconfig.secret.gardener.cloud/name"]
	if err := b.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: home, Name: name}, generic); err != nil {
		t.Fatalf("EXT-CLUSTER-4: extensions do not find the generic kubeconfig %q: %v", name, err)
	}
	config, err := clientcmd.Load(generic.Data["kubeconfig"])
	if err != nil {
		t.Fatal(err)
	}
	user, want := config.AuthInfos[home], "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/token"
	if user.TokenFile != want || user.Token != "" || len(user.ClientCertificateData) > 0 || config.Clusters[home].Server != "https://kube-apiserver."+home+".svc" {
		t.Errorf("the generic kubeconfig reads %q at %s, want %q and no secret in it", user.TokenFile, config.Clusters[home].Server, want)
	}
}

// TestAccessOfTheResourceManager sees who gets a token from the gardenlet itself, and when.
func TestAccessOfTheResourceManager(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	secret := func() *corev1.Secret {
		t.Helper()
		found := &corev1.Secret{}
		if err := b.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: home, Name: "shoot-access-gardener-resource-manager"}, found); err != nil {
			t.Fatal(err)
		}

		return found
	}
	const renewal = "serviceaccount.resources.gardener.cloud/token-renew-timestamp"
	overdue := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: home, Name: "shoot-access-extension-x", Annotations: map[string]string{renewal: "1990-01-01T00:00:00Z"},
		Labels: map[string]string{"resources.gardener.cloud/purpose": "token-requestor", "resources.gardener.cloud/class": "shoot"},
	}}
	b.give(t, b.SeedClient, overdue)
	b.give(t, b.inside, machineNode())
	b.run(t)
	config, err := clientcmd.Load(secret().Data["kubeconfig"])
	if err != nil {
		t.Fatal(err)
	}
	if config.AuthInfos[home].Token != "fake-token" || config.Clusters[home].Server != "https://10.99.1.1" {
		t.Errorf("the kubeconfig is one for %q, without the token of the shoot", config.Clusters[home].Server)
	}
	if _, err := time.Parse(time.RFC3339, secret().Annotations[renewal]); err != nil {
		t.Errorf("the resource manager does not know when to renew its token: %v", err)
	}
	for _, name := range []string{"gardener-resource-manager", "gardener", "gardener-internal"} {
		binding := &rbacv1.ClusterRoleBinding{}
		if err := b.inside.Get(t.Context(), client.ObjectKey{Name: "gardener.cloud:system:" + name}, binding); err != nil || binding.Subjects[0].Name != name {
			t.Errorf("%s has no rights in the shoot: %v", name, err)
		}
	}
	if err := b.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(overdue), overdue); err != nil || overdue.Annotations[renewal] == "1990-01-01T00:00:00Z" {
		t.Errorf("nobody is told of a token that is overdue, error %v", err)
	}
}
