// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/volumes"
)

// create makes the pod of a Machine that never had one. What goes wrong is part of the status of the Machine.
func (r *Reconciler) create(ctx context.Context, s *scope) (kit.Outcome, error) {
	wanted := s.pod == nil && s.creation == nil && s.machine.Spec.ProviderID == "" &&
		s.machine.Status.CurrentStatus.Phase != gardenmachinev1alpha1.MachineFailed
	if wanted {
		s.creation = r.createPod(ctx, s)
	}
	return kit.Continue(), nil
}

// createPod makes the user data before the pod, because a pod that waits for a volume waits longer each time.
func (r *Reconciler) createPod(ctx context.Context, s *scope) error {
	class, userData, err := r.class(ctx, s.machine)
	if err != nil {
		return err
	}
	spec, err := machinepod.ReadSpec(class)
	if err != nil {
		return err
	}
	if err := r.ensureUserData(ctx, s, userData); err != nil {
		return err
	}
	claim, err := volumes.Mounted(ctx, s.cloud)
	if err != nil {
		return err
	}
	node, err := machinepod.NodeAnnotation(s.machine, claim != "")
	if err != nil {
		return err
	}
	pod := machinepod.Pod(machinepod.Values{Namespace: s.key.Namespace, Name: s.key.Name, Spec: spec, Node: node, VolumesClaim: claim})
	if err := s.cloud.Create(ctx, pod); err != nil {
		return fmt.Errorf("create the pod of machine %q: %w", s.machine.Name, err)
	}
	s.pod = pod
	return nil
}

// class reads the class of a machine, and the user data that belong to it.
func (r *Reconciler) class(ctx context.Context, m *gardenmachinev1alpha1.Machine) (*gardenmachinev1alpha1.MachineClass, []byte, error) {
	class := &gardenmachinev1alpha1.MachineClass{}
	if kind := m.Spec.Class.Kind; kind != gardenmachinev1alpha1.KindMachineClass {
		return nil, nil, fmt.Errorf("spec.class.kind: it is %q, only %q is known", kind, gardenmachinev1alpha1.KindMachineClass)
	}
	if err := r.Reader.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: m.Spec.Class.Name}, class); err != nil {
		return nil, nil, fmt.Errorf("read machine class %q: %w", m.Spec.Class.Name, err)
	}
	ref := class.SecretRef
	if ref == nil || ref.Namespace != class.Namespace {
		return nil, nil, fmt.Errorf("machine class %q: secretRef: a secret of namespace %q with the user data is required", class.Name, class.Namespace)
	}
	secret := &corev1.Secret{}
	if err := r.Reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, secret); err != nil {
		return nil, nil, fmt.Errorf("read user data of machine class %q: %w", class.Name, err)
	}
	userData := secret.Data[UserDataKey]
	if len(userData) == 0 {
		return nil, nil, fmt.Errorf("read user data of machine class %q: secret %q has no key %q", class.Name, ref.Name, UserDataKey)
	}
	return class, userData, nil
}

// ensureUserData writes the user data of one machine. If they have a place for a bootstrap token, one is created in the shoot. An earlier
// pass may have been interrupted between the two writes.
func (r *Reconciler) ensureUserData(ctx context.Context, s *scope, userData []byte) error {
	err := s.cloud.Get(ctx, s.key, &corev1.Secret{})
	if !apierrors.IsNotFound(err) {
		return err //nolint:wrapcheck // The secret exists, or the client says what went wrong.
	}
	placeholder := []byte(machine.BootstrapTokenPlaceholder)
	if bytes.Contains(userData, placeholder) {
		fresh, err := r.createToken(ctx, s.machine)
		if err != nil {
			return err
		}
		userData = bytes.ReplaceAll(userData, placeholder, []byte(fresh.String()))
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: s.key.Name, Labels: machinepod.Labels()},
		Type:       corev1.SecretTypeOpaque,
		Immutable:  new(true),
		Data:       map[string][]byte{machine.UserDataKey: userData},
	}
	if err := s.cloud.Create(ctx, secret); err != nil {
		return fmt.Errorf("create user data of machine %q: %w", s.machine.Name, err)
	}
	return nil
}

func (r *Reconciler) createToken(ctx context.Context, m *gardenmachinev1alpha1.Machine) (token, error) {
	shoot, err := r.Shoot(ctx, m.Namespace)
	if errors.Is(err, kit.ErrNoShootAccess) {
		return token{}, kit.Wait(time.Second, err.Error())
	}
	if err != nil {
		return token{}, err
	}
	life := timeoutOf(m.Spec.CreationTimeout, defaultCreationTimeout) + tokenReserve
	fresh := token{id: r.Random(tokenIDLength), secret: r.Random(tokenSecretLength)}
	if err := shoot.Create(ctx, fresh.object(m.Name, r.Clock.Now().Add(life))); err != nil {
		return token{}, fmt.Errorf("create bootstrap token for machine %q: %w", m.Name, err)
	}
	return fresh, nil
}
