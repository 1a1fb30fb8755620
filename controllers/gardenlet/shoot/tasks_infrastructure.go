// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/extension"
)

const (
	purposeInternal = "internal"
	purposeExternal = "external"
)

// shootObject is the identity of an extension object of which a shoot has one.
func (o *operation) shootObject() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: o.namespace, Name: o.shoot.Name}
}

func (o *operation) providerSecret() corev1.SecretReference {
	return corev1.SecretReference{Namespace: o.namespace, Name: gardencorev1beta1.SecretCloudProvider}
}

func (o *operation) infrastructureDeploy(ctx context.Context) error {
	key, err := o.sshPublicKey(ctx)
	if err != nil {
		return err
	}
	obj := &gardenextensionsv1alpha1.Infrastructure{ObjectMeta: o.shootObject()}
	return o.r.extensions().Apply(ctx, obj, o.trigger(gardencorev1beta1.ShootTaskDeployInfrastructure), func() error {
		obj.Spec.Type = o.shoot.Spec.Provider.Type
		obj.Spec.ProviderConfig = o.shoot.Spec.Provider.InfrastructureConfig
		obj.Spec.Region = o.shoot.Spec.Region
		obj.Spec.SecretRef = o.providerSecret()
		obj.Spec.SSHPublicKey = key
		return nil
	})
}

// trigger asks an expensive kind to act only if the shoot lists the task, or if there is something to do.
func (o *operation) trigger(task string) extension.Trigger {
	if slices.Contains(tasks(o.shoot), task) {
		return extension.Always
	}
	return extension.WhenNeeded
}

// infrastructureWait takes the answer of the extension over: the networks of the nodes, and the addresses of outgoing traffic.
func (o *operation) infrastructureWait(ctx context.Context) error {
	obj := &gardenextensionsv1alpha1.Infrastructure{ObjectMeta: o.shootObject()}
	if err := o.r.extensions().Wait(ctx, obj, extensions.KindOf(obj).Patience); err != nil {
		return err
	}
	o.infrastructure = obj
	err := o.status.change(ctx, func(s gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus {
		s.Networking = Networks(o.shoot, obj)
		return s
	})
	if err != nil {
		return err
	}
	return o.finishTask(ctx, gardencorev1beta1.ShootTaskDeployInfrastructure)
}

// Networks are the ranges of a shoot: what its owner wrote comes first, then what the provider chose.
func Networks(shoot *gardencorev1beta1.Shoot, infrastructure *gardenextensionsv1alpha1.Infrastructure) *gardencorev1beta1.NetworkingStatus {
	n := &gardencorev1beta1.NetworkingStatus{}
	f := facts.Shoot{Shoot: shoot}
	n.Pods, n.Services = f.PodNetworks(), f.ServiceNetworks()
	if shoot.Spec.Networking != nil && shoot.Spec.Networking.Nodes != nil {
		n.Nodes = []string{*shoot.Spec.Networking.Nodes}
	}
	if infrastructure == nil {
		return n
	}
	if cidr := infrastructure.Status.NodesCIDR; cidr != nil {
		n.Nodes = append(n.Nodes, *cidr)
	}
	if chosen := infrastructure.Status.Networking; chosen != nil {
		n.Nodes = append(n.Nodes, chosen.Nodes...)
		n.Pods = append(n.Pods, chosen.Pods...)
		n.Services = append(n.Services, chosen.Services...)
	}
	n.EgressCIDRs = unique(infrastructure.Status.EgressCIDRs)
	n.Nodes, n.Pods, n.Services = unique(n.Nodes), unique(n.Pods), unique(n.Services)
	return n
}

func unique(in []string) []string {
	var out []string
	for _, s := range in {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func (o *operation) controlPlaneDeploy(ctx context.Context) error {
	obj := &gardenextensionsv1alpha1.ControlPlane{ObjectMeta: o.shootObject()}
	return o.r.extensions().Apply(ctx, obj, extension.Always, func() error {
		obj.Spec.Type = o.shoot.Spec.Provider.Type
		obj.Spec.ProviderConfig = o.shoot.Spec.Provider.ControlPlaneConfig
		obj.Spec.Region = o.shoot.Spec.Region
		obj.Spec.SecretRef = o.providerSecret()
		obj.Spec.InfrastructureProviderStatus = o.infrastructure.Status.ProviderStatus
		return nil
	})
}

func (o *operation) controlPlaneWait(ctx context.Context) error {
	obj := &gardenextensionsv1alpha1.ControlPlane{ObjectMeta: o.shootObject()}
	return o.r.extensions().Wait(ctx, obj, extensions.KindOf(obj).Patience)
}

func (o *operation) networkDeploy(ctx context.Context) error {
	pods, services := o.facts().PodNetworks(), o.facts().ServiceNetworks()
	n := o.shoot.Spec.Networking
	obj := &gardenextensionsv1alpha1.Network{ObjectMeta: o.shootObject()}
	return o.r.extensions().Apply(ctx, obj, extension.Always, func() error {
		if n != nil && n.Type != nil {
			obj.Spec.Type = *n.Type
			obj.Spec.ProviderConfig = n.ProviderConfig
		}
		obj.Spec.PodCIDR, obj.Spec.ServiceCIDR = pods[0], services[0]
		obj.Spec.IPFamilies = ipFamilies(n)
		return nil
	})
}

func ipFamilies(n *gardencorev1beta1.Networking) []gardenextensionsv1alpha1.IPFamily {
	if n == nil || len(n.IPFamilies) == 0 {
		return []gardenextensionsv1alpha1.IPFamily{gardenextensionsv1alpha1.IPFamilyIPv4}
	}
	families := make([]gardenextensionsv1alpha1.IPFamily, 0, len(n.IPFamilies))
	for _, f := range n.IPFamilies {
		families = append(families, gardenextensionsv1alpha1.IPFamily(f))
	}
	return families
}

func (o *operation) networkWait(ctx context.Context) error {
	obj := &gardenextensionsv1alpha1.Network{ObjectMeta: o.shootObject()}
	return o.r.extensions().Wait(ctx, obj, extensions.KindOf(obj).Patience)
}

// dnsInternal publishes the API server below the domain of the seed.
func (o *operation) dnsInternal(ctx context.Context) error {
	internal := o.seed.Spec.DNS.Internal
	return o.dnsRecord(ctx, record{
		purpose: purposeInternal, task: gardencorev1beta1.ShootTaskDeployDNSRecordInternal, host: o.hosts.Internal, provider: internal.Type, zone: internal.Zone,
		credentials: internal.CredentialsRef,
	})
}

// dnsExternal publishes it below the domain of the shoot's owner, with the owner's credentials.
func (o *operation) dnsExternal(ctx context.Context) error {
	provider := query.DomainProvider(o.shoot.Spec.DNS)
	credentials, err := o.dnsCredentials(ctx, provider)
	if err != nil {
		return err
	}
	return o.dnsRecord(ctx, record{
		purpose: purposeExternal, task: gardencorev1beta1.ShootTaskDeployDNSRecordExternal, host: o.hosts.External, provider: *provider.Type,
		credentials: credentials,
	})
}

// dnsCredentials are those for a DNS provider: its own, or else those of the cloud, whose DNS service it is then.
func (o *operation) dnsCredentials(ctx context.Context, provider *gardencorev1beta1.DNSProvider) (corev1.ObjectReference, error) {
	switch {
	case provider.SecretName != nil:
		return corev1.ObjectReference{Kind: kindSecret, Namespace: o.shoot.Namespace, Name: *provider.SecretName}, nil
	case provider.CredentialsRef != nil:
		return corev1.ObjectReference{Kind: provider.CredentialsRef.Kind, Namespace: o.shoot.Namespace, Name: provider.CredentialsRef.Name}, nil
	default:
		return o.credentials(ctx)
	}
}

// record is a name that points to the load balancer.
type record struct {
	purpose, task, host, provider string
	zone                          *string
	credentials                   corev1.ObjectReference
}

func (o *operation) dnsRecord(ctx context.Context, rec record) error {
	target := o.apiServer().LoadBalancer
	name := "dnsrecord-" + o.shoot.Name + "-" + rec.purpose
	if err := o.deployCredentials(ctx, name, rec.credentials); err != nil {
		return fmt.Errorf("DNS name %q: %w", rec.host, err)
	}
	obj := o.dnsObject(rec.purpose)
	err := o.r.extensions().Apply(ctx, obj, o.trigger(rec.task), func() error {
		obj.Spec.Type = rec.provider
		obj.Spec.SecretRef = corev1.SecretReference{Namespace: o.namespace, Name: name}
		obj.Spec.Name, obj.Spec.RecordType, obj.Spec.Values = rec.host, facts.RecordType(target), []string{target}
		obj.Spec.Zone, obj.Spec.TTL = rec.zone, o.r.Config.DNSEntryTTLSeconds
		return nil
	})
	if err != nil {
		return err
	}
	if err := o.r.extensions().Wait(ctx, obj, extensions.KindOf(obj).Patience); err != nil {
		return err
	}
	return o.finishTask(ctx, rec.task)
}

func (o *operation) dnsObject(purpose string) *gardenextensionsv1alpha1.DNSRecord {
	return &gardenextensionsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: o.shoot.Name + "-" + purpose}}
}
