// SPDX-License-Identifier: Apache-2.0

package gardenaccess

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	certificatesclient "k8s.io/client-go/kubernetes/typed/certificates/v1"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/utils/clock"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ErrDenied says that a certificate signing request was denied or has failed.
var ErrDenied = errors.New("certificate signing request was denied")

// errLost says that a request was not answered in time or was deleted; another one may succeed.
var errLost = errors.New("certificate signing request got no answer")

// requester gets one client certificate from the garden.
type requester struct {
	requests certificatesclient.CertificateSigningRequestInterface
	clock    clock.Clock
	validity *time.Duration
	// key returns the private key of the certificate, in PEM; if nil, each request gets a new one.
	key func(ctx context.Context) ([]byte, error)
	// created is called with the name of each request; it may be nil.
	created func(ctx context.Context, name string)
	alive   func()
}

// subjectOf returns the subject of the certificate for the gardenlet of a seed.
func subjectOf(seed string) *x509.CertificateRequest {
	return &x509.CertificateRequest{Subject: pkix.Name{
		Organization: []string{gardencorev1beta1.GroupSeeds},
		CommonName:   gardencorev1beta1.UserPrefixSeed + seed,
	}}
}

// again returns a template with the subject and the names of an existing certificate.
func again(certificate *x509.Certificate) *x509.CertificateRequest {
	return &x509.CertificateRequest{
		Subject:        certificate.Subject,
		DNSNames:       certificate.DNSNames,
		IPAddresses:    certificate.IPAddresses,
		URIs:           certificate.URIs,
		EmailAddresses: certificate.EmailAddresses,
	}
}

// obtain requests a certificate and waits for it. A request without an answer is replaced by a new one.
// It returns an error if a request is denied.
func (r requester) obtain(ctx context.Context, template *x509.CertificateRequest) (certificate, key []byte, err error) {
	for {
		certificate, key, err = r.obtainOnce(ctx, template)
		if !errors.Is(err, errLost) {
			return certificate, key, err
		}
	}
}

func (r requester) obtainOnce(ctx context.Context, template *x509.CertificateRequest) (certificate, key []byte, err error) {
	newKey := r.key
	if newKey == nil {
		newKey = func(context.Context) ([]byte, error) { return keyutil.MakeEllipticPrivateKeyPEM() }
	}
	key, err = newKey(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("generate private key: %w", err)
	}
	private, err := keyutil.ParsePrivateKeyPEM(key)
	if err != nil {
		return nil, nil, fmt.Errorf("read private key: %w", err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, private)
	if err != nil {
		return nil, nil, fmt.Errorf("create certificate request: %w", err)
	}
	request := &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{GenerateName: csrPrefix},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: certificatesv1.KubeAPIServerClientSignerName,
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageClientAuth},
		},
	}
	if r.validity != nil {
		request.Spec.ExpirationSeconds = new(int32(min(*r.validity/time.Second, math.MaxInt32))) //nolint:gosec // bounded right here
	}
	created, err := r.requests.Create(ctx, request, metav1.CreateOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("create certificate signing request: %w", err)
	}
	if r.created != nil {
		r.created(ctx, created.Name)
	}
	certificate, err = r.await(ctx, created.Name)
	return certificate, key, err
}

// await polls the request until it is answered.
func (r requester) await(ctx context.Context, name string) ([]byte, error) {
	deadline := r.clock.Now().Add(issueTimeout)
	for {
		request, err := r.requests.Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil, fmt.Errorf("%q was deleted: %w", name, errLost)
		case apierrors.IsUnauthorized(err), apierrors.IsForbidden(err):
			return nil, fmt.Errorf("get certificate signing request %q: %w", name, err)
		case err == nil:
			if certificate, err := answer(request); certificate != nil || err != nil {
				return certificate, err
			}
		}
		if !r.clock.Now().Before(deadline) {
			return nil, fmt.Errorf("%q after %s: %w", name, issueTimeout, errLost)
		}
		r.alive()
		if err := pause(ctx, r.clock, issuePoll); err != nil {
			return nil, fmt.Errorf("wait for certificate signing request %q: %w", name, err)
		}
	}
}

// answer returns the certificate, or an error if the request was denied or has failed. It returns neither while the request is
// pending.
func answer(request *certificatesv1.CertificateSigningRequest) ([]byte, error) {
	for _, condition := range request.Status.Conditions {
		if condition.Status == corev1.ConditionFalse {
			continue
		}
		if condition.Type == certificatesv1.CertificateDenied || condition.Type == certificatesv1.CertificateFailed {
			return nil, fmt.Errorf("%w: %q is %s with reason %q: %s", ErrDenied, request.Name, condition.Type, condition.Reason, condition.Message)
		}
	}
	if len(request.Status.Certificate) > 0 {
		return request.Status.Certificate, nil
	}
	return nil, nil
}

// pause waits for the given time or until ctx ends, which is an error.
func pause(ctx context.Context, clk clock.Clock, length time.Duration) error {
	timer := clk.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
