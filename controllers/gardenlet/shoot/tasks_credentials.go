// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/workloadidentity"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// Kinds of credentials.
const (
	kindSecret           = "Secret"
	kindInternalSecret   = "InternalSecret"
	kindWorkloadIdentity = "WorkloadIdentity"
)

// missingCredentialsError says that there are no credentials: what the shoot names does not exist, or it names nothing. Every other
// error of credentials may pass by itself.
type missingCredentialsError struct{ error }

func (e *missingCredentialsError) Unwrap() error { return e.error }

// missing marks errors of objects that do not exist. A gardenlet is forbidden to read what nothing refers to.
func missing(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return &missingCredentialsError{error: err}
	}
	return err
}

// credentials copies the credentials that the owner of the shoot has given to where extensions find them.
type credentials struct {
	ground

	garden client.Client
	reader client.Reader
	// validity is how long tokens of workload identities shall be valid.
	validity time.Duration
}

func (c credentials) fragment(found remains) fragment {
	task := flow.Task{ID: "cloudprovider-secret", Title: "Deploying the credentials of the cloud provider"}
	deploy, destroy := task, task
	deploy.After, deploy.Skip, deploy.Do = after("namespace"), !c.facts.Workers(), c.deployCloudProvider
	destroy.Skip, destroy.Do = !found.namespace || !c.facts.Workers(), c.refreshCloudProvider
	return fragment{deploy: []flow.Task{deploy}, destroy: []flow.Task{destroy}}
}

// deployCloudProvider deploys those of the cloud.
func (c credentials) deployCloudProvider(ctx context.Context) error {
	ref, err := c.ofBinding(ctx)
	if err != nil {
		return err
	}
	secret, err := c.read(ctx, gardencorev1beta1.SecretCloudProvider, ref)
	if err != nil {
		return err
	}
	// Webhooks of extensions find it by that label (EXT-WH-1).
	metav1.SetMetaDataLabel(&secret.ObjectMeta, gardencorev1beta1.LabelPurpose, gardencorev1beta1.SecretCloudProvider)
	return c.engine().Apply(ctx, secret)
}

// refreshCloudProvider does so for a deletion. When there are no credentials any more, those of the last run are kept, so that the
// shoot can still be deleted.
func (c credentials) refreshCloudProvider(ctx context.Context) error {
	err := c.deployCloudProvider(ctx)
	if lost, ok := errors.AsType[*missingCredentialsError](err); ok {
		ctrl.LoggerFrom(ctx).Info("Credentials of the shoot are missing, its deletion continues with the last known ones", "reason", lost.Error())
		return nil
	}
	return err
}

// ofBinding finds what the binding of the shoot refers to.
func (c credentials) ofBinding(ctx context.Context) (corev1.ObjectReference, error) {
	name := query.BindingOf(&c.facts.Shoot.Spec)
	key := client.ObjectKey{Namespace: c.facts.Shoot.Namespace, Name: name.Name}
	switch name.Kind {
	case query.KindCredentialsBinding:
		binding := &gardensecurityv1alpha1.CredentialsBinding{}
		if err := c.reader.Get(ctx, key, binding); err != nil {
			return corev1.ObjectReference{}, missing(fmt.Errorf("get credentials binding %q: %w", key, err))
		}
		return binding.CredentialsRef, nil
	case query.KindSecretBinding:
		binding := &gardencorev1beta1.SecretBinding{}
		if err := c.reader.Get(ctx, key, binding); err != nil {
			return corev1.ObjectReference{}, missing(fmt.Errorf("get secret binding %q: %w", key, err))
		}
		return query.CredentialsOf(binding), nil
	default:
		return corev1.ObjectReference{}, lastoperation.WithCodes(
			&missingCredentialsError{error: errors.New("the shoot has workers and names no credentials: set spec.credentialsBindingName")},
			gardencorev1beta1.ErrorCodeConfigurationProblem,
		)
	}
}

// deploy makes a Secret of that name out of credentials in the garden.
func (c credentials) deploy(ctx context.Context, name string, ref corev1.ObjectReference) error {
	secret, err := c.read(ctx, name, ref)
	if err != nil {
		return err
	}
	return c.engine().Apply(ctx, secret)
}

// read returns the Secret of that name that is to be in the seed. It has only the data of its source, because labels, annotations and
// types of Secrets mean something to controllers in a seed.
func (c credentials) read(ctx context.Context, name string, ref corev1.ObjectReference) (*corev1.Secret, error) {
	key, kind := client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, cmp.Or(ref.Kind, kindSecret)
	source := map[string]client.Object{
		kindSecret: &corev1.Secret{}, kindInternalSecret: &gardencorev1beta1.InternalSecret{}, kindWorkloadIdentity: &gardensecurityv1alpha1.WorkloadIdentity{},
	}[kind]
	if source == nil {
		return nil, lastoperation.WithCodes(
			&missingCredentialsError{error: fmt.Errorf("credentials %q: of kind %q, must be a %s, %s or %s", key, kind, kindSecret, kindInternalSecret, kindWorkloadIdentity)},
			gardencorev1beta1.ErrorCodeConfigurationProblem,
		)
	}
	if err := c.reader.Get(ctx, key, source); err != nil {
		return nil, missing(fmt.Errorf("get credentials: %s %q: %w", kind, key, err))
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.facts.Namespace, Name: name}, Type: corev1.SecretTypeOpaque}
	switch source := source.(type) {
	case *corev1.Secret:
		secret.Data = source.Data
	case *gardencorev1beta1.InternalSecret:
		secret.Data = source.Data
	case *gardensecurityv1alpha1.WorkloadIdentity:
		if err := c.fillIdentity(ctx, secret, source); err != nil {
			return nil, err
		}
	}
	return secret, nil
}

// fillIdentity makes a Secret that lets extensions act as a workload identity on behalf of the shoot. The token of an
// earlier run is kept while it is valid; package workloadidentity renews it between the runs.
func (c credentials) fillIdentity(ctx context.Context, secret *corev1.Secret, identity *gardensecurityv1alpha1.WorkloadIdentity) error {
	err := workloadidentity.Describe(secret, identity, gardensecurityv1alpha1.ContextObject{
		APIVersion: gardencorev1beta1.GroupVersion.String(), Kind: "Shoot", Namespace: &c.facts.Shoot.Namespace, Name: c.facts.Shoot.Name, UID: c.facts.Shoot.UID,
	})
	if err != nil {
		return err
	}
	live := &corev1.Secret{}
	key := client.ObjectKeyFromObject(secret)
	if err := c.seed.Get(ctx, key, live); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get secret %q: %w", key, err)
	}
	issuer := workloadidentity.Issuer{Garden: c.garden, Validity: c.validity, Clock: c.clock}
	if issuer.Keep(secret, live) {
		return nil
	}
	return missing(issuer.Renew(ctx, secret))
}
