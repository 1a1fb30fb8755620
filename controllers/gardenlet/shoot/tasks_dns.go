// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

const (
	purposeInternal = "internal"
	purposeExternal = "external"
)

// names are the DNS records of the API server.
type names struct {
	ground

	credentials credentials
	todo        todo
	address     address
	ttl         *int64
}

func (n names) fragment(found remains) fragment {
	reads := []flow.Slot{n.address}
	sleeps := n.facts.Power != facts.Awake
	return fragment{
		deploy: []flow.Task{
			{ID: "dns-internal", Title: "Deploying the internal DNS record", Reads: reads, Skip: sleeps || n.facts.Hosts.Internal == "", Do: n.internal},
			{ID: "dns-external", Title: "Deploying the external DNS record", Reads: reads, Skip: sleeps || n.facts.Hosts.External == "", Do: n.external},
			{ID: "dns-stop", Title: "Deleting the DNS records of the sleeping cluster", After: after("apiserver-stop-wait"), Skip: !sleeps, Do: n.delete},
		},
		destroy: []flow.Task{{
			ID: "dns-delete", Title: "Deleting the DNS records", After: after("apiserver-service-delete"), Skip: !found.namespace, Do: n.delete,
		}},
	}
}

// internal deploys the record below the domain of the seed.
func (n names) internal(ctx context.Context) error {
	internal := n.facts.Seed.Spec.DNS.Internal
	return n.deploy(ctx, record{
		purpose: purposeInternal, task: gardencorev1beta1.ShootTaskDeployDNSRecordInternal, host: n.facts.Hosts.Internal, provider: internal.Type, zone: internal.Zone,
		credentials: internal.CredentialsRef,
	})
}

// external deploys the record below the domain of the shoot's owner, with the owner's credentials.
func (n names) external(ctx context.Context) error {
	provider := query.DomainProvider(n.facts.Shoot.Spec.DNS)
	credentials, err := n.credentialsOf(ctx, provider)
	if err != nil {
		return err
	}
	return n.deploy(ctx, record{
		purpose: purposeExternal, task: gardencorev1beta1.ShootTaskDeployDNSRecordExternal, host: n.facts.Hosts.External, provider: *provider.Type,
		credentials: credentials,
	})
}

// credentialsOf returns the credentials for a DNS provider: its own, or else those of the cloud.
func (n names) credentialsOf(ctx context.Context, provider *gardencorev1beta1.DNSProvider) (corev1.ObjectReference, error) {
	switch {
	case provider.SecretName != nil:
		return corev1.ObjectReference{Kind: kindSecret, Namespace: n.facts.Shoot.Namespace, Name: *provider.SecretName}, nil
	case provider.CredentialsRef != nil:
		return corev1.ObjectReference{Kind: provider.CredentialsRef.Kind, Namespace: n.facts.Shoot.Namespace, Name: provider.CredentialsRef.Name}, nil
	default:
		return n.credentials.ofBinding(ctx)
	}
}

// record is a DNS name that points to the load balancer.
type record struct {
	purpose, task, host, provider string
	zone                          *string
	credentials                   corev1.ObjectReference
}

func (n names) deploy(ctx context.Context, rec record) error {
	target := n.address.Get(ctx).LoadBalancer
	name := "dnsrecord-" + n.facts.Shoot.Name + "-" + rec.purpose
	if err := n.credentials.deploy(ctx, name, rec.credentials); err != nil {
		return fmt.Errorf("DNS name %q: %w", rec.host, err)
	}
	asked := ask[*gardenextensionsv1alpha1.DNSRecord]{
		ground: n.ground, names: func() ([]string, error) { return []string{n.facts.Shoot.Name + "-" + rec.purpose}, nil }, trigger: n.todo.trigger(rec.task),
		fill: func(_ context.Context, obj *gardenextensionsv1alpha1.DNSRecord) error {
			obj.Spec.Type = rec.provider
			obj.Spec.SecretRef = corev1.SecretReference{Namespace: n.facts.Namespace, Name: name}
			obj.Spec.Name, obj.Spec.RecordType, obj.Spec.Values = rec.host, facts.RecordType(target), []string{target}
			obj.Spec.Zone, obj.Spec.TTL = rec.zone, n.ttl
			return nil
		},
	}
	if err := asked.apply(ctx); err != nil {
		return err
	}
	if err := asked.wait(ctx); err != nil {
		return err
	}
	return n.todo.finish(ctx, rec.task)
}

func (n names) delete(ctx context.Context) error {
	asked := ask[*gardenextensionsv1alpha1.DNSRecord]{ground: n.ground}
	if err := asked.remove(ctx); err != nil {
		return err
	}
	return asked.waitGone(ctx)
}
