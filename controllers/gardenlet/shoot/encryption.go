// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// encryption looks how far the encryption of objects is from what the shoot wants. Resources do not change while a key is rotated,
// while the shoot does not run, or before the status says what they are changed from. A change is over when its marks are gone. Marks of
// a change to other resources say nothing, even if the same resources can be read: it did not check these, nor write objects like this.
func (g ground) encryption(ctx context.Context) (facts.Encryption, error) {
	phase := query.RotationPhases(g.facts.Shoot).ETCDEncryptionKey
	if phase != "" && phase != gardencorev1beta1.CredentialsRotationPhaseCompleted {
		known, err := g.marked(ctx, g.encryptionRotationMark(), gardencorev1beta1.AnnotationNewEncryptionKeyPopulated)
		return facts.Encryption{Known: known}, err
	}
	c := g.facts.Shoot.Status.Credentials
	if g.facts.Power != facts.Awake || g.facts.Deleting() || c == nil || c.EncryptionAtRest == nil {
		return facts.Encryption{}, nil
	}
	used, err := g.encryptionInUse(ctx)
	if err != nil {
		return facts.Encryption{}, err
	}
	wanted, reported := query.EncryptionWanted(&g.facts.Shoot.Spec), query.PlainEncryption(*c.EncryptionAtRest).Resources
	mark, err := g.markOf(ctx, gardencorev1beta1.AnnotationNewEncryptionKeyPopulated)
	if err != nil || mark == "" && len(used.Readable) == 0 && slices.Equal(used.Encrypted, wanted) && slices.Equal(reported, wanted) {
		return facts.Encryption{}, err
	}
	all := used.Resources()
	unread := slices.ContainsFunc(wanted, func(r string) bool { return !slices.Contains(all, r) })

	return facts.Encryption{Changing: true, Known: mark == used.Reading(wanted) && !unread}, nil
}

// encryptionInUse reads what the API server encrypts by now.
func (g ground) encryptionInUse(ctx context.Context) (apiserver.Encryption, error) {
	live := &corev1.Secret{}
	key := client.ObjectKey{Namespace: g.facts.Namespace, Name: apiserver.EncryptionSecret}
	err := g.seed.Get(ctx, key, live)
	if apierrors.IsNotFound(err) {
		live, err = nil, nil
	}
	if err != nil {
		return apiserver.Encryption{}, fmt.Errorf("get secret %q: %w", key, err)
	}

	return apiserver.EncryptionInUse(g.facts.Shoot, live)
}

// encryptionRotationMark is the value of marks of the rotation of the encryption key that is under way. Marks of other rotations say
// nothing.
func (g ground) encryptionRotationMark() string {
	c := g.facts.Shoot.Status.Credentials
	if c == nil || c.Rotation == nil || c.Rotation.ETCDEncryptionKey == nil || c.Rotation.ETCDEncryptionKey.LastInitiationTime == nil {
		return ""
	}

	return strconv.FormatInt(c.Rotation.ETCDEncryptionKey.LastInitiationTime.Unix(), 10)
}

// marked reports whether the API server has a mark with that value.
func (g ground) marked(ctx context.Context, value, key string) (bool, error) {
	found, err := g.markOf(ctx, key)

	return value != "" && found == value, err
}

// markOf is the value of a mark on the API server; empty if there is none.
func (g ground) markOf(ctx context.Context, key string) (string, error) {
	server := &appsv1.Deployment{}
	err := g.seed.Get(ctx, client.ObjectKey{Namespace: g.facts.Namespace, Name: gardencorev1beta1.DeploymentKubeAPIServer}, server)
	if client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("look how far the encryption is: get deployment %q: %w", gardencorev1beta1.DeploymentKubeAPIServer, err)
	}

	return server.Annotations[key], nil
}

// mark puts marks on the API server, or takes them off if the value is empty.
func (g ground) mark(ctx context.Context, value string, keys ...string) error {
	server := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: g.facts.Namespace, Name: gardencorev1beta1.DeploymentKubeAPIServer}}
	err := g.seed.Get(ctx, client.ObjectKeyFromObject(server), server)
	if value == "" && apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get deployment %q: %w", server.Name, err)
	}
	before := server.DeepCopy()
	for _, key := range keys {
		metav1.SetMetaDataAnnotation(&server.ObjectMeta, key, value)
		if value == "" {
			delete(server.Annotations, key)
		}
	}
	if err := g.seed.Patch(ctx, server, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("mark deployment %q: %w", server.Name, err)
	}

	return nil
}
