// SPDX-License-Identifier: Apache-2.0

package workloadidentity

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/security/validation"
)

// defaultTokenLifetime is the default lifetime of a token.
const defaultTokenLifetime = time.Hour

// tokens serves requests for tokens (API-TOKEN-1).
type tokens struct {
	identities rest.Getter
	signer     TokenSigner
	clock      clock.PassiveClock
	core       reader
}

var (
	_ rest.NamedCreater             = &tokens{}
	_ rest.GroupVersionKindProvider = &tokens{}
)

// claims are the claims of a token.
type claims struct {
	ID        string       `json:"jti"`
	Issuer    string       `json:"iss"`
	Subject   string       `json:"sub"`
	Audience  []string     `json:"aud"`
	IssuedAt  int64        `json:"iat"`
	NotBefore int64        `json:"nbf"`
	Expires   int64        `json:"exp"`
	Garden    gardenClaims `json:"gardener.cloud"` //nolint:tagliatelle // verifiers look for this name
}

// gardenClaims name the identity of the token and the objects on behalf of which it is used.
type gardenClaims struct {
	WorkloadIdentity object  `json:"workloadIdentity"`
	Shoot            *object `json:"shoot,omitempty"`
	Project          *object `json:"project,omitempty"`
	Seed             *object `json:"seed,omitempty"`
	BackupBucket     *object `json:"backupBucket,omitempty"`
	BackupEntry      *object `json:"backupEntry,omitempty"`
}

// object is a reference with a UID, so that it does not refer to a later object of the same name.
type object struct {
	Name      string    `json:"name"`
	Namespace string    `json:"namespace,omitempty"`
	UID       types.UID `json:"uid"`
}

func refer(o metav1.Object) *object {
	return &object{Name: o.GetName(), Namespace: o.GetNamespace(), UID: o.GetUID()}
}

// New returns an empty request.
func (*tokens) New() runtime.Object { return &gardensecurityv1alpha1.TokenRequest{} }

// Destroy does nothing, because there is nothing to close.
func (*tokens) Destroy() {}

// GroupVersionKind returns the kind of the body.
func (*tokens) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return gardensecurityv1alpha1.GroupVersion.WithKind("TokenRequest")
}

// Create handles a request for a token of the identity with the given name.
func (t *tokens) Create(
	ctx context.Context, name string, obj runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions,
) (runtime.Object, error) {
	request, ok := obj.(*gardensecurityv1alpha1.TokenRequest)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected kind TokenRequest, got %T", obj))
	}
	if validate != nil {
		if err := validate(ctx, obj.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	if errs := validation.ValidateTokenRequest(request); len(errs) > 0 {
		return nil, apierrors.NewInvalid(gardensecurityv1alpha1.Kind("TokenRequest"), name, errs)
	}
	found, err := t.identities.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	of, ok := found.(*identity)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("%T is not a WorkloadIdentity", found))
	}
	if err := t.answer(ctx, of, request); err != nil {
		return nil, err
	}
	return request, nil
}

// answer sets the status of a request.
func (t *tokens) answer(ctx context.Context, of *identity, request *gardensecurityv1alpha1.TokenRequest) error {
	garden := gardenClaims{WorkloadIdentity: *refer(of)}
	// Only gardenlets may name a context object; it is ignored in requests of other clients.
	if seed, ok := t.seed(ctx); ok && request.Spec.ContextObject != nil {
		if err := t.core.describe(ctx, request.Spec.ContextObject, seed, &garden); err != nil {
			return err
		}
	}
	now := t.clock.Now()
	expires := now.Add(t.lifetime(request.Spec.ExpirationSeconds))
	signed, err := t.signer.Sign(claims{
		ID: string(uuid.NewUUID()), Issuer: t.signer.Issuer, Subject: of.Status.Sub, Audience: of.Spec.Audiences,
		IssuedAt: now.Unix(), NotBefore: now.Unix(), Expires: expires.Unix(), Garden: garden,
	})
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("sign token of %q: %w", of.Name, err))
	}
	request.Status = gardensecurityv1alpha1.TokenRequestStatus{
		Token: signed, ExpirationTimestamp: metav1.NewTime(expires.Truncate(time.Second)),
	}
	return nil
}

// lifetime limits the requested lifetime to the bounds of the server.
func (t *tokens) lifetime(seconds *int64) time.Duration {
	asked := defaultTokenLifetime
	if seconds != nil {
		asked = time.Duration(*seconds) * time.Second
	}
	return min(max(asked, t.signer.MinLifetime), t.signer.MaxLifetime)
}

// seed returns the seed of the gardenlet that asks, and false for other clients.
func (t *tokens) seed(ctx context.Context) (string, bool) {
	requester, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return "", false
	}
	return t.signer.Gardenlet(requester)
}
