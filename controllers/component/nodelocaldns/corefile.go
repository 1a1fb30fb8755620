// SPDX-License-Identifier: Apache-2.0

package nodelocaldns

import (
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// corefile asks the DNS servers of the cluster for its names and for addresses, and the name servers of the node for everything else.
// The first block also tells that the server is well. Options that are not set are on, as the API says.
func corefile(o *gardencorev1beta1.NodeLocalDNS, cluster string) string {
	const nodeServers = "/etc/resolv.conf"
	force := ptr.Deref(o.ForceTCPToClusterDNS, true)
	var text strings.Builder
	for i, zone := range []string{gardencorev1beta1.DefaultClusterDomain, "in-addr.arpa", "ip6.arpa"} {
		more := ""
		if i == 0 {
			more = fmt.Sprintf("    health %s:%d\n", facts.NodeDNSAddress, healthPort)
		}
		text.WriteString(block(zone, cluster, force, more))
	}
	if ptr.Deref(o.DisableForwardToUpstreamDNS, false) {
		text.WriteString(block(".", cluster, force, ""))
	} else {
		text.WriteString(block(".", nodeServers, ptr.Deref(o.ForceTCPToUpstreamDNS, true), ""))
	}
	return text.String()
}

// block is the server for a zone. Answers are kept for 30 seconds, and for 5 if there is none.
func block(zone, servers string, forceTCP bool, more string) string {
	protocol := "prefer_udp"
	if forceTCP {
		protocol = "force_tcp"
	}
	return fmt.Sprintf(`%s:53 {
    errors
    cache {
        success 9984 30
        denial 9984 5
    }
    reload
    loop
    bind %s
    forward . %s {
        %s
    }
    prometheus :%d
%s}
`, zone, facts.NodeDNSAddress, servers, protocol, metricsPort, more)
}
