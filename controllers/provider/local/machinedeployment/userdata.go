// SPDX-License-Identifier: Apache-2.0

package machinedeployment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

const (
	tokenIDLength     = 6
	tokenSecretLength = 16
	// tokenLife is longer than a machine may take to join.
	tokenLife = patience + 10*time.Minute
)

// token is the bootstrap token with which one machine requests its client certificate.
type token struct {
	id, secret string
}

func (t token) String() string { return t.id + "." + t.secret }

// object is the token as a Secret of the shoot. The controllers of the shoot delete it when it has expired.
func (t token) object(machineName string, now time.Time) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-" + t.id},
		Type:       corev1.SecretTypeBootstrapToken,
		Data: map[string][]byte{
			"description":                    []byte("Lets machine " + machineName + " join"),
			"token-id":                       []byte(t.id),
			"token-secret":                   []byte(t.secret),
			"expiration":                     []byte(now.Add(tokenLife).UTC().Format(time.RFC3339)),
			"usage-bootstrap-authentication": []byte("true"),
			"usage-bootstrap-signing":        []byte("true"),
		},
	}
}

// userDataSecret returns the user data of one machine. If it contains the placeholder of a bootstrap token, a token is created in the shoot.
func (r *Reconciler) userDataSecret(ctx context.Context, owner *corev1.Secret, name string, userData []byte) (*corev1.Secret, error) {
	placeholder := []byte(machine.BootstrapTokenPlaceholder)
	if bytes.Contains(userData, placeholder) {
		shoot, err := r.Shoot(ctx, owner.Namespace)
		if errors.Is(err, kit.ErrNoShootAccess) {
			return nil, kit.Wait(time.Second, err.Error())
		}
		if err != nil {
			return nil, err
		}
		fresh := token{id: r.Random(tokenIDLength), secret: r.Random(tokenSecretLength)}
		if err := shoot.Create(ctx, fresh.object(name, r.Clock.Now())); err != nil {
			return nil, fmt.Errorf("create bootstrap token for machine %q: %w", name, err)
		}
		userData = bytes.ReplaceAll(userData, placeholder, []byte(fresh.String()))
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       owner.Namespace,
			Name:            name,
			Labels:          map[string]string{LabelApp: App, LabelDeployment: owner.Name},
			OwnerReferences: []metav1.OwnerReference{ownedBy(owner)},
		},
		Type:      corev1.SecretTypeOpaque,
		Immutable: new(true),
		Data:      map[string][]byte{machine.UserDataKey: userData},
	}, nil
}

func ownedBy(owner *corev1.Secret) metav1.OwnerReference {
	return *metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("Secret"))
}

// removeOrphans deletes user data without a machine: the machine is gone, or a run was interrupted between the two writes.
func (r *Reconciler) removeOrphans(ctx context.Context, owner *corev1.Secret, pods []corev1.Pod) error {
	list := &corev1.SecretList{}
	if err := r.Reader.List(ctx, list, client.InNamespace(owner.Namespace), client.MatchingLabels{LabelDeployment: owner.Name}); err != nil {
		return fmt.Errorf("list user data of %q: %w", owner.Name, err)
	}
	machines := make(map[string]bool, len(pods))
	for _, pod := range pods {
		machines[pod.Name] = true
	}
	for _, secret := range list.Items {
		if machines[secret.Name] {
			continue
		}
		if err := r.Client.Delete(ctx, &secret); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete user data %q: %w", secret.Name, err)
		}
	}
	return nil
}
