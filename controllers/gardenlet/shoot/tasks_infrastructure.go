// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// provider is what extensions make for a shoot with workers, other than machines: infrastructure, control plane and pod network.
type provider struct {
	ground

	secrets authorities
	todo    todo
	report  report
	addOns  addOns
	values  values
}

func (p provider) fragment(found remains) fragment {
	none, gone := !p.facts.Workers(), !found.namespaceThere
	sleeps := p.facts.Power != facts.Awake
	return fragment{
		deploy: slices.Concat(
			p.infrastructure().deploy(none, "cloudprovider-secret", "referenced-resources"),
			p.controlPlane().deploy(none || p.facts.Power == facts.Asleep, "gardener-access", "resource-manager-access", "apiserver-wait"),
			p.network().deploy(none || sleeps, append(p.addOns.afterServer(), "infrastructure-wait", "resource-manager-access", "system-resources")...),
			// Load balancers of the cluster may go with it, and no name is to lead to an address that somebody else has got by then. So it waits
			// for the names also in a run that repeats a failed one.
			p.stop(none || !sleeps, "apiserver-stop", namesGone),
		),
		destroy: slices.Concat(
			p.redeployed().deploy(none || !found.infrastructure || !found.controlPlane || !found.cleanable(), "cloudprovider-secret", "shoot-client", "resource-manager-access"),
			p.network().destroy(gone, cleaned, "resource-manager-access"),
			p.controlPlane().destroy(gone, "network-delete-wait", "runtimes-delete-wait", "osc-delete-wait", "ext-before-api-delete-wait"),
			p.infrastructure().destroy(gone, "controlplane-delete-wait"),
		),
	}
}

func (p provider) infrastructure() ask[*gardenextensionsv1alpha1.Infrastructure] {
	return ask[*gardenextensionsv1alpha1.Infrastructure]{
		ground: p.ground, id: "infrastructure", title: "the infrastructure", names: p.once, trigger: p.todo.trigger(gardencorev1beta1.ShootTaskDeployInfrastructure),
		fill: func(ctx context.Context, obj *gardenextensionsv1alpha1.Infrastructure) error {
			spec := &p.facts.Shoot.Spec
			obj.Spec.Type, obj.Spec.ProviderConfig = spec.Provider.Type, spec.Provider.InfrastructureConfig
			obj.Spec.Region, obj.Spec.SecretRef = spec.Region, p.providerSecret()
			var err error
			obj.Spec.SSHPublicKey, err = p.secrets.sshPublicKey(ctx)
			return err
		},
		answer: p.takeInfrastructure, sets: []flow.Slot{p.values.infrastructure},
	}
}

// takeInfrastructure reports the networks of the shoot.
func (p provider) takeInfrastructure(ctx context.Context, objs []*gardenextensionsv1alpha1.Infrastructure) error {
	obj := objs[0]
	if err := checkNetworks(obj); err != nil {
		return err
	}
	p.values.infrastructure.Set(ctx, obj)
	err := p.report(ctx, func(s *gardencorev1beta1.ShootStatus) { s.Networking = Networks(p.facts.Shoot, obj) })
	if err != nil {
		return err
	}
	return p.todo.finish(ctx, gardencorev1beta1.ShootTaskDeployInfrastructure)
}

func (p provider) controlPlane() ask[*gardenextensionsv1alpha1.ControlPlane] {
	return ask[*gardenextensionsv1alpha1.ControlPlane]{
		ground: p.ground, id: "controlplane", title: "the control plane of the cloud provider", names: p.once, reads: []flow.Slot{p.values.infrastructure},
		fill: func(ctx context.Context, obj *gardenextensionsv1alpha1.ControlPlane) error {
			spec := &p.facts.Shoot.Spec
			obj.Spec.Type, obj.Spec.ProviderConfig = spec.Provider.Type, spec.Provider.ControlPlaneConfig
			obj.Spec.Region, obj.Spec.SecretRef = spec.Region, p.providerSecret()
			obj.Spec.InfrastructureProviderStatus = p.values.infrastructure.Get(ctx).Status.ProviderStatus
			return nil
		},
	}
}

// redeployed is the control plane of the cloud provider as a clean-up needs it, with the credentials and the infrastructure of now: it
// deletes what the cluster has at the provider, load balancers for example (GLET-DEL-1).
func (p provider) redeployed() ask[*gardenextensionsv1alpha1.ControlPlane] {
	control := p.controlPlane()
	control.reads = nil
	control.fill = func(ctx context.Context, obj *gardenextensionsv1alpha1.ControlPlane) error {
		infrastructure := &gardenextensionsv1alpha1.Infrastructure{}
		key := client.ObjectKey{Namespace: p.facts.Namespace, Name: p.facts.Shoot.Name}
		if err := p.seed.Get(ctx, key, infrastructure); err != nil {
			return fmt.Errorf("get infrastructure %q: %w", key, err)
		}
		obj.Spec.SecretRef, obj.Spec.InfrastructureProviderStatus = p.providerSecret(), infrastructure.Status.ProviderStatus
		return nil
	}
	return control
}

// stop asks the extension to look whether the API server runs, because the control plane of the cloud provider runs as long as that does
// (EXT-CTRL-7, EXT-CP-4).
func (p provider) stop(skip bool, after ...flow.ID) []flow.Task {
	control := p.controlPlane()
	control.id = "controlplane-stop"
	tasks := control.deploy(skip, after...)
	tasks[0].Title = "Stopping " + control.title
	return tasks
}

func (p provider) network() ask[*gardenextensionsv1alpha1.Network] {
	return ask[*gardenextensionsv1alpha1.Network]{
		ground: p.ground, id: "network", title: "the pod network", names: p.once,
		fill: func(_ context.Context, obj *gardenextensionsv1alpha1.Network) error {
			n := p.facts.Shoot.Spec.Networking
			if n != nil && n.Type != nil {
				obj.Spec.Type, obj.Spec.ProviderConfig = *n.Type, n.ProviderConfig
			}
			obj.Spec.PodCIDR, obj.Spec.ServiceCIDR = p.facts.PodNetworks()[0], p.facts.ServiceNetworks()[0]
			obj.Spec.IPFamilies = ipFamilies(n)
			return nil
		},
	}
}

// maxNetworks is how many networks of an extension are taken over. The status of the shoot has to stay small enough to be written.
const maxNetworks = 256

// checkNetworks returns an error if an extension reports a network that is none, or too many. Who reads the status of the shoot relies on them: the policies of
// its control plane, for example, would not follow the seed any more.
func checkNetworks(infrastructure *gardenextensionsv1alpha1.Infrastructure) error {
	reported := []string{ptr.Deref(infrastructure.Status.NodesCIDR, "")}
	if chosen := infrastructure.Status.Networking; chosen != nil {
		reported = slices.Concat(reported, chosen.Nodes, chosen.Pods, chosen.Services)
	}
	reported = append(reported, infrastructure.Status.EgressCIDRs...)
	if len(reported) > maxNetworks {
		return fmt.Errorf("the extension of Infrastructure %q reports %d networks, and at most %d are taken over", infrastructure.Name, len(reported), maxNetworks)
	}
	for _, network := range reported {
		if network == "" {
			continue
		}
		if _, err := netip.ParsePrefix(network); err != nil {
			return fmt.Errorf("the extension of Infrastructure %q reports %q, which is no network, and so does not fulfil the contract",
				infrastructure.Name, lastoperation.Cut(network))
		}
	}
	return nil
}

// Networks returns the ranges of a shoot: those of its spec come first, then those that the provider chose.
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
