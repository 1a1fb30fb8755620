// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

const (
	// raceRounds is how many refused creations are tried for each rule, and raceLimit how long that may take.
	raceRounds = 200
	raceLimit  = 20 * time.Second
	// raceClients try at once, while somebody else makes and removes an object of the same name.
	raceClients = 4
)

// contested is an object that a client of a seed may not create, and a harmless one of the same name.
type contested struct {
	who     role
	refused client.Object
	// innocent makes a harmless object of the refused one, which an administrator creates and deletes.
	innocent func(object client.Object)
}

// TestRefusedIsNeverWritten races every rule about what a seed creates against the creation and deletion of an object of the
// same name: at no moment is there a gap through which what is refused gets stored (GAC-SR-1).
func TestRefusedIsNeverWritten(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growAccess(o)
	all := contestedObjects(o)
	group, ctx := errgroup.WithContext(t.Context())
	var tried atomic.Int64
	for _, name := range slices.Sorted(maps.Keys(all)) {
		group.Go(func() error {
			n, err := o.race(ctx, all[name])
			tried.Add(n)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	// All of them on a quiet machine; on one with much to do the time limit comes first.
	if got, want := tried.Load(), int64(10*len(all)); got < want {
		t.Errorf("%d refused creations were tried, want at least %d", got, want)
	}
	t.Logf("%d refused creations of %d kinds", tried.Load(), len(all))
}

// race returns how often the refused object was tried.
func (o *operator) race(ctx context.Context, c contested) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, raceLimit)
	defer cancel()
	harmless := asObject(c.refused)
	c.innocent(harmless)
	seed := o.As(o.t, c.who.user, c.who.groups...)
	var tries atomic.Int64
	group, running := errgroup.WithContext(ctx)
	for range raceClients {
		group.Go(func() error {
			for running.Err() == nil && tries.Add(1) <= raceRounds {
				err := seed.Create(running, asObject(c.refused))
				if running.Err() == nil && !apierrors.IsForbidden(err) && !apierrors.IsAlreadyExists(err) && !apierrors.IsBadRequest(err) {
					return fmt.Errorf("by %s: got %w, want Forbidden or AlreadyExists", c.who.user, cmp.Or(err, errWritten))
				}
			}
			return nil
		})
	}
	flicker, stop := context.WithCancel(ctx)
	flickered := make(chan error, 1)
	go func() { flickered <- o.flicker(flicker, harmless) }()
	err := group.Wait()
	stop()

	return min(tries.Load(), raceRounds), cmp.Or(err, <-flickered)
}

var errWritten = fmt.Errorf("no error: what is refused was written")

// flicker creates and deletes an object until the context ends.
func (o *operator) flicker(ctx context.Context, object client.Object) error {
	for ctx.Err() == nil {
		err := o.Client.Create(ctx, asObject(object))
		if ctx.Err() == nil && err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create it as administrator: %w", err)
		}
		err = o.Client.Delete(ctx, asObject(object))
		if ctx.Err() == nil && client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete it as administrator: %w", err)
		}
	}
	return nil
}

func asObject(object client.Object) client.Object {
	clone, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		panic(fmt.Sprintf("%T is no object", object))
	}
	return clone
}

// contestedObjects are one for each rule about what a client of the seed one creates.
func contestedObjects(o *operator) map[string]contested {
	o.t.Helper()
	seed := &gardencorev1beta1.Seed{}
	if err := o.Client.Get(o.t.Context(), client.ObjectKey{Name: "one"}, seed); err != nil {
		o.t.Fatal(err)
	}
	own := string(seed.UID)
	one, extension := seedRole("one"), roleNamed("extension one")
	none := func(client.Object) {}
	token := secretIn("kube-system", "bootstrap-token-race00")
	token.Type, token.Annotations = corev1.SecretTypeServiceAccountToken, map[string]string{"kubernetes.io/service-account.name": "default"}
	domain := secretIn("garden", "generated-bucket-one")
	domain.Labels = map[string]string{"gardener.cloud/role": "default-domain"}
	domain.Annotations = map[string]string{"dns.gardener.cloud/domain": "evil.example", "dns.gardener.cloud/provider": "local"}
	confirmed := map[string]string{gardencorev1beta1.AnnotationConfirmationDeletion: "true"}
	// Everybody has this role: RBAC would refuse to give one away that a seed does not have, and so hide the rule.
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: named("", "race"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:discovery"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: one.user}},
	}
	other := seed.DeepCopy()
	other.ObjectMeta, other.Status = named("", "three"), gardencorev1beta1.SeedStatus{}

	all := map[string]contested{
		"GAC-SR-2 credentials of a project": {one, raceBucket(own, "one", "garden-wood", "other"), func(b client.Object) {
			b.(*gardencorev1beta1.BackupBucket).Spec.CredentialsRef = credentials("garden", "given-one") //nolint:forcetypeassert // It is one.
		}},
		"GAC-SR-2 bucket for another": {one, raceBucket("race", "two", "garden", "given-two"), none},
		"GAC-SR-3 bucket of another": {one, &gardencorev1beta1.BackupEntry{
			ObjectMeta: named("garden-meadow", "race"), Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "two", SeedName: new("one")},
		}, func(e client.Object) {
			e.(*gardencorev1beta1.BackupEntry).Spec.BucketName = "one" //nolint:forcetypeassert // It is one.
		}},
		"GAC-SR-5 bastion": {one, bastionOn("garden-wood", "race", "other"), none},
		"GAC-SR-6 request": {one, requestFor(o, "two"), none},
		"GAC-SR-7 binding": {one, binding, func(b client.Object) {
			b.(*rbacv1.ClusterRoleBinding).Subjects = nil //nolint:forcetypeassert // It is one.
		}},
		"GAC-SR-8 lease":       {one, &coordinationv1.Lease{ObjectMeta: named("kube-system", "race")}, none},
		"GAC-SR-9 token":       {one, token, func(s client.Object) { s.(*corev1.Secret).Type = corev1.SecretTypeOpaque }}, //nolint:forcetypeassert // It is one.
		"GAC-SR-9 keys":        {one, secretIn("garden-wood", "other.ssh-keypair"), none},
		"GAC-SR-9 anything":    {extension, secretIn("garden-meadow", "race"), none},
		"GAC-SR-9 domain":      {one, domain, func(s client.Object) { s.SetLabels(nil); s.SetAnnotations(nil) }},
		"GAC-SR-10 authority":  {one, &corev1.ConfigMap{ObjectMeta: named("garden-wood", "other.ca-cluster")}, none},
		"GAC-SR-10 client CA":  {extension, &gardencorev1beta1.InternalSecret{ObjectMeta: named("garden-wood", "other.ca-client")}, none},
		"GAC-SR-11 Seed":       {one, other, none},
		"GAC-SR-12 account":    {one, &corev1.ServiceAccount{ObjectMeta: named("garden", "race")}, none},
		"GAC-SR-13 ShootState": {one, &gardencorev1beta1.ShootState{ObjectMeta: named("garden-wood", "other")}, func(s client.Object) { s.SetAnnotations(confirmed) }},
		"GAC-SR-13 Gardenlet":  {one, gardenletNamed("two"), none},
	}
	maps.Copy(all, moreContested(seed))

	return all
}

// moreContested are those whose rules look at more than one object, and those of other rules than SeedRestriction.
func moreContested(seed *gardencorev1beta1.Seed) map[string]contested {
	one := seedRole("one")
	none := func(client.Object) {}
	issuer := secretIn("gardener-system-shoot-issuer", "race")
	issuer.Labels = map[string]string{
		"discovery.gardener.cloud/public": "serviceaccount", "shoot.gardener.cloud/name": "other", "shoot.gardener.cloud/namespace": "garden-wood",
	}
	join := secretIn("kube-system", "bootstrap-token-race01")
	join.Type = corev1.SecretTypeBootstrapToken
	join.Data = map[string][]byte{
		"token-id": []byte("race01"), "token-secret": []byte("0123456789abcdef"), "usage-bootstrap-authentication": []byte("true"),
		"usage-bootstrap-signing": []byte("true"), "expiration": []byte(time.Now().Add(time.Hour).UTC().Format(time.RFC3339)),
		"description": []byte("for the ManagedSeed resource garden/race"),
	}
	taker := seed.DeepCopy()
	taker.ObjectMeta, taker.Status = named("", "race"), gardencorev1beta1.SeedStatus{}
	taker.Spec.Resources = []gardencorev1beta1.NamedResourceReference{{Name: "race"}}
	taker.Spec.Resources[0].ResourceRef.APIVersion, taker.Spec.Resources[0].ResourceRef.Kind, taker.Spec.Resources[0].ResourceRef.Name = "v1", "Secret", "given-two"
	confirmed := func(o client.Object) {
		o.SetAnnotations(map[string]string{gardencorev1beta1.AnnotationConfirmationDeletion: "true"})
	}
	lone := role{"lone", "gardener.cloud:system:shoot:garden:lone", []string{"gardener.cloud:system:shoots", "system:masters"}}

	return map[string]contested{
		"GAC-SR-4 source": {one, &gardencorev1beta1.BackupEntry{
			ObjectMeta: named("garden-meadow", "source-race"), Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "one", SeedName: new("one")},
		}, none},
		"GAC-SR-9 issuer":       {one, issuer, none},
		"GAC-SR-9 managed seed": {one, secretIn("garden", "race"), none},
		"GAC-SR-11 not given": {seedRole("race"), taker, func(s client.Object) {
			s.(*gardencorev1beta1.Seed).Spec.Resources = nil //nolint:forcetypeassert // It is one.
		}},
		"GAC-SR-14 join token":  {one, join, func(s client.Object) { s.(*corev1.Secret).Type = corev1.SecretTypeOpaque }}, //nolint:forcetypeassert // It is one.
		"GAC-SR-15 account":     {one, &corev1.ServiceAccount{ObjectMeta: named("garden", "gardenlet-bootstrap-race")}, none},
		"API-RES-12 Project":    {one, &gardencorev1beta1.Project{ObjectMeta: named("", "race")}, confirmed},
		"GAC-SHOOTR-1 of shoot": {lone, &gardencorev1beta1.ShootState{ObjectMeta: named("garden-meadow", "mine")}, confirmed},
	}
}

func roleNamed(name string) role {
	all := roles()
	return all[slices.IndexFunc(all, func(r role) bool { return r.name == name })]
}

func credentials(namespace, name string) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: name}
}

func raceBucket(name, seed, namespace, secret string) *gardencorev1beta1.BackupBucket {
	return &gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: gardencorev1beta1.BackupBucketSpec{
		Provider: gardencorev1beta1.BackupBucketProvider{Type: "local", Region: "north"}, SeedName: &seed, CredentialsRef: credentials(namespace, secret),
	}}
}

func bastionOn(namespace, name, shoot string) *gardenoperationsv1alpha1.Bastion {
	return &gardenoperationsv1alpha1.Bastion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: gardenoperationsv1alpha1.BastionSpec{
		ShootRef:     corev1.LocalObjectReference{Name: shoot},
		SSHPublicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEpv2sKNmlOSG5QEnmJ0wPLjtvAdhZjhs3jG3Zjz4yTH race",
		Ingress:      []gardenoperationsv1alpha1.BastionIngressPolicy{{IPBlock: networkingv1.IPBlock{CIDR: "192.0.2.0/24"}}},
	}}
}

func gardenletNamed(name string) *gardenseedmanagementv1alpha1.Gardenlet {
	g := &gardenseedmanagementv1alpha1.Gardenlet{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name}}
	g.Spec.Deployment.Helm.OCIRepository.Ref = new("registry.example/gardenlet:v1.149.0")
	g.Spec.Config = described("none")
	return g
}

// requestFor asks for the certificate of the gardenlet of a seed.
func requestFor(o *operator, seed string) *certificatesv1.CertificateSigningRequest {
	o.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		o.t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{
		CommonName: "gardener.cloud:system:seed:" + seed, Organization: []string{"gardener.cloud:system:seeds"},
	}}, key)
	if err != nil {
		o.t.Fatal(err)
	}
	return &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "race"}, Spec: certificatesv1.CertificateSigningRequestSpec{
		Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), SignerName: certificatesv1.KubeAPIServerClientSignerName,
		Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment},
	}}
}
