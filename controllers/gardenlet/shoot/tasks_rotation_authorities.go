// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

const (
	// rootBundle is the ConfigMap of every namespace from which pods learn whom they may trust.
	rootBundle        = "kube-root-ca.crt"
	rootBundleTimeout = 3 * time.Minute
	rootBundlePoll    = time.Second

	taskRootBundle = "root-bundle"
)

// authorityRotation is what the rotation of certificate authorities needs besides new certificates (GLET-CRED-10).
type authorityRotation struct {
	ground

	secrets     authorities
	shootClient *flow.Value[client.Client]
}

func (r authorityRotation) fragment() fragment {
	return fragment{deploy: []flow.Task{{
		ID: taskRootBundle, Title: "Waiting until all namespaces trust the new certificate authority", After: after("kcm-wait"),
		Reads: []flow.Slot{r.shootClient}, Timeout: rootBundleTimeout, Skip: !r.rotating().twoAuthorities, Do: r.awaitRootBundle,
	}}}
}

// credentialsFirst are the tasks before machines are replaced because of a rotation. The pods that start on new machines have to learn
// of the new authority, and the controller manager that signs for the new machines has to have it.
func (w workers) credentialsFirst() []flow.ID {
	now := w.rotating()
	var first []flow.ID
	if now.twoAuthorities {
		first = append(first, taskRootBundle)
	}
	if now.newAccountKey {
		first = append(first, "account-tokens")
	}

	return first
}

// awaitRootBundle waits until the new authority is published in every namespace. The controller manager does that.
func (r authorityRotation) awaitRootBundle(ctx context.Context) error {
	ca, err := r.secrets.CA(ctx, gardencorev1beta1.SecretCACluster)
	if err != nil {
		return err
	}
	shoot, want, done := r.shootClient.Get(ctx), string(ca.Bundle.PEM), map[string]bool{}
	published := func(page *metav1.PartialObjectMetadataList) error {
		for i := range page.Items {
			namespace := &page.Items[i]
			if done[namespace.Name] || namespace.DeletionTimestamp != nil {
				continue
			}
			config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: rootBundle}}
			if err := shoot.Get(ctx, client.ObjectKeyFromObject(config), config); err != nil {
				return fmt.Errorf("get config map %q: %w", client.ObjectKeyFromObject(config), err)
			}
			if config.Data[gardencorev1beta1.DataKeyCertificateCA] != want {
				return fmt.Errorf("config map %q does not contain the new certificate authority yet", client.ObjectKeyFromObject(config))
			}
			done[namespace.Name] = true
		}

		return nil
	}

	return flow.Until(ctx, r.clock, flow.Every(rootBundlePoll), func(ctx context.Context) error {
		if err := metadataPages(shoot, namespaceKind()).Each(ctx, published); err != nil {
			return fmt.Errorf("look into all namespaces: %w", err)
		}

		return nil
	})
}
