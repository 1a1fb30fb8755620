// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	networkinglisters "k8s.io/client-go/listers/networking/v1"
	"sigs.k8s.io/knftables"
)

// Reconciler keeps the table of this machine as the policies of the cluster want it. Its methods must not be called
// concurrently.
type Reconciler struct {
	Policies   networkinglisters.NetworkPolicyLister
	Pods       corelisters.PodLister
	Namespaces corelisters.NamespaceLister
	// Open opens the firewall. It is tried again if it fails.
	Open func() (knftables.Interface, error)

	firewall knftables.Interface
	// written is what was written last.
	written string
}

// Reconcile writes the table if it is not as wanted. The table is replaced at once, so that there is no moment without it.
func (r *Reconciler) Reconcile(ctx context.Context) error {
	if r.firewall == nil {
		firewall, err := r.Open()
		if err != nil {
			return fmt.Errorf("open firewall: %w", err)
		}
		r.firewall = firewall
	}
	c, err := r.cluster()
	if err != nil {
		return err
	}
	tx := r.firewall.NewTransaction()
	if err := Write(tx, c); err != nil {
		return err
	}
	text := tx.String()
	// Somebody may have removed the table, such as another firewall that starts.
	if chains, err := r.firewall.List(ctx, "chain"); err == nil && len(chains) > 0 && text == r.written {
		return nil
	}
	if err := r.firewall.Run(ctx, tx); err != nil {
		return fmt.Errorf("write firewall table: %w", err)
	}
	r.written = text
	return nil
}

func (r *Reconciler) cluster() (Cluster, error) {
	policies, err1 := r.Policies.List(labels.Everything())
	pods, err2 := r.Pods.List(labels.Everything())
	namespaces, err3 := r.Namespaces.List(labels.Everything())
	if err := errors.Join(err1, err2, err3); err != nil {
		return Cluster{}, fmt.Errorf("list policies, pods and namespaces: %w", err)
	}
	return Cluster{Policies: policies, Pods: pods, Namespaces: namespaces}, nil
}
