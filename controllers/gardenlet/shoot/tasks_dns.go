// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/referred"
)

const (
	purposeInternal = "internal"
	purposeExternal = "external"
	purposeIngress  = "ingress"

	// namesGone is the task after which no name leads to a cluster that sleeps.
	namesGone flow.ID = "dns-stop"
)

// names are the DNS records of the API server. The record of the ingress controller is made in the same way, see
// tasks_ingress.go.
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
			{ID: namesGone, Title: "Deleting the DNS records of the sleeping cluster", After: after("apiserver-stop-wait"), Skip: !sleeps, Do: n.delete},
		},
		destroy: []flow.Task{
			{ID: "dns-internal", Title: "Deploying the internal DNS record", Reads: reads, Skip: !found.cleanable() || n.facts.Hosts.Internal == "", Do: n.internalAgain},
			{
				ID: "dns-delete", Title: "Deleting the DNS records", After: after("apiserver-service-delete", "dns-internal", "dns-ingress-delete"), Skip: !found.namespaceThere, Do: n.delete,
			},
		},
	}
}

// internal deploys the record below the domain of the seed.
func (n names) internal(ctx context.Context) error {
	return n.deploy(ctx, n.internalRecord().leadingTo(n.address.Get(ctx)))
}

// internalAgain deploys the record before a clean-up, if it is missing or the API server is not where it leads to any more. Otherwise its
// extension is left alone (EXT-DNS-5).
func (n names) internalAgain(ctx context.Context) error {
	rec, live := n.internalRecord().leadingTo(n.address.Get(ctx)), &gardenextensionsv1alpha1.DNSRecord{}
	err := n.seed.Get(ctx, client.ObjectKey{Namespace: n.facts.Namespace, Name: n.object(rec)}, live)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get DNS record %q: %w", n.object(rec), err)
	}
	wanted := live.DeepCopy()
	n.fill(rec, wanted)
	if err == nil && (live.DeletionTimestamp != nil || equality.Semantic.DeepEqual(live.Spec, wanted.Spec)) {
		return nil
	}
	return n.deploy(ctx, rec)
}

func (n names) internalRecord() record {
	internal := n.facts.Seed.Spec.DNS.Internal
	return record{
		purpose: purposeInternal, task: gardencorev1beta1.ShootTaskDeployDNSRecordInternal, host: n.facts.Hosts.Internal, provider: internal.Type, zone: internal.Zone,
		credentials: internal.CredentialsRef,
	}
}

// external deploys the record below the domain of the shoot's owner, with the owner's credentials.
func (n names) external(ctx context.Context) error {
	rec, err := n.externalRecord(ctx)
	if err != nil {
		return err
	}
	return n.deploy(ctx, rec.leadingTo(n.address.Get(ctx)))
}

func (n names) externalRecord(ctx context.Context) (record, error) {
	provider := query.DomainProvider(n.facts.Shoot.Spec.DNS)
	credentials, err := n.credentialsOf(ctx, provider)
	if err != nil {
		return record{}, err
	}
	return record{
		purpose: purposeExternal, task: gardencorev1beta1.ShootTaskDeployDNSRecordExternal, host: n.facts.Hosts.External, provider: *provider.Type,
		credentials: credentials,
	}, nil
}

// credentialsOf returns the credentials for a DNS provider: its own, or else those of the cloud.
func (n names) credentialsOf(ctx context.Context, provider *gardencorev1beta1.DNSProvider) (corev1.ObjectReference, error) {
	switch {
	case provider.SecretName != nil:
		return corev1.ObjectReference{Kind: referred.KindSecret, Namespace: n.facts.Shoot.Namespace, Name: *provider.SecretName}, nil
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
	// target is the address that the name leads to. Records that are to be deleted have none.
	target string
}

func (r record) leadingTo(address component.Address) record {
	r.target = address.LoadBalancer
	return r
}

// secret is the name of the Secret with the credentials of a record, and object that of the record.
func (n names) secret(rec record) string { return "dnsrecord-" + n.object(rec) }

func (n names) object(rec record) string { return n.facts.Shoot.Name + "-" + rec.purpose }

func (n names) deploy(ctx context.Context, rec record) error {
	name := n.secret(rec)
	if err := n.replace(ctx, rec, facts.RecordType(rec.target)); err != nil {
		return fmt.Errorf("DNS name %q: %w", rec.host, err)
	}
	if err := n.credentials.deploy(ctx, name, rec.credentials); err != nil {
		return fmt.Errorf("DNS name %q: %w", rec.host, err)
	}
	asked := ask[*gardenextensionsv1alpha1.DNSRecord]{
		ground: n.ground, names: func() ([]string, error) { return []string{n.object(rec)}, nil }, trigger: n.todo.trigger(rec.task),
		fill: func(_ context.Context, obj *gardenextensionsv1alpha1.DNSRecord) error {
			n.fill(rec, obj)
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

// fill writes what a record is to be.
func (n names) fill(rec record, obj *gardenextensionsv1alpha1.DNSRecord) {
	obj.Spec.Type = rec.provider
	obj.Spec.SecretRef = corev1.SecretReference{Namespace: n.facts.Namespace, Name: n.secret(rec)}
	obj.Spec.Name, obj.Spec.RecordType, obj.Spec.Values = rec.host, facts.RecordType(rec.target), []string{rec.target}
	obj.Spec.Zone, obj.Spec.TTL = rec.zone, n.ttl
}

// replace deletes a record that has become another one, and waits for one that somebody else deletes: extensions cannot make an address of a name in place, nor move a record to another
// name or provider, and so the API server of the seed refuses that (EXT-DNS-5, EXT-OBJ-5). Its credentials are renewed before, except those
// of a former provider, which the new ones are not for.
func (n names) replace(ctx context.Context, rec record, want gardenextensionsv1alpha1.DNSRecordType) error {
	live := &gardenextensionsv1alpha1.DNSRecord{}
	key := client.ObjectKey{Namespace: n.facts.Namespace, Name: n.object(rec)}
	if err := n.seed.Get(ctx, key, live); err != nil {
		return client.IgnoreNotFound(err)
	}
	if live.DeletionTimestamp == nil && live.Spec.RecordType == want && live.Spec.Name == rec.host && live.Spec.Type == rec.provider {
		return nil
	}
	if live.Spec.Type == rec.provider {
		if err := n.credentials.deploy(ctx, n.secret(rec), rec.credentials); err != nil {
			return err
		}
	}
	if err := n.extensions().Delete(ctx, live); err != nil {
		return err
	}
	return n.extensions().WaitGone(ctx, live, extensions.KindOf(live).Patience)
}

// refresh brings the credentials of the records up to date, with which their extensions delete them (EXT-DNS-5). If that is not
// possible, because the owner has deleted them already, the extensions try with those that they have.
func (n names) refresh(ctx context.Context) {
	var all []record
	if n.facts.Hosts.Internal != "" {
		all = append(all, n.internalRecord())
	}
	if n.facts.Hosts.External != "" {
		rec, err := n.externalRecord(ctx)
		if err != nil {
			ctrl.LoggerFrom(ctx).Info("Credentials of a DNS record not renewed before its deletion", "host", n.facts.Hosts.External, "reason", err.Error())
		} else {
			all = append(all, rec)
			if n.facts.IngressHost() != "" {
				all = append(all, n.ofIngress(rec))
			}
		}
	}
	for _, rec := range all {
		if err := n.credentials.deploy(ctx, n.secret(rec), rec.credentials); err != nil {
			ctrl.LoggerFrom(ctx).Info("Credentials of a DNS record not renewed before its deletion", "host", rec.host, "reason", err.Error())
		}
	}
}

func (n names) delete(ctx context.Context) error {
	n.refresh(ctx)
	asked := ask[*gardenextensionsv1alpha1.DNSRecord]{ground: n.ground}
	if err := asked.remove(ctx); err != nil {
		return err
	}
	return asked.waitGone(ctx)
}
