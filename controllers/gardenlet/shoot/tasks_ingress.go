// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/nginxingress"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// awaitIngress waits until the provider has made the load balancer of the ingress controller.
func (o optional) awaitIngress(ctx context.Context) error {
	return flow.Until(ctx, o.clock, flow.Every(ingressPoll), func(ctx context.Context) error {
		service := &corev1.Service{}
		key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: nginxingress.Service}
		if err := o.values.shootClient.Get(ctx).Get(ctx, key, service); err != nil {
			return fmt.Errorf("get service %q of the cluster: %w", key, err)
		}
		address := facts.LoadBalancerAddress(service)
		if address == "" {
			return fmt.Errorf("service %q of the cluster: %w", key, errNoLoadBalancer)
		}
		o.values.ingress.Set(ctx, component.Address{LoadBalancer: address})
		return nil
	})
}

var errNoLoadBalancer = errors.New("the load balancer has no address yet; the events of the service tell why, and where the cloud cannot make one " +
	"the add-on nginxIngress has to be switched off")

// ingress deploys the record of all names below that of the ingress controller (EXT-DNS-1).
func (o optional) ingress(ctx context.Context) error {
	external, err := o.names.externalRecord(ctx)
	if err != nil {
		return err
	}
	return o.names.deploy(ctx, o.names.ofIngress(external).leadingTo(o.values.ingress.Get(ctx)))
}

// ofIngress is the record of the ingress controller. It is at the same provider as that of the API server.
func (n names) ofIngress(external record) record {
	external.purpose, external.task, external.host = purposeIngress, gardencorev1beta1.ShootTaskDeployDNSRecordIngress, n.facts.IngressHost()
	return external
}

// ingressAway deletes the record of an ingress controller, and the copy of the credentials that it was made with.
func (o optional) ingressAway(ctx context.Context) error {
	n, rec := o.names, record{purpose: purposeIngress}
	live := &gardenextensionsv1alpha1.DNSRecord{}
	err := n.seed.Get(ctx, client.ObjectKey{Namespace: n.facts.Namespace, Name: n.object(rec)}, live)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get DNS record %q: %w", n.object(rec), err)
	}
	if err == nil {
		o.renew(ctx, live)
		if err := n.extensions().Delete(ctx, live); err != nil {
			return err
		}
		if err := n.extensions().WaitGone(ctx, live, extensions.KindOf(live).Patience); err != nil {
			return err
		}
	}
	return n.engine().Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: n.facts.Namespace, Name: n.secret(rec)}})
}

// renew brings the credentials of a record up to date before it is deleted, if its provider is still that of the shoot (EXT-DNS-5).
func (o optional) renew(ctx context.Context, live *gardenextensionsv1alpha1.DNSRecord) {
	if o.facts.Hosts.External == "" {
		return
	}
	external, err := o.names.externalRecord(ctx)
	if err == nil && external.provider == live.Spec.Type {
		err = o.names.credentials.deploy(ctx, live.Spec.SecretRef.Name, external.credentials)
	}
	if err != nil {
		ctrl.LoggerFrom(ctx).Info("Credentials of a DNS record not renewed before its deletion", "host", live.Spec.Name, "reason", err.Error())
	}
}
