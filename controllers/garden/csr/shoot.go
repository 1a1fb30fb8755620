// SPDX-License-Identifier: Apache-2.0

package csr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// ErrNotEntitled says that the author of a request may not have the certificate of a self-hosted shoot.
var ErrNotEntitled = errors.New("is not entitled to the certificate of a self-hosted shoot")

// ShootAsked returns the self-hosted shoot, as <namespace>/<name>, if the client certificate of its gardenlet is requested and nothing
// else, and whether that is so (GCM-CSR-7). The shoot is empty if the certificate names none.
func ShootAsked(request *certificatesv1.CertificateSigningRequest) (shoot string, asked bool) {
	parsed, err := opened(request)
	if err != nil || parsed == nil || !slices.Equal(parsed.Subject.Organization, []string{gardencorev1beta1.GroupShoots}) {
		return "", false
	}
	return shootOf(parsed.Subject.CommonName)
}

// shootOf returns the shoot in the name of a client of a self-hosted shoot, as <namespace>/<name>, and whether the name is one of those.
func shootOf(user string) (shoot string, is bool) {
	for _, prefix := range []string{gardencorev1beta1.UserPrefixShoot, gardencorev1beta1.UserPrefixGardenadmShoot} {
		key, found := strings.CutPrefix(user, prefix)
		if !found {
			continue
		}
		namespace, name, _ := strings.Cut(key, ":")
		if namespace == "" || name == "" || strings.ContainsAny(key, "/ ") || strings.Contains(name, ":") {
			return "", true
		}
		return namespace + "/" + name, true
	}
	return "", false
}

// answerShoot denies a request for the certificate of a self-hosted shoot if its author is not entitled to it. No other is approved, because
// no shoot here is self-hosted: it is left for people to decide.
func (r *Reconciler) answerShoot(ctx context.Context, csr *certificatesv1.CertificateSigningRequest, shoot string) (reconcile.Result, error) {
	err := r.entitleShoot(ctx, csr, shoot)
	if why, no := errors.AsType[*refusedError](err); no {
		err = r.deny(ctx, csr, why)
	}
	return kit.Result(kit.Stop(), err)
}

// entitleShoot refuses a request whose author lacks the permission, or a token that was created for this shoot (GCM-CSR-7). The gardenlet of
// the shoot needs no token to renew its certificate.
func (r *Reconciler) entitleShoot(ctx context.Context, csr *certificatesv1.CertificateSigningRequest, shoot string) error {
	author := csr.Spec.Username
	if shoot == "" {
		return refusal(errors.New("the common name is not that of a self-hosted shoot, which has a namespace and a name"))
	}
	review, err := r.reviewed(ctx, csr, subresourceShoot)
	if err != nil {
		return err
	}
	if !review.Allowed {
		return refusal(fmt.Errorf("user %q %w: it may not create certificatesigningrequests/%s", author, ErrNotEntitled, subresourceShoot))
	}
	if own, is := shootOf(author); is && own == shoot {
		return nil
	}
	id, found := strings.CutPrefix(author, jointoken.UserPrefix)
	if !found {
		return refusal(fmt.Errorf("user %q %w: it takes a bootstrap token for shoot %q", author, ErrNotEntitled, shoot))
	}
	name, secret := fmt.Sprintf("token %q", id), &corev1.Secret{}
	if err := r.read(ctx, name, client.ObjectKey{Namespace: jointoken.Namespace, Name: jointoken.SecretPrefix + id}, secret); err != nil {
		return err
	}
	if !names(jointoken.Value(secret, jointoken.KeyDescription), shoot) {
		return refusal(fmt.Errorf("%s %w: its description does not name shoot %q", name, ErrNotEntitled, shoot))
	}
	return nil
}

// names reports whether a description names a shoot, given as <namespace>/<name>.
func names(description, shoot string) bool {
	return slices.ContainsFunc(strings.Fields(description), func(word string) bool {
		return strings.Trim(word, `.,;:!?'"()`) == shoot
	})
}
