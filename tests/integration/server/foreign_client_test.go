// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// reach returns how to reach the garden as somebody, in protobuf where there is any.
func (f *foreign) reach(as func(*rest.Config)) *rest.Config {
	config := f.garden.Anonymous()
	config.QPS = -1
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	as(config)

	return config
}

func (f *foreign) open(config *rest.Config) client.WithWatch {
	f.t.Helper()
	c, err := client.NewWithWatch(config, client.Options{Scheme: f.garden.Scheme})
	if err != nil {
		f.t.Fatal(err)
	}

	return c
}

// enter gets a certificate for the seed by a token, and returns how to reach the garden with it.
func (f *foreign) enter(token *rest.Config) (*rest.Config, client.WithWatch) {
	f.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	config := f.certify(f.open(token), key)

	return config, f.open(config)
}

// certify sends a signing request and waits for its certificate.
func (f *foreign) certify(requester client.WithWatch, key *ecdsa.PrivateKey) *rest.Config {
	f.t.Helper()
	request := seedRequestOf(f.t, f.name, key)
	request.Name, request.GenerateName = "", "seed-csr-"
	if err := requester.Create(f.t.Context(), request); err != nil {
		f.t.Fatalf("Create(request): %v", err)
	}
	issued := harness.Await(f.t, requester, request, "the request is approved and signed", func(r *certificatesv1.CertificateSigningRequest) error {
		if len(r.Status.Certificate) == 0 {
			return errNotYet
		}

		return nil
	})
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		f.t.Fatal(err)
	}

	return f.reach(func(config *rest.Config) {
		config.CertData = issued.Status.Certificate
		config.KeyData = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	})
}

// do reports what a gardenlet could not do.
func (f *foreign) do(what string, err error) {
	f.t.Helper()
	if err != nil {
		f.t.Errorf("%s: %v", what, err)
	}
}

// watched lists a kind and opens a watch from there, as a cache does.
func (f *foreign) watched(list client.ObjectList, options ...client.ListOption) {
	f.t.Helper()
	if err := f.client.List(f.t.Context(), list, options...); err != nil {
		f.t.Errorf("List(%T): %v", list, err)

		return
	}
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion(), AllowWatchBookmarks: true}}
	watcher, err := f.client.Watch(ctx, list, append(options, from)...)
	if err != nil {
		f.t.Errorf("Watch(%T): %v", list, err)

		return
	}
	watcher.Stop()
}

// patchObject sends a merge patch, as gardenlets do for what is theirs.
func (f *foreign) patchObject(object client.Object, change func()) {
	f.t.Helper()
	patch := f.difference(object, change)
	f.do(fmt.Sprintf("patch %T", object), f.client.Patch(f.t.Context(), object, patch))
}

func (f *foreign) patchStatus(object client.Object, change func()) {
	f.t.Helper()
	patch := f.difference(object, change)
	f.do(fmt.Sprintf("patch status of %T", object), f.client.Status().Patch(f.t.Context(), object, patch))
}

func (f *foreign) difference(object client.Object, change func()) client.Patch {
	f.t.Helper()
	if err := f.client.Get(f.t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		f.t.Fatalf("Get(%T): %v", object, err)
	}
	before, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		f.t.Fatalf("%T is no object", object)
	}
	change()

	return client.MergeFrom(before)
}

// listBackups asks for all of them: older gardenlets know no selector for these kinds.
func (f *foreign) listBackups() {
	f.watched(&gardencorev1beta1.BackupBucketList{})
	f.watched(&gardencorev1beta1.BackupEntryList{})
}

// backups makes the bucket of a seed whose configuration has got one, and an entry in it.
func (f *foreign) backups() {
	ctx := f.t.Context()
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: f.name}}
	credentials := &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "backup"}
	f.patchObject(seed, func() { seed.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local", CredentialsRef: credentials} })
	bucket := f.bucket(seed)
	bucket.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(seed, gardencorev1beta1.GroupVersion.WithKind("Seed"))}
	bucket.Spec = gardencorev1beta1.BackupBucketSpec{
		Provider: gardencorev1beta1.BackupBucketProvider{Type: "local", Region: "local"}, SeedName: &f.name, CredentialsRef: credentials,
	}
	f.do("create bucket", f.client.Create(ctx, bucket))
	f.patchStatus(bucket, func() {
		bucket.Status.ObservedGeneration = bucket.Generation
		bucket.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: "Succeeded", Progress: 100, LastUpdateTime: metav1.Now()}
	})
	entry := &gardencorev1beta1.BackupEntry{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "shoot--meadow--sprout--" + string(f.shoot.UID)},
		Spec:       gardencorev1beta1.BackupEntrySpec{BucketName: bucket.Name, SeedName: &f.name},
	}
	entry.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(f.shoot, gardencorev1beta1.GroupVersion.WithKind("Shoot"))}
	f.do("create entry", f.client.Create(ctx, entry))
	f.do("delete entry", f.client.Delete(ctx, entry))
}

func (f *foreign) bucket(seed *gardencorev1beta1.Seed) *gardencorev1beta1.BackupBucket {
	f.t.Helper()
	f.do("read the seed", f.client.Get(f.t.Context(), client.ObjectKey{Name: f.name}, seed))

	return &gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: string(seed.UID)}}
}

// backupsReady waits for what a garden says of the buckets of a seed: gardenlets do not write it themselves.
func (f *foreign) backupsReady() {
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: f.name}}
	harness.Await(f.t, f.client, seed, "the garden finds that the bucket is ready", func(s *gardencorev1beta1.Seed) error {
		for _, c := range s.Status.Conditions {
			if c.Type == "BackupBucketsReady" && c.Status == "True" {
				return nil
			}
		}

		return errNotYet
	})
}

func (f *foreign) leaveBackups() {
	bucket := f.bucket(&gardencorev1beta1.Seed{})
	f.do("delete bucket", f.client.Delete(f.t.Context(), bucket))
	awaitGone(f.t, f.garden, bucket, "the bucket is gone")
}
