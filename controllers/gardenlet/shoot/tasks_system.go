// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/kubeproxy"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
)

const (
	setSystem    = "shoot-core-system"
	setKubeProxy = "shoot-core-kube-proxy"
)

func (o *operation) shootEngine() deploy.Engine {
	return deploy.Engine{Client: o.shootClient, Owner: fieldOwner, Clock: o.r.Clock}
}

// systemResources brings into the shoot what it needs before it gets nodes.
func (o *operation) systemResources(ctx context.Context) error {
	identity := o.clusterIdentity()
	if known := o.status.current().Status.ClusterIdentity; known != nil {
		identity = *known
	}
	objs := shootsystem.Render(shootsystem.Values{KubeletClientUser: apiserver.KubeletClientUser, ClusterIdentity: identity, Info: o.info()})
	return o.shootEngine().ApplySet(ctx, deploy.Set{Namespace: metav1.NamespaceSystem, Name: setSystem}, objs...)
}

// info is what those who run in the shoot may want to know of it.
func (o *operation) info() map[string]string {
	pods, services := networks(o.shoot)
	info := map[string]string{
		"projectName":       o.project,
		"shootName":         o.shoot.Name,
		"provider":          o.shoot.Spec.Provider.Type,
		"region":            o.shoot.Spec.Region,
		"kubernetesVersion": o.shoot.Spec.Kubernetes.Version,
		"podNetwork":        strings.Join(pods, ","),
		"serviceNetwork":    strings.Join(services, ","),
	}
	if o.hosts.External != "" {
		info["domain"] = *o.shoot.Spec.DNS.Domain
	}
	if n := o.shoot.Spec.Networking; n != nil && n.Nodes != nil {
		info["nodeNetwork"] = *n.Nodes
	}
	if m := o.shoot.Spec.Maintenance; m != nil && m.TimeWindow != nil {
		info["maintenanceBegin"], info["maintenanceEnd"] = m.TimeWindow.Begin, m.TimeWindow.End
	}
	return info
}

// kubeProxyDeploy brings kube-proxy into the shoot, or takes it out of one that does not want it.
func (o *operation) kubeProxyDeploy(ctx context.Context) error {
	set := deploy.Set{Namespace: metav1.NamespaceSystem, Name: setKubeProxy}
	if !kubeproxy.Enabled(o.shoot.Spec.Kubernetes.KubeProxy) {
		_, err := o.shootEngine().DeleteSet(ctx, set)
		return err
	}
	pods, _ := networks(o.shoot)
	objs, err := kubeproxy.Render(kubeproxy.Values{
		Image: o.images.proxy, Server: o.hosts.NodeServer(o.loadBalancer), PodNetworks: pods, Settings: o.shoot.Spec.Kubernetes.KubeProxy,
	})
	if err != nil {
		return err
	}
	return o.shootEngine().ApplySet(ctx, set, objs...)
}

func deployment(namespace, name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}
