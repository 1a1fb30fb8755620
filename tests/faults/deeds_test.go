// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

const (
	referenceProtection = "gardener.cloud/reference-protection"
	plantFinalizer      = "core.gardener.cloud/plant"
)

// deedsInProject are done in the namespace of project one, which is there since the first deed.
func deedsInProject() []deed {
	return []deed{
		{
			name: "GCM-PLANT-1 the Secret of a plant", begin: createPlant, rest: told("green"),
			kill: &corev1.SecretList{}, matches: finalized("access", plantFinalizer, true),
		},
		{
			name: "GCM-PLANT-4 a plant ends", begin: remove(&gardencorev1beta1.Plant{ObjectMeta: in("garden-one", "green")}),
			rest: gone(&gardencorev1beta1.Plant{ObjectMeta: in("garden-one", "green")}),
			kill: &corev1.SecretList{}, matches: finalized("access", plantFinalizer, false),
		},
		{
			name: "GCM-SHOOTREF-1 what a shoot refers to", begin: createReader, rest: protects("papers", true),
			kill: &gardencorev1beta1.ShootList{}, matches: finalized("reader", referenceProtection, true),
		},
		{
			name: "GCM-SHOOTREF-4 a shoot that refers to nothing", begin: forgetPapers, rest: reads(false),
			kill: &corev1.SecretList{}, matches: finalized("papers", referenceProtection, false),
		},
		{
			name: "GCM-CREDBINDING-1 what a binding names", begin: createBinding, rest: labelled("coin"),
			kill: &gardensecurityv1alpha1.CredentialsBindingList{}, matches: called("coin", watch.Added, watch.Modified),
		},
		{
			name: "GCM-MAINT-12 a maintenance that was announced", begin: maintain, rest: maintained,
			kill: &gardencorev1beta1.ShootList{}, matches: func(_ watch.EventType, o client.Object) bool {
				shoot, ok := o.(*gardencorev1beta1.Shoot)
				return ok && shoot.Name == "old" && shoot.Status.LastMaintenance != nil && shoot.Status.LastMaintenance.State == "Processing"
			},
		},
		{
			name: "GCM-SHOOTQUOTA-3 the end of a trial", begin: createTrial, rest: gone(&gardencorev1beta1.Shoot{ObjectMeta: in("garden-one", "brief")}),
			kill: &gardencorev1beta1.ShootList{}, matches: func(_ watch.EventType, o client.Object) bool {
				return o.GetName() == "brief" && o.GetAnnotations()[gardencorev1beta1.AnnotationConfirmationDeletion] == "true"
			},
		},
		{
			name: "GCM-CSR-4 a join token that was marked", begin: joinWithToken("joiner", "", "gardener.cloud:system:seed:west", "gardener.cloud:system:seeds"), rest: approved("joiner"),
			kill: &corev1.SecretList{}, matches: called("bootstrap-token-joiner", watch.Modified),
		},
	}
}

// finalized says that an object has got a finalizer, or has lost it.
func finalized(name, finalizer string, has bool) func(watch.EventType, client.Object) bool {
	return func(event watch.EventType, o client.Object) bool {
		return o.GetName() == name && event == watch.Modified && slices.Contains(o.GetFinalizers(), finalizer) == has
	}
}

func secret(name string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: in("garden-one", name), Data: data}
}

func createPlant(w *world) error {
	p := &gardencorev1beta1.Plant{ObjectMeta: in("garden-one", "green")}
	p.Spec.SecretRef.Name = "access"
	return create(secret("access", map[string][]byte{"kubeconfig": []byte(`apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: a, user: {token: t}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
`)}), p)(w)
}

func told(name string) func(*world) error {
	return func(w *world) error {
		p := &gardencorev1beta1.Plant{}
		if err := w.client().Get(w.t.Context(), client.ObjectKey{Namespace: "garden-one", Name: name}, p); err != nil {
			return err
		}
		if len(p.Status.Conditions) == 0 {
			return errors.New("nothing is told of the plant")
		}
		return nil
	}
}

// inOne is a shoot in project one, of a version for which there is a newer one.
func inOne(name string) *gardencorev1beta1.Shoot {
	return &gardencorev1beta1.Shoot{ObjectMeta: in("garden-one", name), Spec: shootSpec()}
}

func createReader(w *world) error {
	shoot := inOne("reader")
	shoot.Spec.Resources = []gardencorev1beta1.NamedResourceReference{{
		Name: "papers", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "papers"},
	}}
	return create(secret("papers", nil), shoot)(w)
}

func forgetPapers(w *world) error {
	return w.client().Patch(w.t.Context(), inOne("reader"), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"resources":null}}`)))
}

func protects(name string, wanted bool) func(*world) error {
	return func(w *world) error {
		found := secret(name, nil)
		if err := w.client().Get(w.t.Context(), client.ObjectKeyFromObject(found), found); err != nil {
			return err
		}
		if slices.Contains(found.Finalizers, referenceProtection) != wanted {
			return fmt.Errorf("secret %q has finalizers %v", name, found.Finalizers)
		}
		return nil
	}
}

func reads(wanted bool) func(*world) error {
	return func(w *world) error {
		shoot := inOne("reader")
		if err := w.client().Get(w.t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
			return err
		}
		if slices.Contains(shoot.Finalizers, referenceProtection) != wanted {
			return fmt.Errorf("the shoot has finalizers %v", shoot.Finalizers)
		}
		return protects("papers", wanted)(w)
	}
}

func createBinding(w *world) error {
	b := binding()
	b.ObjectMeta, b.CredentialsRef.Namespace, b.CredentialsRef.Name = in("garden-one", "coin"), "garden-one", "coin"
	return create(secret("coin", nil), b)(w)
}

func labelled(name string) func(*world) error {
	return func(w *world) error {
		found := secret(name, nil)
		if err := w.client().Get(w.t.Context(), client.ObjectKeyFromObject(found), found); err != nil {
			return err
		}
		if len(found.Finalizers) == 0 || found.Labels[gardencorev1beta1.LabelReferenceCredentialsBinding] != "true" {
			return fmt.Errorf("secret %q has finalizers %v and labels %v", name, found.Finalizers, found.Labels)
		}
		return nil
	}
}

func maintain(w *world) error {
	shoot := inOne("old")
	shoot.Spec.Kubernetes.Version = "1.36.2"
	if err := create(shoot)(w); err != nil {
		return err
	}
	return w.client().Patch(w.t.Context(), inOne("old"), client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"annotations":{"gardener.cloud/operation":"maintain"}}}`)))
}

// maintained wants the operation of the maintenance to stay: without a gardenlet the shoot has no last operation, and until it has
// one the server acts on no other (GCM-MAINT-8, API-SHOOTSTRAT-4).
func maintained(w *world) error {
	shoot := inOne("old")
	if err := w.client().Get(w.t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
		return err
	}
	got := map[string]string{"version": shoot.Spec.Kubernetes.Version, "operation": shoot.Annotations["gardener.cloud/operation"], "maintenance": ""}
	if last := shoot.Status.LastMaintenance; last != nil {
		got["maintenance"] = string(last.State)
	}
	if diff := cmp.Diff(map[string]string{"version": "1.36.3", "operation": "reconcile", "maintenance": "Succeeded"}, got); diff != "" {
		return fmt.Errorf("shoot (-want +got):\n%s", diff)
	}
	return nil
}

// createTrial makes a shoot whose time is over already.
func createTrial(w *world) error {
	quota := &gardencorev1beta1.Quota{ObjectMeta: in("garden-one", "trial")}
	quota.Spec.Scope = corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Project"}
	quota.Spec.Metrics, quota.Spec.ClusterLifetimeDays = corev1.ResourceList{}, new(int32(7))
	b := binding()
	b.ObjectMeta, b.CredentialsRef.Namespace, b.CredentialsRef.Name = in("garden-one", "trial"), "garden-one", "coin"
	b.Quotas = []corev1.ObjectReference{{Namespace: "garden-one", Name: "trial"}}
	shoot := inOne("brief")
	shoot.Annotations = map[string]string{"shoot.gardener.cloud/expiration-timestamp": "2026-01-01T00:00:00Z"}
	shoot.Spec.CredentialsBindingName = new("trial")
	return create(quota, b, withMachines(shoot))(w)
}

// withMachines gives a shoot a network and a pool of machines.
func withMachines(shoot *gardencorev1beta1.Shoot) *gardencorev1beta1.Shoot {
	shoot.Spec.Networking = &gardencorev1beta1.Networking{Type: new("local")}
	shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{
		Name: "one", Minimum: 1, Maximum: 1,
		Machine: gardencorev1beta1.Machine{Type: "small", Image: &gardencorev1beta1.ShootMachineImage{Name: "local"}},
	}}
	return shoot
}

// joinWithToken asks for the certificate of a gardenlet with a new token, which has the same name as the request.
func joinWithToken(id, description, user, group string) func(*world) error {
	return func(w *world) error {
		token := &corev1.Secret{ObjectMeta: in("kube-system", "bootstrap-token-"+id), Type: "bootstrap.kubernetes.io/token", StringData: map[string]string{
			"token-id": id, "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
			"expiration": time.Now().Add(time.Hour).UTC().Format(time.RFC3339), "description": description,
		}}
		if err := create(token)(w); err != nil {
			return err
		}
		request, err := requestOf(user, group)
		if err != nil {
			return err
		}
		as := rest.CopyConfig(w.garden.config)
		as.Impersonate = rest.ImpersonationConfig{UserName: "system:bootstrap:" + id, Groups: []string{"system:bootstrappers", "system:authenticated"}}
		joiner, err := client.New(as, client.Options{Scheme: w.client().Scheme()})
		if err != nil {
			return err
		}
		return joiner.Create(w.t.Context(), &certificatesv1.CertificateSigningRequest{
			ObjectMeta: in("", id),
			Spec: certificatesv1.CertificateSigningRequestSpec{
				Request: request, SignerName: "kubernetes.io/kube-apiserver-client",
				Usages: []certificatesv1.KeyUsage{"key encipherment", "digital signature", "client auth"},
			},
		})
	}
}

// requestOf is a signing request, as PEM, with a key that nobody keeps.
func requestOf(user, group string) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: user, Organization: []string{group}}}, key)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), err
}

func approved(name string) func(*world) error {
	return func(w *world) error {
		request := &certificatesv1.CertificateSigningRequest{}
		if err := w.client().Get(w.t.Context(), client.ObjectKey{Name: name}, request); err != nil {
			return err
		}
		if len(request.Status.Conditions) != 1 || request.Status.Conditions[0].Type != certificatesv1.CertificateApproved || len(request.Status.Certificate) == 0 {
			return fmt.Errorf("the request has conditions %v and %d bytes of a certificate", request.Status.Conditions, len(request.Status.Certificate))
		}
		return nil
	}
}
