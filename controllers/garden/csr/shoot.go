// SPDX-License-Identifier: Apache-2.0

package csr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// ErrNotEntitled says that the author of a request may not have the certificate of a self-hosted shoot.
var ErrNotEntitled = errors.New("is not entitled to the certificate of a self-hosted shoot")

// ShootAsk is a request for the certificate of a client of a self-hosted shoot.
type ShootAsk struct {
	Ask

	// Shoot is empty if the certificate names none.
	Shoot types.NamespacedName
	// User is the name in the certificate. Gardenadm says that it is that of the tool that connects a shoot, not that of its gardenlet.
	User      string
	Gardenadm bool
}

// ShootAsked returns what is requested if that is the certificate of a client of a self-hosted shoot and nothing else (GCM-CSR-7), and nil
// otherwise.
func ShootAsked(request *certificatesv1.CertificateSigningRequest) *ShootAsk {
	parsed, err := opened(request)
	if err != nil || parsed == nil || !slices.Equal(parsed.Subject.Organization, []string{gardencorev1beta1.GroupShoots}) {
		return nil
	}
	ask := &ShootAsk{User: parsed.Subject.CommonName}
	shoot, found := strings.CutPrefix(ask.User, gardencorev1beta1.UserPrefixShoot)
	if !found {
		if shoot, ask.Gardenadm = strings.CutPrefix(ask.User, gardencorev1beta1.UserPrefixGardenadmShoot); !ask.Gardenadm {
			return nil
		}
	}
	namespace, name, _ := strings.Cut(shoot, ":")
	if len(validation.IsDNS1123Label(namespace))+len(validation.IsDNS1123Label(name)) == 0 {
		ask.Shoot = types.NamespacedName{Namespace: namespace, Name: name}
	}
	ask.Ask = *asking(request, parsed, ask.Shoot.String())
	return ask
}

// answerShoot approves a request for the certificate of the gardenlet of a self-hosted shoot if its author is entitled to it, and denies it
// otherwise. Requests of the tool that connects a shoot are never approved, as nothing says which permissions it would need: if they are
// not denied, people decide.
func (r *Reconciler) answerShoot(ctx context.Context, csr *certificatesv1.CertificateSigningRequest, ask *ShootAsk) (reconcile.Result, error) {
	token, err := r.entitleShoot(ctx, csr, ask)
	if why, no := errors.AsType[*refusedError](err); no {
		return kit.Result(kit.Stop(), r.deny(ctx, csr, why))
	}
	if err != nil || ask.Gardenadm {
		return kit.Result(kit.Stop(), err)
	}
	if token != nil && jointoken.UseOf(token) == nil {
		if err := r.mark(ctx, token, ask.Ask); err != nil {
			return kit.Result(kit.Stop(), err)
		}
	}
	if err := r.answer(ctx, csr, certificatesv1.CertificateApproved, reasonApproved, messageShoot); err != nil {
		return kit.Result(kit.Stop(), fmt.Errorf("approve signing request %q: %w", csr.Name, err))
	}
	logf.FromContext(ctx).Info("Signing request of a gardenlet approved", "requester", csr.Spec.Username, "shoot", ask.Shoot.String())
	return kit.Result(kit.Stop(), nil)
}

// entitleShoot refuses a request whose author lacks the permission, or a token for this shoot, which it returns (GCM-CSR-7). The gardenlet
// of the shoot needs no token to renew its certificate: it has the permission only while its shoot exists.
func (r *Reconciler) entitleShoot(ctx context.Context, csr *certificatesv1.CertificateSigningRequest, ask *ShootAsk) (client.Object, error) {
	author := csr.Spec.Username
	if ask.Shoot == (types.NamespacedName{}) {
		return nil, refusal(errors.New("the common name is not that of a self-hosted shoot, which has a namespace and a name"))
	}
	review, err := r.reviewed(ctx, csr, subresourceShoot)
	if err != nil {
		return nil, err
	}
	if !review.Allowed {
		return nil, refusal(fmt.Errorf("user %q %w: it may not create certificatesigningrequests/%s", author, ErrNotEntitled, subresourceShoot))
	}
	shoot := &gardencorev1beta1.Shoot{}
	there, err := kit.Live(ctx, r.Reader, r.Client, ask.Shoot, shoot)
	if err != nil {
		return nil, fmt.Errorf("read shoot %q: %w", ask.Shoot, err)
	}
	if !there {
		shoot = nil
	}
	id, found := strings.CutPrefix(author, jointoken.UserPrefix)
	if !found {
		return nil, refuse(JudgeShoot(ask, author, nil, shoot))
	}
	token, shown, err := r.token(ctx, id)
	if err != nil {
		return nil, err
	}
	shown.Created = token.GetCreationTimestamp().Time
	return token, refuse(JudgeShoot(ask, author, shown, shoot))
}

func refuse(err error) error {
	if err == nil {
		return nil
	}
	return refusal(err)
}

// JudgeShoot returns an error if the certificate of a self-hosted shoot must not be issued. shown is the token of the author, if it has one,
// and shoot is nil if it does not exist. A gardenlet renews its own certificate. A token is valid for one certificate of the shoot that its
// description names, and not for a shoot that was created later under this name, which may belong to somebody else.
func JudgeShoot(ask *ShootAsk, author string, shown *Credentials, shoot *gardencorev1beta1.Shoot) error {
	switch {
	case shown == nil && (author != ask.User || ask.Gardenadm):
		return fmt.Errorf("user %q %w: it takes a bootstrap token for shoot %q", author, ErrNotEntitled, ask.Shoot)
	case shown != nil && shown.Purpose.Shoot != ask.Shoot:
		return fmt.Errorf("%s %w: it is for a seed, or its description does not name shoot %q", shown.Name, ErrNotEntitled, ask.Shoot)
	case ask.Gardenadm:
		return nil // It may be about to create the shoot.
	case shoot == nil:
		return fmt.Errorf("shoot %q %w: create it first", ask.Shoot, ErrGone)
	case !query.SelfHosted(&shoot.Spec):
		return fmt.Errorf("shoot %q is not self-hosted: it has no gardenlet of its own", ask.Shoot)
	case shown == nil:
		return nil
	case shown.Created.Before(shoot.CreationTimestamp.Time):
		return fmt.Errorf("%s cannot be used: it was created before shoot %q, and may be for a former shoot of this name; create another one with "+
			"\"terrarium token create --shoot %s\"", shown.Name, ask.Shoot, ask.Shoot)
	}
	if use := shown.Use; use != nil && use.UID != ask.UID && (use.Key != ask.Key || use.Seed != ask.Seed) {
		return fmt.Errorf("%s %w: shoot %q got its certificate with request %q; if it was lost, create another token with "+
			"\"terrarium token create --shoot %s\"", shown.Name, ErrUsed, use.Seed, use.Request, ask.Shoot)
	}
	return nil
}
