// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shootadmin"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
	"github.com/terrarium-garden/terrarium/controllers/shootaccess"
)

const (
	// formerAccess held the certificate of an administrator for extensions, in earlier versions.
	formerAccess = "shoot-access-extension"
	// firstToken is how long the token is valid with which the resource manager begins. It requests all others by itself.
	firstToken = 12 * time.Hour
	// renewalShare is the part of the life of a token after which it is renewed.
	renewalShare = 0.8

	// shootReached and shootServed are the tasks that enter the shoot first: one connects to it, the other writes into it.
	shootReached flow.ID = "shoot-client"
	shootServed  flow.ID = "resource-manager-access"
)

// connect deploys the access for clients in the seed and tries that of the gardenlet, unless the shoot sleeps (GLET-HIB-3). The resource
// manager comes next, because all others wait for the tokens that it requests; before it comes what nobody can write in the shoot without.
func (p plane) connect(skip bool, beforeWrites ...flow.ID) []flow.Task {
	silent := skip || p.facts.Power == facts.Asleep

	return []flow.Task{
		{
			// A certificate of a new authority is accepted only when the API server knows that.
			ID: "gardener-access", Title: "Deploying the access for clients in the seed", After: after("apiserver-wait"),
			Reads: []flow.Slot{p.address()}, Skip: skip, Do: p.deployAccess,
		},
		{
			ID: shootReached, Title: "Connecting to the API server", After: append(p.restartsFirst(), "gardener-access", "apiserver-wait"),
			Reads: []flow.Slot{p.address()}, Sets: []flow.Slot{p.values.shootClient},
			Retry: flow.Retry{Interval: time.Second, Timeout: 2 * time.Minute}, Skip: silent, Do: p.reachShoot,
		},
		{
			ID: shootServed, Title: "Giving the resource manager access to the cluster", After: beforeWrites,
			Reads: []flow.Slot{p.address(), p.values.shootClient}, Skip: silent, Do: p.admitResourceManager,
		},
	}
}

// dropFormerAccess deletes the administrator's kubeconfig of earlier versions, once no pod needs it any more.
func (p plane) dropFormerAccess() flow.Task {
	return flow.Task{
		ID: "former-access-delete", Title: "Deleting the access of earlier versions", After: after("gardener-access", "controlplane-wait"),
		Do: func(ctx context.Context) error {
			deployments := &appsv1.DeploymentList{}
			if err := p.seed.List(ctx, deployments, client.InNamespace(p.facts.Namespace)); err != nil {
				return fmt.Errorf("look who needs secret %q: %w", formerAccess, err)
			}
			for i := range deployments.Items {
				mounts := func(v corev1.Volume) bool { return v.Secret != nil && v.Secret.SecretName == formerAccess }
				if slices.ContainsFunc(deployments.Items[i].Spec.Template.Spec.Volumes, mounts) {
					return nil
				}
			}

			return p.engine().Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: p.facts.Namespace, Name: formerAccess}})
		},
	}
}

// deployAccess deploys the generic kubeconfig, says which authority for clients the API server accepts by now, and asks for tokens for
// extensions that take the place of a gardenlet: one for the public address and one for that inside the seed.
func (p plane) deployAccess(ctx context.Context) error {
	server, err := p.secrets.CA(ctx, gardencorev1beta1.SecretCACluster)
	if err != nil {
		return err
	}
	clients, err := p.secrets.CA(ctx, gardencorev1beta1.SecretCAClient)
	if err != nil {
		return err
	}
	inside := apiserver.URL(p.facts.Namespace)
	generic, err := shootaccess.GenericKubeconfig(p.facts.Namespace, inside, server.Bundle.PEM)
	if err != nil {
		return err
	}
	objs := []client.Object{generic}
	for name, url := range map[string]string{
		gardencorev1beta1.SecretGardener: p.publicURL(ctx), gardencorev1beta1.SecretGardenerInternal: inside,
	} {
		secret := shootaccess.TokenSecret(p.facts.Namespace, name, name)
		metav1.SetMetaDataAnnotation(&secret.ObjectMeta, shootadmin.AnnotationAuthority, clients.Current.SecretName)
		if err := p.fill(ctx, secret, url, ""); err != nil {
			return err
		}
		objs = append(objs, secret)
	}

	return p.engine().Apply(ctx, objs...)
}

// publicURL is where everybody reaches the API server.
func (p plane) publicURL(ctx context.Context) string {
	return facts.URL(p.address().Get(ctx).LoadBalancer)
}

// fill writes a kubeconfig into a Secret. The token is the given one, or else the one that the live Secret has.
func (p plane) fill(ctx context.Context, secret *corev1.Secret, url, token string) error {
	if token == "" {
		live, err := p.live(ctx, secret)
		if err != nil {
			return err
		}
		token = tokenOf(live)
	}
	server, err := p.secrets.CA(ctx, gardencorev1beta1.SecretCACluster)
	if err != nil {
		return err
	}
	kubeconfig, err := secrets.Kubeconfig(secrets.KubeconfigSpec{Context: p.facts.Namespace, Server: url, CA: server.Bundle.PEM, Token: token})
	if err != nil {
		return err
	}
	secret.Data = map[string][]byte{gardencorev1beta1.DataKeyKubeconfig: kubeconfig}

	return nil
}

// live reads a Secret; it is empty if it does not exist.
func (p plane) live(ctx context.Context, secret *corev1.Secret) (*corev1.Secret, error) {
	live := &corev1.Secret{}
	if err := p.seed.Get(ctx, client.ObjectKeyFromObject(secret), live); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get secret %q: %w", client.ObjectKeyFromObject(secret), err)
	}

	return live, nil
}

// tokenOf is the token in the kubeconfig of a Secret, or nothing.
func tokenOf(secret *corev1.Secret) string {
	known, err := secrets.ReadKubeconfig(secret.Data[gardencorev1beta1.DataKeyKubeconfig])
	if err != nil {
		return ""
	}

	return known.Token
}

// reachShoot sets the client of the shoot once a first request has succeeded.
func (p plane) reachShoot(ctx context.Context) error {
	shootClient, err := p.shoots.Get(ctx, p.facts.Namespace)
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{}
	if err := shootClient.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, namespace); err != nil {
		return fmt.Errorf("reach the API server of the shoot at %s: %w", p.publicURL(ctx), err)
	}
	p.values.shootClient.Set(ctx, shootClient)

	return nil
}

// administrators have all rights in a shoot: the resource manager, because it applies whatever ManagedResources hold, and extensions that
// take the place of a gardenlet.
func administrators() []client.Object {
	var objs []client.Object
	for _, name := range []string{shootaccess.ResourceManager, gardencorev1beta1.SecretGardener, gardencorev1beta1.SecretGardenerInternal} {
		labels := map[string]string{
			gardencorev1beta1.LabelOrigin:         "gardener",
			gardencorev1beta1.LabelShootNoCleanup: "true",
			gardencorev1beta1.LabelRole:           gardencorev1beta1.RoleSystemComponent,
		}
		objs = append(objs, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:system:" + name, Labels: labels},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: name}},
		})
	}

	return objs
}

// admitResourceManager gives the resource manager its rights in the shoot, and a token if the one that it has does not work. After that
// it renews all tokens whose time has come, such as those of a shoot that slept.
func (p plane) admitResourceManager(ctx context.Context) error {
	shootClient := p.values.shootClient.Get(ctx)
	account := &corev1.ServiceAccount{
		ObjectMeta:                   metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: shootaccess.ResourceManager},
		AutomountServiceAccountToken: new(false),
	}
	inShoot := deploy.Engine{Client: shootClient, Owner: fieldOwner, Clock: p.clock}
	if err := inShoot.Apply(ctx, append(administrators(), account)...); err != nil {
		return fmt.Errorf("permit the resource manager: %w", err)
	}
	secret := shootaccess.Program(p.facts.Namespace, shootaccess.ResourceManager)
	live, err := p.live(ctx, secret)
	if err != nil {
		return err
	}
	token := tokenOf(live)
	if token == "" || shootaccess.Due(live, p.clock.Now()) || !accepted(ctx, shootClient, token) {
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(firstToken.Seconds()))}}
		if err := shootClient.SubResource("token").Create(ctx, account, request); err != nil {
			return fmt.Errorf("request a token for the resource manager: %w", err)
		}
		token = request.Status.Token
		life := min(request.Status.ExpirationTimestamp.Sub(p.clock.Now()), firstToken)
		renewal := p.clock.Now().Add(time.Duration(float64(life) * renewalShare))
		secret.Annotations[gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp] = renewal.UTC().Format(time.RFC3339)
	} else {
		secret.Annotations[gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp] = live.Annotations[gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp]
	}
	if err := p.fill(ctx, secret, p.publicURL(ctx), token); err != nil {
		return err
	}
	if err := p.engine().Apply(ctx, secret); err != nil {
		return err
	}

	return p.renewOverdue(ctx)
}

// accepted reports whether the shoot says that a token is good. When it does not answer, a new one does no harm.
func accepted(ctx context.Context, shoot client.Client, token string) bool {
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}

	return shoot.Create(ctx, review) == nil && review.Status.Authenticated
}

// renewOverdue makes the resource manager look at once at Secrets that wait for a token. By itself it looks again only after a while.
func (p plane) renewOverdue(ctx context.Context) error {
	list := &corev1.SecretList{}
	wanted := client.MatchingLabels{gardenresourcesv1alpha1.LabelPurpose: gardenresourcesv1alpha1.PurposeTokenRequestor}
	if err := p.seed.List(ctx, list, client.InNamespace(p.facts.Namespace), wanted); err != nil {
		return fmt.Errorf("list secrets with tokens: %w", err)
	}
	for i := range list.Items {
		secret := &list.Items[i]
		if cmp.Or(secret.Labels[gardenresourcesv1alpha1.LabelClass], gardenresourcesv1alpha1.ClassShoot) != gardenresourcesv1alpha1.ClassShoot ||
			!shootaccess.Due(secret, p.clock.Now()) {
			continue
		}
		before := secret.DeepCopy()
		metav1.SetMetaDataAnnotation(&secret.ObjectMeta, gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp, p.clock.Now().UTC().Format(time.RFC3339))
		if err := p.seed.Patch(ctx, secret, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("renew the token of secret %q: %w", client.ObjectKeyFromObject(secret), err)
		}
	}

	return nil
}
