// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	leasePeriod = 10 * time.Second
	// leaseSeconds is how long an agent may be silent.
	leaseSeconds = 40
)

// beat renews the lease of the agent until ctx ends. An agent that cannot is silent, and told about by the care for the shoot (GLET-CARE-13).
func (a *Agent) beat(ctx context.Context) error {
	said := ""
	for {
		err := a.renew(ctx)
		switch {
		case err == nil:
			said = ""
		case ctx.Err() == nil && err.Error() != said:
			said = err.Error()
			logr.FromContextOrDiscard(ctx).Info("The lease cannot be renewed for now", "reason", said)
		}
		if err := a.pause(ctx, leasePeriod); err != nil {
			return nil //nolint:nilerr // Only the end of ctx ends the wait.
		}
	}
}

func (a *Agent) renew(ctx context.Context) error {
	leases := a.Own.CoordinationV1().Leases(metav1.NamespaceSystem)
	name, now := gardencorev1beta1.LeasePrefixNodeAgent+a.Node, metav1.NewMicroTime(a.Clock.Now())
	lease, err := leases.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return a.createLease(ctx, name, now)
	}
	if err != nil {
		return fmt.Errorf("get lease: %w", err)
	}
	lease.Spec.RenewTime, lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = &now, &a.Node, new(int32(leaseSeconds))
	if _, err := leases.Update(ctx, lease, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("renew lease: %w", err)
	}
	return nil
}

// createLease makes a lease that goes with the Node.
func (a *Agent) createLease(ctx context.Context, name string, now metav1.MicroTime) error {
	node, err := a.Kubelet.CoreV1().Nodes().Get(ctx, a.Node, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get node: %w", err)
	}
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Node", Name: node.Name, UID: node.UID,
		}}},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &a.Node, LeaseDurationSeconds: new(int32(leaseSeconds)), RenewTime: &now},
	}
	if _, err := a.Own.CoordinationV1().Leases(metav1.NamespaceSystem).Create(ctx, lease, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create lease: %w", err)
	}
	return nil
}
