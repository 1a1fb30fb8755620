// SPDX-License-Identifier: Apache-2.0

package resourcemanager_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/managed"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/controlplane"
	"github.com/terrarium-garden/terrarium/controllers/shootaccess"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestAccessOfExtensions_EXT_SEC_1 gives provider-local its rights and its token, as it does itself, and sees that it can do what it
// has to and nothing else.
func TestAccessOfExtensions_EXT_SEC_1(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	shoot := s.withShoot()
	engine := deploy.Engine{Client: s.Client, Owner: "test", Clock: clock.RealClock{}}
	set := managed.Set{Namespace: home, Name: "extension-local-controlplane"}
	key := client.ObjectKey{Namespace: home, Name: set.Name}
	applied := func(what string) {
		t.Helper()
		mr := &gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		harness.Await(t, s, mr, what, func(*gardenresourcesv1alpha1.ManagedResource) error {
			return errors.Join(set.Applied(t.Context(), s), set.Healthy(t.Context(), s))
		})
	}
	if err := set.Apply(t.Context(), engine, controlplane.Rights()...); err != nil {
		t.Fatal(err)
	}
	if err := set.Applied(t.Context(), s); err != nil && !errors.Is(err, managed.ErrPending) {
		t.Errorf("what the resource manager has not looked at yet is no failure: %v", err)
	}
	applied("the rights are in the shoot")

	config, err := clientcmd.LoadFromFile(shoot.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	server := config.Clusters[config.Contexts[config.CurrentContext].Cluster]
	generic, err := shootaccess.GenericKubeconfig(home, server.Server, server.CertificateAuthorityData)
	if err != nil {
		t.Fatal(err)
	}
	token := shootaccess.Program(home, "provider-local")
	s.create(generic, token)
	harness.Await(t, s, token, "the token is there", func(found *corev1.Secret) error {
		if len(found.Data["token"]) == 0 {
			return errors.New("no token yet")
		}

		return nil
	})
	shoots := &kit.Shoots{Seed: s, Scheme: s.Scheme(), Secret: token.Name}
	defer shoots.Drop(home)
	extension, err := shoots.Get(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	bootstrap := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-abcdef"}}
	if err := extension.Create(t.Context(), bootstrap); err != nil {
		t.Errorf("machines cannot join: %v", err)
	}
	tries := map[string]error{
		"read Secrets":             extension.List(t.Context(), &corev1.SecretList{}, client.InNamespace("kube-system")),
		"delete Secrets":           extension.Delete(t.Context(), bootstrap),
		"write Secrets of others":  extension.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "x"}}),
		"write objects in general": extension.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "x"}}),
	}
	want, got := map[string]metav1.StatusReason{}, map[string]metav1.StatusReason{}
	for what, err := range tries {
		want[what], got[what] = metav1.StatusReasonForbidden, apierrors.ReasonForError(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the extension may not, by reason (-want +got):\n%s", diff)
	}

	// What leaves the set goes, and all of it with the set.
	if err := set.Apply(t.Context(), engine, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"}}); err != nil {
		t.Fatal(err)
	}
	applied("the set has other objects")
	if err := extension.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "y"}}); !apierrors.IsForbidden(err) {
		t.Errorf("rights that were taken back: %v", err)
	}
	harness.Eventually(t, "the set is gone", func(ctx context.Context) error {
		gone, err := set.Delete(ctx, engine)
		if err == nil && !gone {
			err = errors.New("the ManagedResource is still there")
		}

		return err
	})
	if err := shoot.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "settings"}, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("the objects outlived the set: %v", err)
	}
}
