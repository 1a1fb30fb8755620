// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applydiscoveryv1 "k8s.io/client-go/applyconfigurations/discovery/v1"
	applyrbacv1 "k8s.io/client-go/applyconfigurations/rbac/v1"

	"github.com/terrarium-garden/terrarium/appliance/seedling/dnszones"
	"github.com/terrarium-garden/terrarium/appliance/seedling/durable"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/nameserver"
)

const (
	// HostName is the name of this machine for pods.
	HostName = "host.seedling.internal"

	clusterDomain = "cluster.local"
	dnsService    = "kube-dns"
	dnsRole       = "system:coredns"
)

// Zones are those whose names the DNS server takes from the records of extensions. Nobody else has names in them: one is reserved for such
// uses (RFC 2606), and the other is the domain of the playground. An owner of a shoot gets names in no other zone, so nobody can take over
// a name that pods of others rely on.
func Zones() []string { return []string{"example", "terrarium.local"} }

// dnsIP is the address of the Service of the DNS server: by convention, the tenth.
func (c Config) dnsIP() netip.Addr {
	address := c.ServiceCIDR.Masked().Addr()
	for range 10 {
		address = address.Next()
	}
	return address
}

// writeDNS writes the Corefile, and the resolv.conf that the kubelet gives to pods that use the name servers of their node.
// It names the DNS server of the cluster as well: pods cannot reach a local name server of the machine, such as that of
// systemd-resolved, but the DNS server runs on the machine and can.
func (c *Cluster) writeDNS() error {
	if err := durable.Replace(c.config.state("resolv.conf"), fmt.Appendf(nil, "nameserver %s\n", c.config.dnsIP()), 0o644); err != nil {
		return err
	}
	forward, err := c.forward()
	if err != nil {
		return err
	}
	if err := (dnszones.Files{Dir: c.config.ZonesDir(), Zones: Zones()}).Begin(); err != nil {
		return err
	}
	return durable.Replace(c.config.state("Corefile"), []byte(c.corefile(forward)), 0o644)
}

// forward is the line of the Corefile for names outside of the cluster. It is empty if the machine has no name server.
func (c *Cluster) forward() (string, error) {
	upstream, err := filepath.Abs(cmp.Or(c.ResolvConf, "/etc/resolv.conf"))
	if err != nil {
		return "", fmt.Errorf("find the name servers of this machine: %w", err)
	}
	content, err := os.ReadFile(upstream) //nolint:gosec // The caller names the path.
	if err != nil && (c.ResolvConf != "" || !errors.Is(err, fs.ErrNotExist)) {
		return "", fmt.Errorf("read the name servers of this machine: %w", err)
	}
	if !namesServers(string(content)) {
		return "", nil
	}
	return fmt.Sprintf("forward . \"%s\"", upstream), nil
}

// namesServers reports whether a resolv.conf contains a name server. A machine without a network has none, and CoreDNS would
// not start with it.
func namesServers(resolvConf string) bool {
	for line := range strings.Lines(resolvConf) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "nameserver" {
			return true
		}
	}
	return false
}

func (c *Cluster) corefile(forward string) string {
	return fmt.Sprintf(`.:%[1]d {
    bind %[2]s
    errors
    ready %[3]s
    hosts {
        %[2]s %[4]s
        fallthrough
    }
    kubernetes %[5]s in-addr.arpa ip6.arpa {
        kubeconfig "%[6]s"
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
    }
%[7]s    %[8]s
    cache 30 {
        disable success %[9]s
        disable denial %[9]s
    }
    loop
    reload
    loadbalance
}
`, dnsPort, c.config.NodeIP, local(dnsHealthPort), HostName, clusterDomain, c.config.kubeconfig(dnsUser), c.zones(), forward, strings.Join(Zones(), " "))
}

// zones are the parts of the Corefile for records of extensions. Their answers are not kept, so that a change counts at once.
func (c *Cluster) zones() string {
	var all strings.Builder
	for _, zone := range Zones() {
		fmt.Fprintf(&all, "    file \"%s\" %s {\n        reload 1s\n    }\n", filepath.Join(c.config.ZonesDir(), dnszones.FileName(zone)), zone)
	}
	return all.String()
}

// publishDNS creates the Service of the DNS server, which is a process of this machine and not a pod, and grants the
// server read access to the objects that it needs. It also creates the object into which extensions write their records.
func (c *Cluster) publishDNS(ctx context.Context) (string, error) {
	client, err := c.kubeClient()
	if err != nil {
		return "", err
	}
	options := metav1.ApplyOptions{FieldManager: "seedling", Force: true}
	if _, err := client.RbacV1().ClusterRoles().Apply(ctx, applyrbacv1.ClusterRole(dnsRole).WithRules(
		dnsRule("", "services", "pods", "namespaces"), dnsRule(discoveryv1.GroupName, "endpointslices"),
	), options); err != nil {
		return "", fmt.Errorf("apply the role of the DNS server: %w", err)
	}
	if _, err := client.RbacV1().ClusterRoleBindings().Apply(ctx, applyrbacv1.ClusterRoleBinding(dnsRole).
		WithRoleRef(applyrbacv1.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("ClusterRole").WithName(dnsRole)).
		WithSubjects(applyrbacv1.Subject().WithAPIGroup(rbacv1.GroupName).WithKind(rbacv1.UserKind).WithName(dnsRole)), options); err != nil {
		return "", fmt.Errorf("bind the role of the DNS server: %w", err)
	}
	service := applycorev1.Service(dnsService, metav1.NamespaceSystem).WithLabels(map[string]string{"k8s-app": dnsService}).
		WithSpec(applycorev1.ServiceSpec().WithType(corev1.ServiceTypeClusterIP).WithClusterIP(c.config.dnsIP().String()).WithPorts(
			applycorev1.ServicePort().WithName("dns").WithProtocol(corev1.ProtocolUDP).WithPort(53),
			applycorev1.ServicePort().WithName("dns-tcp").WithProtocol(corev1.ProtocolTCP).WithPort(53),
		))
	if _, err := client.CoreV1().Services(metav1.NamespaceSystem).Apply(ctx, service, options); err != nil {
		return "", fmt.Errorf("apply the Service of the DNS server: %w", err)
	}
	slice := applydiscoveryv1.EndpointSlice(dnsService, metav1.NamespaceSystem).
		WithLabels(map[string]string{discoveryv1.LabelServiceName: dnsService, discoveryv1.LabelManagedBy: "seedling"}).
		WithAddressType(discoveryv1.AddressTypeIPv4).
		WithEndpoints(applydiscoveryv1.Endpoint().WithAddresses(c.config.NodeIP.String()).
			WithConditions(applydiscoveryv1.EndpointConditions().WithReady(true))).
		WithPorts(
			applydiscoveryv1.EndpointPort().WithName("dns").WithProtocol(corev1.ProtocolUDP).WithPort(dnsPort),
			applydiscoveryv1.EndpointPort().WithName("dns-tcp").WithProtocol(corev1.ProtocolTCP).WithPort(dnsPort),
		)
	if _, err := client.DiscoveryV1().EndpointSlices(metav1.NamespaceSystem).Apply(ctx, slice, options); err != nil {
		return "", fmt.Errorf("apply the endpoint of the DNS server: %w", err)
	}
	records := applycorev1.ConfigMap(nameserver.Name, nameserver.Namespace).
		WithAnnotations(map[string]string{nameserver.AnnotationZones: strings.Join(Zones(), ",")})
	if _, err := client.CoreV1().ConfigMaps(nameserver.Namespace).Apply(ctx, records, options); err != nil {
		return "", fmt.Errorf("apply the records of extensions: %w", err)
	}
	return "", nil
}

func dnsRule(group string, resources ...string) *applyrbacv1.PolicyRuleApplyConfiguration {
	return applyrbacv1.PolicyRule().WithAPIGroups(group).WithResources(resources...).WithVerbs("list", "watch")
}
