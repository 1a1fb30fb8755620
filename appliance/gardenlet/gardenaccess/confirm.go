// SPDX-License-Identifier: Apache-2.0

package gardenaccess

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	bootstraptoken "k8s.io/cluster-bootstrap/token/util"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

const (
	rootCAName = "kube-root-ca.crt"

	bootstrapperBindingPrefix = "gardener.cloud:system:seed-bootstrapper:"
	serviceAccountUserPrefix  = "system:serviceaccount:"
)

// confirm checks that the garden accepts the credentials, updates the CA, and deletes the bootstrap credentials.
func (a *Access) confirm(ctx context.Context) error {
	clients, err := kubernetes.NewForConfig(a.config)
	if err != nil {
		return fmt.Errorf("build garden client: %w", err)
	}
	err = a.Insist(ctx, func() error { return a.correctCA(ctx, clients) })
	if err != nil {
		return fmt.Errorf("use the garden credentials of Secret %s: %w", name(a.settings.KubeconfigSecret), err)
	}
	return a.forgetBootstrap(ctx, clients)
}

// refreshCA replaces the CA in use while the process runs. A garden changes its CA in two steps: between them it publishes both, and
// clients that have not read both by then are shut out by the second step.
func (a *Access) refreshCA(ctx context.Context) error {
	clients, err := kubernetes.NewForConfig(a.config)
	if err != nil {
		return fmt.Errorf("build garden client: %w", err)
	}
	if err := a.correctCA(ctx, clients); err != nil {
		return fmt.Errorf("look for a new CA: %w", Explain(a.current.Load().Server, err))
	}

	return nil
}

// Marks are annotations that tell which authorities the gardenlet uses, so that the garden knows when it can do without others. They
// are nil if the gardenlet does not renew its credentials.
func (a *Access) Marks() map[string]string {
	material := a.current.Load()
	if material == nil || a.transport == nil {
		return nil
	}
	leaf, err := material.Leaf()
	if err != nil || leaf == nil {
		return nil
	}

	return map[string]string{
		AnnotationBundle: identity.BundleMark(material.CA),
		AnnotationIssuer: hex.EncodeToString(leaf.AuthorityKeyId),
	}
}

// correctCA replaces the CA in use with the one that the garden publishes (GLET-BOOT-7). It ignores a published CA that did not
// sign the certificate of the garden, because with it the gardenlet could no longer connect.
func (a *Access) correctCA(ctx context.Context, clients kubernetes.Interface) error {
	published, err := clients.CoreV1().ConfigMaps(gardencorev1beta1.NamespacePublic).Get(ctx, rootCAName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get ConfigMap %q: %w", gardencorev1beta1.NamespacePublic+"/"+rootCAName, err)
	}
	current := *a.current.Load()
	wanted, ok := publishedCA(published)
	if !ok || bytes.Equal(bytes.TrimSpace(wanted), bytes.TrimSpace(current.CA)) {
		return nil
	}
	corrected := current
	corrected.CA = wanted
	probe, err := kubernetes.NewForConfig(plainConfig(a.settings, corrected))
	if err != nil {
		return fmt.Errorf("build garden client with published CA: %w", err)
	}
	if _, err := probe.CoreV1().ConfigMaps(gardencorev1beta1.NamespacePublic).Get(ctx, rootCAName, metav1.GetOptions{}); err != nil {
		a.surroundings.Log.Info("Published CA of the garden did not sign its certificate, keeping the current CA", "reason", err.Error())
		return nil
	}
	if err := a.store(ctx, corrected, false); err != nil {
		return err
	}
	a.surroundings.Log.Info("CA of the garden replaced", "secret", name(a.settings.KubeconfigSecret))
	return a.take(&corrected)
}

// publishedCA returns the CA to use; "none" and "null" stand for the system's roots.
func publishedCA(published *corev1.ConfigMap) ([]byte, bool) {
	value, ok := published.Data[gardencorev1beta1.DataKeyCertificateCA]
	switch strings.TrimSpace(value) {
	case "none", "null":
		return nil, true
	case "":
		return nil, false
	default:
		return []byte(value), ok
	}
}

// forgetBootstrap deletes the bootstrap credentials, first in the garden, then in the seed. While the bootstrap Secret exists,
// the deletion is retried at the next start.
func (a *Access) forgetBootstrap(ctx context.Context, clients kubernetes.Interface) error {
	if a.settings.BootstrapKubeconfig == nil {
		return nil
	}
	secret, err := a.readSecret(ctx, a.settings.BootstrapKubeconfig)
	if err != nil || secret == nil {
		return err
	}
	if material, err := ParseKubeconfig(secret.Data[gardencorev1beta1.DataKeyKubeconfig]); err == nil {
		if err := forgetUser(ctx, clients, userOf(material.Token)); err != nil {
			a.surroundings.Log.Info("Bootstrap credentials stay in the garden until they expire", "reason", err.Error())
		}
	}
	if err := client.IgnoreNotFound(a.surroundings.Seed.Delete(ctx, secret)); err != nil {
		return fmt.Errorf("delete bootstrap Secret %s: %w", name(a.settings.BootstrapKubeconfig), err)
	}
	a.surroundings.Log.Info("Bootstrap credentials deleted", "secret", name(a.settings.BootstrapKubeconfig))
	return nil
}

// user is the user of a bootstrap kubeconfig.
type user struct {
	tokenID                   string
	serviceAccount, namespace string
}

// userOf reads the user from a bootstrap token or from the token of a service account. It verifies nothing: the garden does
// that, and the result only says what to delete in the garden.
func userOf(token string) user {
	if parts := strings.Split(token, "."); len(parts) == 2 && bootstraptoken.IsValidBootstrapToken(token) {
		return user{tokenID: parts[0]}
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return user{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return user{}
	}
	var claims struct {
		Subject string `json:"sub"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return user{}
	}
	namespace, account, ok := strings.Cut(strings.TrimPrefix(claims.Subject, serviceAccountUserPrefix), ":")
	if !ok || !strings.HasPrefix(claims.Subject, serviceAccountUserPrefix) {
		return user{}
	}
	return user{serviceAccount: account, namespace: namespace}
}

// forgetUser deletes the bootstrap credentials in the garden (GLET-BOOT-6).
func forgetUser(ctx context.Context, clients kubernetes.Interface, who user) error {
	if who.tokenID != "" {
		secret := bootstraptoken.BootstrapTokenSecretName(who.tokenID)
		err := clients.CoreV1().Secrets(metav1.NamespaceSystem).Delete(ctx, secret, metav1.DeleteOptions{})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete Secret %q: %w", metav1.NamespaceSystem+"/"+secret, err)
		}
		return nil
	}
	if who.serviceAccount == "" {
		return nil
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: bootstrapperBindingPrefix + who.namespace + ":" + who.serviceAccount}}
	err := clients.RbacV1().ClusterRoleBindings().Delete(ctx, binding.Name, metav1.DeleteOptions{})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete ClusterRoleBinding %q: %w", binding.Name, err)
	}
	err = clients.CoreV1().ServiceAccounts(who.namespace).Delete(ctx, who.serviceAccount, metav1.DeleteOptions{})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete ServiceAccount %q: %w", who.namespace+"/"+who.serviceAccount, err)
	}
	return nil
}

// annotateBootstrap sets annotations of the bootstrap Secret for observers of the join; nil removes one. Errors are only
// logged, because nothing else depends on the annotations.
func (a *Access) annotateBootstrap(ctx context.Context, notes map[string]*string) {
	if a.settings.BootstrapKubeconfig == nil {
		return
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": notes}})
	if err == nil {
		reference := a.settings.BootstrapKubeconfig
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: reference.Namespace, Name: reference.Name}}
		err = a.surroundings.Seed.Patch(ctx, secret, client.RawPatch(mergePatch, patch))
	}
	if client.IgnoreNotFound(err) != nil {
		a.surroundings.Log.V(1).Info("Bootstrap Secret could not be annotated", "reason", err.Error())
	}
}
