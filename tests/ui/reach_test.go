// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// publish does what a gardenlet does when a shoot can be reached: it tells its address and its CA, and gives the garden the CA by which
// kubeconfigs of users are signed.
func (w *world) publish(ctx context.Context, name string) error {
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: name}}
	if err := w.Client.Get(ctx, client.ObjectKeyFromObject(shoot), shoot); err != nil {
		return err
	}
	certificate, key, err := newAuthority(name)
	if err != nil {
		return err
	}
	of := func(suffix string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: shoot.Namespace, Name: name + suffix}
	}
	for _, object := range []client.Object{
		&gardencorev1beta1.InternalSecret{ObjectMeta: of(".ca-client"), Data: map[string][]byte{"ca.crt": certificate, "ca.key": key}},
		&corev1.ConfigMap{ObjectMeta: of(".ca-cluster"), Data: map[string]string{"ca.crt": string(certificate)}},
	} {
		if err := w.Client.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("publish shoot %q: %w", name, err)
		}
	}
	before := shoot.DeepCopy()
	shoot.Status.AdvertisedAddresses = []gardencorev1beta1.ShootAdvertisedAddress{{Name: "external", URL: "https://api." + name + ".example.org"}}

	return w.Client.Status().Patch(ctx, shoot, client.MergeFrom(before))
}

// newAuthority makes a CA, in PEM.
func newAuthority(name string) (certificate, key []byte, err error) {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	made, err := cert.NewSelfSignedCACert(cert.Config{CommonName: name}, signer)
	if err != nil {
		return nil, nil, err
	}
	raw, err := x509.MarshalECPrivateKey(signer)
	if err != nil {
		return nil, nil, err
	}

	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: made.Raw}),
		pem.EncodeToMemory(&pem.Block{Type: keyutil.ECPrivateKeyBlockType, Bytes: raw}), nil
}
