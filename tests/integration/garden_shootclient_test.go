// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"cmp"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenauthenticationv1alpha1 "github.com/terrarium-garden/terrarium/apis/authentication/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// ofShoot is the subject of the certificate of the gardenlet of a shoot.
func ofShoot(name string) pkix.Name {
	return pkix.Name{CommonName: "gardener.cloud:system:shoot:garden:" + name, Organization: []string{"gardener.cloud:system:shoots"}}
}

// growShoots makes the project of operators, in which self-hosted shoots are, with the self-hosted shoots lone and friend, with shoot other for a seed, and what an operator keeps.
func growShoots(o *operator) {
	o.t.Helper()
	o.provider("local")
	o.offers("unused", "Extension", "unused")
	o.home()
	o.create(
		&corev1.Secret{ObjectMeta: named("garden", "creds")}, boundTo("garden", "creds", "local"),
		&corev1.Secret{ObjectMeta: named("garden", "theirs")},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: "garden", Name: "default-domain", Labels: map[string]string{"gardener.cloud/role": "default-domain"},
			Annotations: map[string]string{"dns.gardener.cloud/provider": "local", "dns.gardener.cloud/domain": "example.org"},
		}},
	)
	o.selfHosted("lone", withCredentials)
	o.selfHosted("friend", withCredentials)
	o.shoot("garden", "other", "local", withWorker("creds"))
}

// withCredentials has a shoot use the credentials of the project of operators.
func withCredentials(s *gardencorev1beta1.Shoot) { s.Spec.CredentialsBindingName = new("creds") }

// joinShoot gets the certificate of the gardenlet of a shoot with a token for it.
func (o *operator) joinShoot(token, name string) *rest.Config {
	o.t.Helper()
	o.create(tokenFor(token, map[string]string{"description": "for the Shoot resource garden/" + name}))

	return o.certified(token, ofShoot(name))
}

// TestShootJoins_GCM_CSR_7 has the gardenlet of a self-hosted shoot join, and then read and write, over TLS with its certificate.
func TestShootJoins_GCM_CSR_7(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growShoots(o)
	lone := o.connected(o.joinShoot("abc001", "lone"))
	harness.Eventually(t, "GAC-SHOOTR-1: it reads its Shoot", func(ctx context.Context) error {
		return lone.Get(ctx, client.ObjectKey{Namespace: "garden", Name: "lone"}, &gardencorev1beta1.Shoot{})
	})
	harness.Eventually(t, "GAC-SHOOTR-1, GCM-CR-10: it reads the extension that the garden wants in it", func(ctx context.Context) error {
		return lone.Get(ctx, client.ObjectKey{Name: "provider-local"}, &gardencorev1beta1.ControllerDeployment{})
	})
	for name, ask := range map[string]func(ctx context.Context) error{
		"its Shoot in a list": func(ctx context.Context) error {
			shoots := &gardencorev1beta1.ShootList{}
			err := lone.List(ctx, shoots, client.InNamespace("garden"), client.MatchingFields{"metadata.name": "lone"})
			if err == nil && len(shoots.Items) != 1 {
				err = fmt.Errorf("got %d shoots", len(shoots.Items)) //nolint:err113 // A test.
			}
			return err
		},
		"its credentials": func(ctx context.Context) error { return lone.Get(ctx, key("creds"), &corev1.Secret{}) },
		"its status": func(ctx context.Context) error {
			patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"technicalID":"shoot--garden--lone"}}`))
			return lone.Status().Patch(ctx, &gardencorev1beta1.Shoot{ObjectMeta: named("garden", "lone")}, patch)
		},
		"its keys": func(ctx context.Context) error {
			return lone.Create(ctx, &corev1.Secret{ObjectMeta: named("garden", "lone.monitoring")})
		},
		"its state": func(ctx context.Context) error {
			return lone.Create(ctx, &gardencorev1beta1.ShootState{ObjectMeta: named("garden", "lone")})
		},
		"its event": func(ctx context.Context) error { return lone.Create(ctx, happened("lone")) },
		"its lease": func(ctx context.Context) error {
			lease := &coordinationv1.Lease{ObjectMeta: named("garden", "self-hosted-shoot-lone")}
			if err := lone.Create(ctx, lease); err != nil {
				return err
			}
			lease.Spec.HolderIdentity, lease.Spec.RenewTime = new("gardenlet"), new(metav1.NewMicroTime(time.Now()))
			return lone.Update(ctx, lease)
		},
		"its extension": func(ctx context.Context) error { return installs(ctx, lone) },
		"its certificate": func(ctx context.Context) error {
			renewal := signingRequestOf(t, "renewal", ofShoot("lone"))
			if err := lone.Create(ctx, renewal); err != nil {
				return err
			}
			if approved, message := o.verdict(renewal); !approved { //nolint:contextcheck // It has that of the test.
				return fmt.Errorf("the renewal is denied: %s", message) //nolint:err113 // A test.
			}
			return lone.Get(ctx, client.ObjectKeyFromObject(renewal), renewal)
		},
	} {
		if err := ask(t.Context()); err != nil {
			t.Errorf("GAC-SHOOTR-1: %s: %v", name, err)
		}
	}
	checkShootHostile(o, lone)
}

// installs holds what the garden wants in the shoot, and reports that it is installed.
func installs(ctx context.Context, lone client.Client) error {
	found := &gardencorev1beta1.ControllerInstallationList{}
	own := client.MatchingFields{"spec.shootRef.namespace": "garden", "spec.shootRef.name": "lone"}
	if err := lone.List(ctx, found, own); err != nil || len(found.Items) != 1 {
		return cmp.Or(err, fmt.Errorf("got %d installations", len(found.Items))) //nolint:err113 // A test.
	}
	installation := &found.Items[0]
	before := installation.DeepCopy()
	installation.Finalizers = []string{"core.gardener.cloud/controllerinstallation"}
	if err := lone.Patch(ctx, installation, client.MergeFrom(before)); err != nil {
		return err
	}
	before = installation.DeepCopy()
	now := metav1.NewTime(time.Now())
	installation.Status.Conditions = []gardencorev1beta1.Condition{{Type: "Installed", Status: "True", LastTransitionTime: now, LastUpdateTime: now}}
	return lone.Status().Patch(ctx, installation, client.MergeFrom(before))
}

func key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: "garden", Name: name}
}

// happened is an event about a shoot.
func happened(shoot string) *corev1.Event {
	e := &corev1.Event{ObjectMeta: named("garden", shoot+".1"), Reason: "Happened", Type: "Normal"}
	e.InvolvedObject = corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot", Namespace: "garden", Name: shoot}
	return e
}

// checkShootHostile has the gardenlet of shoot lone ask for what belongs to others.
func checkShootHostile(o *operator, lone client.Client) {
	o.t.Helper()
	read := func(namespace, name string, object client.Object) func(context.Context) error {
		return func(ctx context.Context) error {
			return lone.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
		}
	}
	list := func(all client.ObjectList, options ...client.ListOption) func(context.Context) error {
		return func(ctx context.Context) error { return lone.List(ctx, all, options...) }
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"a":"b"}},"status":{"technicalID":"x"}}`))
	shoot := func(name string) *gardencorev1beta1.Shoot {
		return &gardencorev1beta1.Shoot{ObjectMeta: named("garden", name)}
	}
	for name, ask := range map[string]func(ctx context.Context) error{
		"another Shoot":             read("garden", "other", &gardencorev1beta1.Shoot{}),
		"another self-hosted Shoot": read("garden", "friend", &gardencorev1beta1.Shoot{}),
		"all Shoots":                list(&gardencorev1beta1.ShootList{}),
		"the Shoots of its project": list(&gardencorev1beta1.ShootList{}, client.InNamespace("garden")),
		"another Secret":            read("garden", "theirs", &corev1.Secret{}),
		"all Secrets":               list(&corev1.SecretList{}, client.InNamespace("garden")),
		"its Secret by a list":      list(&corev1.SecretList{}, client.InNamespace("garden"), client.MatchingFields{"metadata.name": "creds"}),
		"the default domain":        read("garden", "default-domain", &corev1.Secret{}),
		"join tokens":               list(&corev1.SecretList{}, client.InNamespace("kube-system")),
		"all buckets":               list(&gardencorev1beta1.BackupBucketList{}),
		"all installations":         list(&gardencorev1beta1.ControllerInstallationList{}),
		"a ControllerDeployment":    read("", "unused", &gardencorev1beta1.ControllerDeployment{}),
		"another status":            func(ctx context.Context) error { return lone.Status().Patch(ctx, shoot("other"), patch) },
		"another Shoot's metadata":  func(ctx context.Context) error { return lone.Patch(ctx, shoot("friend"), patch) },
		"its deletion":              func(ctx context.Context) error { return lone.Delete(ctx, shoot("lone")) },
		"its spec": func(ctx context.Context) error {
			return lone.Patch(ctx, shoot("lone"), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"purpose":"production"}}`)))
		},
		"its confirmation": func(ctx context.Context) error {
			return lone.Patch(ctx, shoot("lone"), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"confirmation.gardener.cloud/deletion":"true"}}}`)))
		},
		"a seed in its status": func(ctx context.Context) error {
			return lone.Status().Patch(ctx, shoot("lone"), client.RawPatch("application/merge-patch+json", []byte(`{"status":{"seedName":"one"}}`)))
		},
		"keys of another": func(ctx context.Context) error {
			return lone.Create(ctx, &corev1.Secret{ObjectMeta: named("garden", "other.monitoring")})
		},
		"a Secret of a name": func(ctx context.Context) error {
			return lone.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", GenerateName: "lone.monitoring"}})
		},
		"another's lease": func(ctx context.Context) error {
			return lone.Create(ctx, &coordinationv1.Lease{ObjectMeta: named("garden", "self-hosted-shoot-friend")})
		},
		"an event of another": func(ctx context.Context) error { return lone.Create(ctx, happened("other")) },
		"another's certificate": func(ctx context.Context) error {
			return lone.Create(ctx, signingRequestOf(o.t, "stolen", ofShoot("friend")))
		},
		"a seed's certificate": func(ctx context.Context) error {
			return lone.Create(ctx, signingRequest(o.t, "climb", "gardener.cloud:system:seed:lone"))
		},
		"a kubeconfig": func(ctx context.Context) error {
			return lone.SubResource("adminkubeconfig").Create(ctx, shoot("lone"), &gardenauthenticationv1alpha1.AdminKubeconfigRequest{})
		},
		"a Project": func(ctx context.Context) error {
			return lone.Create(ctx, &gardencorev1beta1.Project{ObjectMeta: named("", "lone")})
		},
	} {
		if err := ask(o.t.Context()); !apierrors.IsForbidden(err) {
			o.t.Errorf("GAC-SHOOTR-1: the gardenlet of a shoot asks for %s: got %v, want Forbidden", name, err)
		}
	}
}

// TestShootTokens_GCM_CSR_7 tries tokens at the other door.
func TestShootTokens_GCM_CSR_7(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growShoots(o)
	o.create(
		tokenFor("abc002", map[string]string{"description": "for the Shoot resource garden/lone"}),
		tokenFor("abc003", map[string]string{"seed": "eu-1", "description": "for the Shoot resource garden/lone"}),
		tokenFor("abc004", map[string]string{"description": "for the Shoot resource garden/other"}),
		tokenFor("abc005", map[string]string{"description": "for the Shoot resource garden/gone"}),
		tokenFor("abc006", nil),
	)
	seed := pkix.Name{CommonName: "gardener.cloud:system:seed:eu-1", Organization: []string{"gardener.cloud:system:seeds"}}
	both := pkix.Name{CommonName: "gardener.cloud:system:shoot:garden:lone", Organization: []string{"gardener.cloud:system:shoots", "system:masters"}}
	for name, tc := range map[string]struct {
		token   string
		subject pkix.Name
		want    string
	}{
		"a seed with a token for a shoot":    {"abc002", seed, `is not for a seed: its description names the self-hosted shoot "garden/lone"`},
		"another shoot":                      {"abc002", ofShoot("friend"), "does not name shoot"},
		"a shoot with a token for a seed":    {"abc003", ofShoot("lone"), "it is for a seed"},
		"a shoot that has a seed":            {"abc004", ofShoot("other"), "is not self-hosted"},
		"a shoot that does not exist":        {"abc005", ofShoot("gone"), "does not exist: create it first"},
		"a shoot with a token for new seeds": {"abc006", ofShoot("lone"), "does not name shoot"},
	} {
		request := signingRequestOf(t, strings.ReplaceAll(name, " ", "-"), tc.subject)
		if err := o.holder(tc.token).Create(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		if approved, message := o.verdict(request); approved || !strings.Contains(message, tc.want) {
			t.Errorf("%s: approved %t with message %q, want %q", name, approved, message, tc.want)
		}
	}
	master := signingRequestOf(t, "master", both)
	if err := o.holder("abc002").Create(t.Context(), master); !apierrors.IsForbidden(err) {
		t.Errorf("nobody gets all permissions: %v", err)
	}
	o.certified("abc002", ofShoot("lone")) // None of that has used it.
	again := signingRequestOf(t, "again", ofShoot("lone"))
	if err := o.holder("abc002").Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if approved, message := o.verdict(again); approved || !strings.Contains(message, "has already been used") {
		t.Errorf("a token is valid for one certificate: approved %t, %q", approved, message)
	}
}

// TestShootSuccessor_GAC_SHOOTR_1 deletes a shoot whose gardenlet has a certificate, and creates another one of its name, as somebody else
// could whose project gets the name of a former one.
func TestShootSuccessor_GAC_SHOOTR_1(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growShoots(o)
	config := o.joinShoot("abc007", "lone")
	o.create(tokenFor("abc008", map[string]string{"description": "for the Shoot resource garden/lone"}))
	former := o.connected(config)
	reads := func(ctx context.Context, c client.Client) error {
		return c.Get(ctx, key("lone"), &gardencorev1beta1.Shoot{})
	}
	harness.Eventually(t, "the gardenlet reads its Shoot", func(ctx context.Context) error { return reads(ctx, former) })

	lone := &gardencorev1beta1.Shoot{ObjectMeta: named("garden", "lone")}
	o.confirm(lone)
	o.gone(lone, "the shoot is deleted")
	if err := reads(t.Context(), former); !apierrors.IsForbidden(err) {
		t.Errorf("a shoot that is gone has no gardenlet: %v", err)
	}
	block, _ := pem.Decode(config.CertData)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	// Certificates and objects have whole seconds.
	issued := certificate.NotBefore.Add(5 * time.Minute)
	harness.Eventually(t, "the second of the certificate is over", func(context.Context) error {
		return has(time.Now().Unix() > issued.Unix()+1, "issued at %s", issued)
	})
	o.selfHosted("lone", withCredentials)
	late := signingRequestOf(t, "late", ofShoot("lone"))
	if err := o.holder("abc008").Create(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	if approved, message := o.verdict(late); approved || !strings.Contains(message, "was created before shoot") {
		t.Errorf("a token for the former shoot: approved %t, %q", approved, message)
	}
	successor := o.connected(o.joinShoot("abc009", "lone"))
	harness.Eventually(t, "the gardenlet of the new shoot reads it", func(ctx context.Context) error { return reads(ctx, successor) })
	for what, err := range map[string]error{
		"reads the shoot": reads(t.Context(), former),
		"writes its keys": former.Create(t.Context(), &corev1.Secret{ObjectMeta: named("garden", "lone.monitoring")}),
		"renews":          former.Create(t.Context(), signingRequestOf(t, "renews", ofShoot("lone"))),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("GAC-SHOOTR-1: the gardenlet of the former shoot %s: got %v, want Forbidden", what, err)
		}
	}
}
