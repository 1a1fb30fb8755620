// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	gardenauthenticationv1alpha1 "github.com/terrarium-garden/terrarium/apis/authentication/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	defaultKubeconfigSeconds = int64(3600)
	minKubeconfigSeconds     = int64(600)
	maxKubeconfigSeconds     = int64(1)<<32 - 1
)

var errNoUser = errors.New("the request carries no user")

// kubeconfigs serves requests for one type of access. It returns credentials and keeps no copy of them (API-KUBE-2).
type kubeconfigs struct {
	access      access
	clock       clock.Clock
	maxLifetime func() time.Duration
	authorizer  authorizer.Authorizer
	configMap   func(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
	secrets     rest.Getter
	shoots      rest.Getter
}

var (
	_ rest.NamedCreater             = &kubeconfigs{}
	_ rest.GroupVersionKindProvider = &kubeconfigs{}
)

func newKubeconfigs(a access, clk clock.Clock, s Settings, shoots, secrets rest.Getter) *kubeconfigs {
	return &kubeconfigs{
		access: a, clock: clk, maxLifetime: s.longest, authorizer: s.Authorizer, configMap: s.ConfigMap,
		secrets: secrets, shoots: shoots,
	}
}

// New returns an empty request.
func (k *kubeconfigs) New() runtime.Object { return k.access.newRequest() }

// Destroy does nothing, because there is nothing to close.
func (*kubeconfigs) Destroy() {}

// GroupVersionKind returns the kind of the body, which is of another group than the shoot.
func (k *kubeconfigs) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return gardenauthenticationv1alpha1.GroupVersion.WithKind(k.access.kind)
}

// Create handles a request for the shoot with the given name (API-KUBE-1 to 7).
func (k *kubeconfigs) Create(
	ctx context.Context, name string, obj runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions,
) (runtime.Object, error) {
	request, ok := k.access.open(obj)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected kind %s, got %T", k.access.kind, obj))
	}
	if validate != nil {
		if err := validate(ctx, obj.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	lifetime, err := k.lifetime(name, *request.seconds)
	if err != nil {
		return nil, err
	}
	*request.seconds = new(int64(lifetime / time.Second)) // The response contains the granted lifetime, not the requested one.
	shoot, err := k.shoot(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := k.answer(ctx, shoot, request, lifetime); err != nil {
		return nil, err
	}
	return obj, nil
}

func (k *kubeconfigs) lifetime(name string, asked *int64) (time.Duration, error) {
	seconds := defaultKubeconfigSeconds
	if asked != nil {
		seconds = *asked
	}
	path := field.NewPath("spec", "expirationSeconds")
	message := fmt.Sprintf("must be between %d and %d seconds", minKubeconfigSeconds, maxKubeconfigSeconds)
	switch {
	case seconds < minKubeconfigSeconds:
		return 0, k.invalid(name, field.Invalid(path, seconds, message))
	case seconds > maxKubeconfigSeconds:
		return 0, k.invalid(name, &field.Error{Type: field.ErrorTypeTooLong, Field: path.String(), BadValue: seconds, Detail: message})
	}
	return min(time.Duration(seconds)*time.Second, k.maxLifetime()), nil
}

// invalid rejects a request. The error names the kind of the request, because that is invalid, and not the shoot.
func (k *kubeconfigs) invalid(name string, err *field.Error) error {
	kind := gardenauthenticationv1alpha1.GroupVersion.WithKind(k.access.kind).GroupKind()
	return apierrors.NewInvalid(kind, name, field.ErrorList{err})
}

func (k *kubeconfigs) shoot(ctx context.Context, name string) (*gardencorev1beta1.Shoot, error) {
	obj, err := k.shoots.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	shoot, ok := obj.(*gardencorev1beta1.Shoot)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("%T is not a Shoot", obj))
	}
	return shoot, nil
}

// answer sets the status of a request.
func (k *kubeconfigs) answer(
	ctx context.Context, shoot *gardencorev1beta1.Shoot, request parts, lifetime time.Duration,
) error {
	addresses := usable(shoot.Status.AdvertisedAddresses)
	if len(addresses) == 0 {
		path := field.NewPath("status", "advertisedAddresses")
		return k.invalid(shoot.Name,
			field.Invalid(path, "", "the shoot has no address yet; wait until its API server is reachable and try again"))
	}
	requester, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return apierrors.NewInternalError(errNoUser)
	}
	issued, bundle, err := k.issue(ctx, shoot, requester, lifetime)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	kubeconfig, err := render(shoot, addresses, bundle, issued)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	*request.kubeconfig, *request.expiration = kubeconfig, metav1.NewTime(issued.notAfter)
	return nil
}

// issue signs a certificate for the requester and returns it with the CA of the shoot's servers.
func (k *kubeconfigs) issue(
	ctx context.Context, shoot *gardencorev1beta1.Shoot, requester user.Info, lifetime time.Duration,
) (*issued, []byte, error) {
	authority, bundle, err := k.authorities(ctx, shoot)
	if err != nil {
		return nil, nil, err
	}
	group, err := k.group(ctx, requester)
	if err != nil {
		return nil, nil, err
	}
	certificate, err := authority.issue(subject{name: k.access.userPrefix + requester.GetName(), group: group}, k.clock.Now(), lifetime)
	return certificate, bundle, err
}

// authorities reads the two CAs that the gardenlet published for the shoot: the one that signs client certificates and the one of
// its servers.
func (k *kubeconfigs) authorities(ctx context.Context, shoot *gardencorev1beta1.Shoot) (*authority, []byte, error) {
	name := shoot.Name + ".ca-client"
	obj, err := k.secrets.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("read client CA of shoot %q from InternalSecret %q: %w", shoot.Name, name, err)
	}
	secret, ok := obj.(*gardencorev1beta1.InternalSecret)
	if !ok {
		return nil, nil, fmt.Errorf("read client CA of shoot %q: %T is not an InternalSecret", shoot.Name, obj)
	}
	a, err := parseAuthority(secret.Data["ca.crt"], secret.Data["ca.key"])
	if err != nil {
		return nil, nil, fmt.Errorf("client CA in InternalSecret %q: %w", name, err)
	}
	public, err := k.configMap(ctx, shoot.Namespace, shoot.Name+".ca-cluster")
	if err != nil {
		return nil, nil, fmt.Errorf("read cluster CA of shoot %q: %w", shoot.Name, err)
	}
	bundle := public.Data["ca.crt"]
	if bundle == "" {
		return nil, nil, fmt.Errorf("ConfigMap %q has no ca.crt", public.Name)
	}
	return a, []byte(bundle), nil
}

// group returns the group of the certificate, which depends on whether the requester may list the privileged resource in all
// namespaces (API-KUBE-4, 7).
func (k *kubeconfigs) group(ctx context.Context, requester user.Info) (string, error) {
	question := k.access.privilege
	question.User, question.Verb, question.ResourceRequest = requester, "list", true
	decision, _, err := k.authorizer.Authorize(ctx, question)
	if err != nil {
		return "", fmt.Errorf("decide on the group of %q: %w", requester.GetName(), err)
	}
	if decision == authorizer.DecisionAllow {
		return k.access.gardenGroup, nil
	}
	return k.access.projectGroup, nil
}

// usable returns the addresses that a kubeconfig may contain (API-KUBE-5).
func usable(all []gardencorev1beta1.ShootAdvertisedAddress) []gardencorev1beta1.ShootAdvertisedAddress {
	names := []string{
		gardencorev1beta1.AdvertisedAddressExternal, gardencorev1beta1.AdvertisedAddressInternal,
		gardencorev1beta1.AdvertisedAddressUnmanaged, gardencorev1beta1.AdvertisedAddressWildcardTLSSeedBound,
	}
	var some []gardencorev1beta1.ShootAdvertisedAddress
	for _, a := range all {
		if slices.Contains(names, a.Name) {
			some = append(some, a)
		}
	}
	return some
}
