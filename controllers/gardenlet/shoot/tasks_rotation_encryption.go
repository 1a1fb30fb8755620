// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/reencrypt"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	taskKeySwitch = "apiserver-new-key"
	// taskKeyInUse is done when no instance of the API server is left that encrypts with the old key, or other resources.
	taskKeyInUse = "apiserver-new-key-in-use"
	// instanceEnd is how long an earlier instance of the API server may take to end.
	instanceEnd = 2 * time.Minute
)

// switchEncryption deploys the API server once more, now that all its instances can read what is to be written: from here on, the new
// encryption key encrypts, or other resources are encrypted.
func (p plane) switchEncryption(components assembly.Assembly[facts.Shoot]) []flow.Task {
	server := apiserver.Component()
	server.Task, server.Title = taskKeySwitch, "the API server with the new encryption"
	components.Components = []component.Component[facts.Shoot]{server}
	components.Facts.Encryption.Known = true

	return components.Deploy(assembly.Order{After: after("encryption-key-known"), Skip: !p.rotating().rewrites()})
}

// restartsFirst are the tasks before the cluster is used: the API server restarts once more in them, which would interrupt others.
func (p plane) restartsFirst() []flow.ID {
	switch now := p.rotating(); {
	case now.encryption:
		return after(taskEncrypted + "-wait")
	case now.newEncryptionKey:
		return after(taskKeyInUse)
	default:
		return nil
	}
}

// encryptionRotation is the rotation of the key that encrypts objects at rest (GLET-CRED-13).
type encryptionRotation struct {
	ground

	secrets authorities
	shoots  *kit.Shoots
	// shootClient is set when the API server of the shoot answers.
	shootClient *flow.Value[client.Client]
}

func (e encryptionRotation) fragment() fragment {
	now := e.rotating()
	reads := []flow.Slot{e.shootClient}

	return fragment{deploy: []flow.Task{
		{
			ID: "encryption-key-known", Title: "Noting that the API server knows the new encryption", After: append(now.checks(), "apiserver-wait"),
			Retry: flow.Retry{Interval: time.Second, Timeout: instanceEnd}, Skip: !now.rewrites(), Do: e.noteKnown,
		},
		{
			ID: taskKeyInUse, Title: "Waiting until earlier instances of the API server have ended", After: after(taskKeySwitch + "-wait"),
			Retry: flow.Retry{Interval: time.Second, Timeout: instanceEnd}, Skip: !now.rewrites(), Do: e.alone,
		},
		{
			ID: "reencrypt", Title: "Encrypting all objects with the new key", After: after(taskKeyInUse), Reads: reads,
			Skip: !now.newEncryptionKey, Do: e.encryptAll,
		},
		{
			ID: "reencrypt-finish", Title: "Removing the marks of the encryption with a new key", Reads: reads,
			Skip: !now.oldEncryptionKey, Do: e.finish,
		},
	}}
}

// alone returns an error while an earlier instance of the API server has not ended. Until then it serves those who are connected to it,
// and what it writes for them is encrypted with its own key: when that key is removed, nobody could read it any more.
func (e encryptionRotation) alone(ctx context.Context) error {
	server := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: e.facts.Namespace, Name: gardencorev1beta1.DeploymentKubeAPIServer}
	if err := e.seed.Get(ctx, key, server); err != nil {
		return fmt.Errorf("get deployment %q: %w", key, err)
	}
	instances := &corev1.PodList{}
	if err := e.seed.List(ctx, instances, client.InNamespace(key.Namespace), client.MatchingLabels(server.Spec.Selector.MatchLabels)); err != nil {
		return fmt.Errorf("list pods of deployment %q: %w", key, err)
	}
	running := slices.DeleteFunc(instances.Items, func(pod corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	})
	if earlier := len(running) - int(ptr.Deref(server.Spec.Replicas, 1)); earlier > 0 {
		return fmt.Errorf("%d earlier instances of the API server have not ended", earlier)
	}

	return nil
}

func (e encryptionRotation) noteKnown(ctx context.Context) error {
	if err := e.alone(ctx); err != nil {
		return err
	}
	value := e.encryptionRotationMark()
	if e.rotating().encryption {
		used, err := e.encryptionInUse(ctx)
		if err != nil {
			return err
		}
		value = used.Reading(query.EncryptionWanted(&e.facts.Shoot.Spec))
	}

	return e.mark(ctx, value, gardencorev1beta1.AnnotationNewEncryptionKeyPopulated)
}

// encryptAll writes every object that is encrypted and was not written with the new key for certain: a label on it names the key.
func (e encryptionRotation) encryptAll(ctx context.Context) error {
	done, err := e.marked(ctx, e.encryptionRotationMark(), gardencorev1beta1.AnnotationResourcesLabeled)
	if done || err != nil {
		return err
	}
	key, err := e.secrets.EncryptionKey(ctx, gardencorev1beta1.SecretETCDEncryptionKey)
	if err != nil {
		return err
	}
	other, err := labels.NewRequirement(gardencorev1beta1.LabelCredentialsKeyName, selection.NotEquals, []string{key.SecretName})
	if err != nil {
		return fmt.Errorf("select objects of other keys than %q: %w", key.SecretName, err)
	}
	if err := e.relabel(ctx, *other, &key.SecretName); err != nil {
		return err
	}

	return e.mark(ctx, e.encryptionRotationMark(), gardencorev1beta1.AnnotationResourcesLabeled)
}

// finish takes the label from all objects, and the marks from the API server.
func (e encryptionRotation) finish(ctx context.Context) error {
	labelled, err := labels.NewRequirement(gardencorev1beta1.LabelCredentialsKeyName, selection.Exists, nil)
	if err != nil {
		return fmt.Errorf("select labelled objects: %w", err)
	}
	if err := e.relabel(ctx, *labelled, nil); err != nil {
		return err
	}

	return e.mark(ctx, "", gardencorev1beta1.AnnotationNewEncryptionKeyPopulated, gardencorev1beta1.AnnotationResourcesLabeled)
}

// relabel gives the label a value, or takes it off, on all selected objects of all kinds that are encrypted.
func (e encryptionRotation) relabel(ctx context.Context, which labels.Requirement, value *string) error {
	used, err := e.encryptionInUse(ctx)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]*string{gardencorev1beta1.LabelCredentialsKeyName: value}}})
	if err != nil {
		return fmt.Errorf("write a patch of labels: %w", err)
	}
	shoot, err := e.shoots.Fresh(ctx, e.facts.Namespace)
	if err != nil {
		return err
	}
	w := reencrypt.Writer{
		Shoot: shoot, Selector: labels.NewSelector().Add(which), Patch: client.RawPatch(types.MergePatchType, patch),
	}
	if value != nil {
		w.Whole = used.Resources() // The old key goes next.
	}
	w, stop := w.Limited()
	defer stop()
	for _, resource := range append([]string{reencrypt.Secrets}, used.Resources()...) {
		if err := w.Write(ctx, resource, ""); err != nil {
			return err
		}
	}

	return nil
}
