// SPDX-License-Identifier: Apache-2.0

package sshaccess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// look is the time between two looks at a Bastion that is not ready.
	look = 500 * time.Millisecond
	// heartbeat is the time between two heartbeats. A Bastion is deleted an hour after the last one.
	heartbeat = 20 * time.Minute
	// farewell is how long closing a way may take.
	farewell = 15 * time.Second
)

// Request says where to go.
type Request struct {
	// Namespace and Shoot name the shoot.
	Namespace, Shoot string
	// Node is the name of a node or an internal address of one. If empty, the first node that is ready is taken.
	Node string
	// Networks are the networks from which the host is reached, such as 203.0.113.7/32.
	Networks []string
	// Timeout is how long to wait for the host.
	Timeout time.Duration
}

// Guide opens ways.
type Guide struct {
	// Garden is the client of the garden, as Connect returns it.
	Garden client.Client
	// Clock tells the time.
	Clock clock.WithTicker
	// Tell writes a message for the user.
	Tell func(format string, args ...any)
}

// Way leads to a node. It has to be closed.
type Way struct {
	// Config is the path of a configuration for SSH clients, in which the node is the host Target. The file and the keys that it names
	// are in a directory that nobody else can read.
	Config string

	guide *Guide
	dir   string
	// lock says that dir is in use; it is nil where there are no locks.
	lock    *os.File
	bastion *gardenoperationsv1alpha1.Bastion
}

// Target is the name of the node in the configuration of a Way.
const Target = "node"

// Open makes a Bastion and returns when its host is ready. Nothing is left of it if an error is returned. Keys that processes of the user
// have left behind, because they were killed, are removed before.
func (g *Guide) Open(ctx context.Context, r Request) (_ *Way, err error) {
	if removed, err := temporary().sweep(); err != nil {
		g.Tell("Warning: %v\n", err)
	} else if len(removed) > 0 {
		g.Tell("Removed keys that an earlier run has left behind: %s\n", strings.Join(removed, ", "))
	}
	shoot := &gardencorev1beta1.Shoot{}
	if err := g.Garden.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Shoot}, shoot); err != nil {
		return nil, fmt.Errorf("get shoot: %w", err)
	}
	nodeKey, err := g.nodeKey(ctx, shoot)
	if err != nil {
		return nil, err
	}
	address, err := g.nodeAddress(ctx, shoot, r.Node)
	if err != nil {
		return nil, err
	}
	w := &Way{guide: g}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close(ctx))
		}
	}()
	if w.dir, w.lock, err = temporary().create(); err != nil {
		return nil, err
	}
	own, err := newKey()
	if err != nil {
		return nil, err
	}
	if err := w.ask(ctx, r, own.public); err != nil {
		return nil, err
	}
	if err := w.await(ctx, r.Timeout); err != nil {
		return nil, err
	}
	return w, w.write(own.private, nodeKey, address)
}

// nodeKey is the key that the machines of a shoot accept.
func (g *Guide) nodeKey(ctx context.Context, shoot *gardencorev1beta1.Shoot) ([]byte, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: shoot.Namespace, Name: shoot.Name + "." + gardencorev1beta1.ProjectSecretSuffixSSHKeypair}
	err := g.Garden.Get(ctx, key, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("shoot %q has no key for its machines (Secret %q): either it has no nodes yet, or spec.provider.workersSettings.sshAccess is disabled", shoot.Name, key.Name)
	case err != nil:
		return nil, fmt.Errorf("get the key of the machines: %w", err)
	}
	return secret.Data[secrets.DataKeyRSA], nil
}

// ask creates the Bastion.
func (w *Way) ask(ctx context.Context, r Request, publicKey string) error {
	b := &gardenoperationsv1alpha1.Bastion{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, GenerateName: "ssh-"},
		Spec:       gardenoperationsv1alpha1.BastionSpec{ShootRef: corev1.LocalObjectReference{Name: r.Shoot}, SSHPublicKey: publicKey},
	}
	for _, network := range r.Networks {
		b.Spec.Ingress = append(b.Spec.Ingress, gardenoperationsv1alpha1.BastionIngressPolicy{IPBlock: networkingv1.IPBlock{CIDR: network}})
	}
	if err := w.guide.Garden.Create(ctx, b); err != nil {
		return fmt.Errorf("create bastion: %w", err)
	}
	w.bastion = b
	w.guide.Tell("Waiting for bastion %q, which is open for %s ...\n", b.Name, strings.Join(r.Networks, ", "))
	return nil
}

// await returns when the host is ready, and tells what its extension reports meanwhile.
func (w *Way) await(ctx context.Context, timeout time.Duration) error {
	ticker := w.guide.Clock.NewTicker(look)
	defer ticker.Stop()
	began, told := w.guide.Clock.Now(), ""
	for {
		if err := w.guide.Garden.Get(ctx, client.ObjectKeyFromObject(w.bastion), w.bastion); err != nil {
			return fmt.Errorf("look at bastion %q: %w", w.bastion.Name, err)
		}
		ready, message := judge(w.bastion)
		if ready {
			return nil
		}
		if message != told {
			w.guide.Tell("  %s\n", message)
			told = message
		}
		if w.guide.Clock.Since(began) > timeout {
			return fmt.Errorf("bastion %q is not ready after %s: %s", w.bastion.Name, timeout, message)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C():
		}
	}
}

// judge reports whether the host can be used, or why not.
func judge(b *gardenoperationsv1alpha1.Bastion) (ready bool, message string) {
	for _, c := range b.Status.Conditions {
		if c.Type == gardenoperationsv1alpha1.ConditionTypeBastionReady {
			return c.Status == gardencorev1beta1.ConditionTrue && b.Status.Ingress != nil, c.Message
		}
	}
	return false, "its seed has not taken it up yet"
}

// Keep sends heartbeats until ctx ends. One that fails is repeated with the next: there are several before the Bastion expires.
func (w *Way) Keep(ctx context.Context) {
	ticker := w.guide.Clock.NewTicker(heartbeat)
	defer ticker.Stop()
	b := w.bastion.DeepCopy()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		before := b.DeepCopy()
		metav1.SetMetaDataAnnotation(&b.ObjectMeta, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationKeepAlive)
		if err := w.guide.Garden.Patch(ctx, b, client.MergeFrom(before)); err != nil && ctx.Err() == nil {
			w.guide.Tell("The bastion could not be told that it is still needed: %v\n", err)
		}
		// The garden takes the annotation off, so each heartbeat has to add it.
		delete(b.Annotations, gardencorev1beta1.AnnotationOperation)
	}
}

// Close deletes the Bastion and the keys, also when ctx has ended.
func (w *Way) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	var errs []error
	if w.bastion != nil {
		if err := w.guide.Garden.Delete(ctx, w.bastion); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("delete bastion %q, which otherwise ends within an hour: %w", w.bastion.Name, err))
		}
	}
	if w.dir != "" {
		errs = append(errs, remove(w.dir, w.lock))
	}
	return errors.Join(errs...)
}
