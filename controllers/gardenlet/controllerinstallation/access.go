// SPDX-License-Identifier: Apache-2.0

package controllerinstallation

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/gardentoken"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// accessDir is where the workloads of an extension find their kubeconfig for the garden, and the token beside it.
	accessDir = "/var/run/secrets/gardener.cloud/garden/generic-kubeconfig"
	// accessSecret holds the token.
	accessSecret = "garden-access-extension"
	// contextGarden is the name of cluster, user and context in the kubeconfig.
	contextGarden = "garden"
)

// Kubeconfig is the kubeconfig of an installation for the garden. It holds no secret: the token is in a file beside it. A garden that has
// another address or other authorities makes another name, so that its users are replaced (GLET-CI-11).
func Kubeconfig(installation string, garden *rest.Config) (*corev1.Secret, error) {
	kubeconfig, err := secrets.Kubeconfig(secrets.KubeconfigSpec{
		Context: contextGarden, Server: garden.Host, CA: garden.CAData, TokenFile: accessDir + "/" + gardenresourcesv1alpha1.DataKeyToken,
	})
	if err != nil {
		return nil, err
	}
	return component.Unique(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace(installation), Name: gardencorev1beta1.SecretGenericGardenKubeconfig},
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{gardencorev1beta1.DataKeyKubeconfig: kubeconfig},
	}), nil
}

// account is the service account of an installation in the garden. Its name is that of the namespace in the seed (EXT-GARDEN-2).
func account(installation, seed string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: gardentoken.NamespaceOf(seed), Name: Namespace(installation)}}
}

// tokenSecret asks for the token of the account.
func tokenSecret(installation, seed string) *corev1.Secret {
	is := account(installation, seed)
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace(installation), Name: accessSecret,
			Labels: map[string]string{
				gardenresourcesv1alpha1.LabelPurpose: gardenresourcesv1alpha1.PurposeTokenRequestor,
				gardenresourcesv1alpha1.LabelClass:   gardenresourcesv1alpha1.ClassGarden,
			},
			Annotations: map[string]string{
				gardenresourcesv1alpha1.AnnotationServiceAccountName:      is.Name,
				gardenresourcesv1alpha1.AnnotationServiceAccountNamespace: is.Namespace,
			},
		},
		Type: corev1.SecretTypeOpaque,
	}
}

// prepareAccess makes the kubeconfig for the garden, if the deployment asks for it.
func (r *Reconciler) prepareAccess(_ context.Context, s *scope) (kit.Outcome, error) {
	if !ptr.Deref(s.deployment.InjectGardenKubeconfig, false) {
		return kit.Continue(), nil
	}
	var err error
	s.kubeconfig, err = Kubeconfig(s.installation.Name, r.Garden())
	return kit.Continue(), err
}

// grantAccess makes what the workloads mount before they are applied. The account has the label by which roles for its extension select
// it (EXT-GARDEN-3).
func (r *Reconciler) grantAccess(ctx context.Context, s *scope) (kit.Outcome, error) {
	if s.kubeconfig == nil {
		return kit.Continue(), nil
	}
	is := account(s.installation.Name, r.SeedName)
	_, err := kit.Ensure(ctx, r.GardenClient, is, func() error {
		is.AutomountServiceAccountToken = new(false)
		metav1.SetMetaDataLabel(&is.ObjectMeta, gardencorev1beta1.LabelControllerRegistrationName, s.installation.Spec.RegistrationRef.Name)
		return nil
	})
	if err == nil {
		err = r.engine().Apply(ctx, s.kubeconfig, tokenSecret(s.installation.Name, r.SeedName))
	}
	if err == nil {
		err = Inject(s.objects, s.kubeconfig, r.SeedName)
	}
	if err != nil {
		return r.failed(s, fmt.Errorf("give the extension access to the garden: %w", err))
	}
	return kit.Continue(), nil
}

// withdrawAccess takes the access away from an extension that does not ask for it any more, after its workloads do without. Its
// kubeconfig is left to the garbage collector.
func (r *Reconciler) withdrawAccess(ctx context.Context, s *scope) (kit.Outcome, error) {
	if s.kubeconfig != nil {
		return kit.RequeueAfter(s.period()), nil
	}
	if err := r.engine().Delete(ctx, tokenSecret(s.installation.Name, r.SeedName)); err != nil {
		return r.failed(s, err)
	}
	if _, err := r.removeAccount(ctx, s); err != nil {
		return r.failed(s, err)
	}
	return kit.RequeueAfter(s.period()), nil
}

// removeAccount deletes the account in the garden, and with it all its tokens (GLET-CI-10). It comes after the Secret for the token,
// which would make the account anew.
func (r *Reconciler) removeAccount(ctx context.Context, s *scope) (kit.Outcome, error) {
	is := account(s.installation.Name, r.SeedName)
	if err := r.GardenClient.Get(ctx, client.ObjectKeyFromObject(is), is); err != nil {
		return kit.Continue(), client.IgnoreNotFound(err)
	}
	return kit.Continue(), kit.Remove(ctx, r.GardenClient, is)
}
