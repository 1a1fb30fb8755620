// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tell writes an event of a node. The same one is written once, however often the node is looked at.
func tell(ctx context.Context, shoot client.Client, node *corev1.Node, reason, message string) error {
	sum := sha256.Sum256([]byte(string(node.UID) + "/" + reason + "/" + message))
	kind, now := corev1.EventTypeWarning, metav1.Now()
	if reason == reasonReady {
		kind = corev1.EventTypeNormal
	}
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: node.Name + "." + hex.EncodeToString(sum[:])[:16]},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Node", Name: node.Name, UID: node.UID,
		},
		Type: kind, Reason: reason, Message: message, Source: corev1.EventSource{Component: "gardener-resource-manager"},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
	if err := shoot.Create(ctx, event); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("write event of node %q: %w", node.Name, err)
	}
	return nil
}
