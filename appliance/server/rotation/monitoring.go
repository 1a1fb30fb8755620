// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// monitoring changes the password with which seeds are monitored.
type monitoring struct {
	// live returns what reads objects from the store; nil while the server starts.
	live func() *client.Reader
	// writer returns what writes them. The error is a refusal while the server starts.
	writer func() (client.Client, error)
}

// secret returns the Secret with the credentials of monitoring. The error is a refusal if it cannot be said which one it is.
func (m *monitoring) secret(ctx context.Context) (*corev1.Secret, error) {
	live := m.live()
	if live == nil {
		return nil, RefusedError{errStarting}
	}
	list := &corev1.SecretList{}
	err := (*live).List(ctx, list, client.InNamespace(gardencorev1beta1.NamespaceGarden),
		client.MatchingLabels{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleGlobalMonitoring})
	if err != nil {
		return nil, fmt.Errorf("list credentials of monitoring: %w", err)
	}
	found := slices.DeleteFunc(list.Items, func(s corev1.Secret) bool {
		_, special := s.Labels[gardencorev1beta1.LabelPurpose]

		return special || s.DeletionTimestamp != nil
	})
	if len(found) != 1 {
		return nil, RefusedError{fmt.Errorf("there are %d Secrets with credentials of monitoring, and it needs one (docs/monitoring.md)", len(found))}
	}

	return &found[0], nil
}

// rotate asks the controller of the credentials for a new password (OPER-ROT-8). The controller may be at work for an earlier request, and
// changes the Secret then, which must not keep a rotation of all credentials from beginning.
func (m *monitoring) rotate(ctx context.Context) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { return m.ask(ctx) })
}

func (m *monitoring) ask(ctx context.Context) error {
	secret, err := m.secret(ctx)
	if err != nil || secret.Annotations[gardencorev1beta1.AnnotationOperation] != "" {
		return err
	}
	writer, err := m.writer()
	if err != nil {
		return err
	}
	commit := kit.Begin(writer, secret)
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationRotateObservabilityCredentials)

	return commit.WriteObject(ctx)
}
