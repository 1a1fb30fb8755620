// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/referred"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

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
	if lost, ok := errors.AsType[*referred.MissingError](err); ok {
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
			return corev1.ObjectReference{}, referred.Missing(fmt.Errorf("get credentials binding %q: %w", key, err))
		}
		return binding.CredentialsRef, nil
	case query.KindSecretBinding:
		binding := &gardencorev1beta1.SecretBinding{}
		if err := c.reader.Get(ctx, key, binding); err != nil {
			return corev1.ObjectReference{}, referred.Missing(fmt.Errorf("get secret binding %q: %w", key, err))
		}
		return query.CredentialsOf(binding), nil
	default:
		return corev1.ObjectReference{}, lastoperation.WithCodes(
			referred.NoneError(errors.New("the shoot has workers and names no credentials: set spec.credentialsBindingName")),
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

// read returns the Secret of that name that is to be in the seed.
func (c credentials) read(ctx context.Context, name string, ref corev1.ObjectReference) (*corev1.Secret, error) {
	return c.copier().Secret(ctx, name, ref)
}

// copier copies what the shoot refers to into its namespace in the seed.
func (c credentials) copier() referred.Copier {
	shoot := c.facts.Shoot
	return referred.Copier{
		Garden: c.garden, Reader: c.reader, Seed: c.seed, Clock: c.clock, Validity: c.validity, Namespace: c.facts.Namespace,
		Behalf: gardensecurityv1alpha1.ContextObject{
			APIVersion: gardencorev1beta1.GroupVersion.String(), Kind: "Shoot", Namespace: &shoot.Namespace, Name: shoot.Name, UID: shoot.UID,
		},
	}
}
