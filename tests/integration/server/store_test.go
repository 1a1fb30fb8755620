// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/bootstrap"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// errNotYet is what a check returns while it waits.
var errNotYet = errors.New("not yet")

// TestStore looks into the files that a garden leaves behind.
func TestStore(t *testing.T) {
	t.Parallel()

	const open, secret, internal, state, event = "open-text-0d2b", "secret-text-7c41", "internal-text-93fe", "state-text-5e06", "event-text-b1a8"
	g := harness.Start(t)
	kube, err := kubernetes.NewForConfig(g.Config)
	if err != nil {
		t.Fatal(err)
	}
	mustCreate(
		t, g,
		&corev1.ConfigMap{ObjectMeta: named("plain"), Data: map[string]string{"key": open}},
		&corev1.Secret{ObjectMeta: named("hidden"), StringData: map[string]string{"key": secret}},
		&gardencorev1beta1.InternalSecret{ObjectMeta: named("hidden"), StringData: map[string]string{"key": internal}},
		&gardencorev1beta1.ShootState{ObjectMeta: named("hidden"), Spec: gardencorev1beta1.ShootStateSpec{Gardener: []gardencorev1beta1.GardenerResourceData{{
			Name: "ca", Type: "secret", Data: runtime.RawExtension{Raw: []byte(`{"key":"` + state + `"}`)},
		}}}},
		&corev1.Event{ObjectMeta: named("seen"), InvolvedObject: corev1.ObjectReference{Namespace: "default"}, Message: event},
	)
	if _, err := kube.CoreV1().Events("default").Get(t.Context(), "seen", metav1.GetOptions{}); err != nil {
		t.Fatalf("Events are served like everything else.\nGet(...): %v", err)
	}
	read := &gardencorev1beta1.InternalSecret{}
	if err := g.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "hidden"}, read); err != nil || string(read.Data["key"]) != internal {
		t.Fatalf("What is encrypted at rest is read as it was written: got %q, %v", read.Data, err)
	}
	g.Stop(t)

	objects, events := stored(t, g, "objects"), stored(t, g, "events")
	for text, tc := range map[string]struct {
		reason              string
		inObjects, inEvents bool
	}{
		open:     {reason: "ConfigMaps are written as they are; this shows that the search finds things.", inObjects: true},
		secret:   {reason: "Secrets are encrypted from the first start."},
		internal: {reason: "InternalSecrets are encrypted from the first start."},
		state:    {reason: "So are ShootStates, which hold the keys of shoots."},
		event:    {reason: "Events have a database of their own.", inEvents: true},
	} {
		if got := bytes.Contains(objects, []byte(text)); got != tc.inObjects {
			t.Errorf("%s\n%q is in the database of objects: got %t, want %t", tc.reason, text, got, tc.inObjects)
		}
		if got := bytes.Contains(events, []byte(text)); got != tc.inEvents {
			t.Errorf("%s\n%q is in the database of Events: got %t, want %t", tc.reason, text, got, tc.inEvents)
		}
	}
}

// loops tries each loop of Kubernetes that a garden runs by what it does.
func loops(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "short-lived"}}
		mustCreate(t, g, namespace)
		in := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace.Name, Name: name} }

		harness.Await(t, g.Client, &corev1.ServiceAccount{ObjectMeta: in("default")},
			"every namespace has a service account", func(*corev1.ServiceAccount) error { return nil })
		root := harness.Await(t, g.Client, &corev1.ConfigMap{ObjectMeta: in("kube-root-ca.crt")},
			"every namespace has the CA", func(*corev1.ConfigMap) error { return nil })
		if root.Data["ca.crt"] != string(g.CA) {
			t.Errorf("kube-root-ca.crt holds the CA of the garden:\ngot %s\nwant %s", root.Data["ca.crt"], g.CA)
		}

		mustCreate(t, g, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace.Name, Name: "token", Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"},
			},
			Type: corev1.SecretTypeServiceAccountToken,
		})
		harness.Await(t, g.Client, &corev1.Secret{ObjectMeta: in("token")}, "a token is put into a secret that asks for one",
			func(s *corev1.Secret) error {
				if len(s.Data[corev1.ServiceAccountTokenKey]) == 0 {
					return errNotYet
				}

				return nil
			})

		owner := &corev1.ConfigMap{ObjectMeta: in("owner")}
		mustCreate(t, g, owner)
		owned := &corev1.ConfigMap{ObjectMeta: in("owned")}
		owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
		mustCreate(t, g, owned)
		if err := g.Client.Delete(t.Context(), owner); err != nil {
			t.Fatal(err)
		}
		awaitGone(t, g, owned, "what is owned goes with its owner")

		if err := g.Client.Delete(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
		awaitGone(t, g, namespace, "a namespace goes with all that is in it")
	}
}

// quota counts objects of the garden like any other.
func quota(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "small"}}
		const counted = "count/internalsecrets.core.gardener.cloud"
		limit := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "limit"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{counted: resource.MustParse("1")}},
		}
		mustCreate(t, g, namespace, limit)
		harness.Await(t, g.Client, limit, "the quota is counted", func(q *corev1.ResourceQuota) error {
			if _, ok := q.Status.Used[counted]; !ok {
				return errNotYet
			}

			return nil
		})
		secret := func(name string) client.Object {
			return &gardencorev1beta1.InternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: name}}
		}
		mustCreate(t, g, secret("one"))
		if err := g.Client.Create(t.Context(), secret("two")); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota") {
			t.Errorf("A quota holds for garden kinds.\nCreate(...): got %v, want Forbidden", err)
		}
	}
}

// bootstrapAgain does what the next start does.
func bootstrapAgain(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		administrators := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:system:administrators"}}
		// One rule of each of the three roles that it is the sum of.
		filled := func(r *rbacv1.ClusterRole) error {
			for _, resources := range [][]string{
				{"apiservices"},
				{"shoots/adminkubeconfig", "shoots/viewerkubeconfig"},
				{"serviceaccounts/token"},
			} {
				if !slices.ContainsFunc(r.Rules, func(rule rbacv1.PolicyRule) bool { return slices.Equal(rule.Resources, resources) }) {
					return errNotYet
				}
			}

			return nil
		}
		before := harness.Await(t, g.Client, administrators, "the rules of other roles are gathered", filled)
		for range 2 {
			name, err := bootstrap.Ensure(t.Context(), bootstrap.Config{
				Loopback: g.Config, APILevel: "v1.149.0", TokenLifetime: time.Hour, NewIdentity: func() string { return "another" },
			})
			if err != nil {
				t.Fatalf("The first objects can be applied again.\nEnsure(...): %v", err)
			}
			if name != g.ClusterIdentity {
				t.Errorf("The identity is made once: got %q, want %q", name, g.ClusterIdentity)
			}
		}
		after := harness.Await(t, g.Client, administrators, "the role is there", func(*rbacv1.ClusterRole) error { return nil })
		if diff := cmp.Diff(before.Rules, after.Rules); diff != "" || before.ResourceVersion != after.ResourceVersion {
			t.Errorf("A start leaves gathered rules alone, version %q and %q.\nrules (-want +got):\n%s",
				before.ResourceVersion, after.ResourceVersion, diff)
		}
	}
}

func awaitGone(t *testing.T, g *harness.Garden, object client.Object, what string) {
	t.Helper()
	harness.Eventually(t, what, func(ctx context.Context) error {
		err := g.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return nil
		}

		return errors.Join(err, errNotYet)
	})
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }

// stored reads everything that a database has written.
func stored(t *testing.T, g *harness.Garden, name string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(g.DataDir, "db", name+".db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("find the database of %s: %v, %v", name, files, err)
	}
	var all []byte
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content...)
	}

	return all
}
