// SPDX-License-Identifier: Apache-2.0

package coredns

import (
	"fmt"
	"regexp"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// corefile asks the API server for names of the cluster and the name servers of the node for all others. The server also reads
// the additions of the owner, and reads them again when they change.
func corefile(f facts.Shoot) string {
	var commonSuffixes []string
	if c := f.Shoot.Spec.SystemComponents; c != nil && c.CoreDNS != nil && c.CoreDNS.Rewriting != nil {
		commonSuffixes = c.CoreDNS.Rewriting.CommonSuffixes
	}
	return fmt.Sprintf(`.:%[1]d {
    errors
    health :%[2]d {
        lameduck 15s
    }
    ready :%[3]d
    prometheus :%[4]d
%[5]s    kubernetes %[6]s in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }
    import custom/*.override
    forward . /etc/resolv.conf
    cache 30
    loop
    reload
    loadbalance round_robin
}
import custom/*.server
`, dnsPort, healthPort, readyPort, metricsPort, rewriting(commonSuffixes), gardencorev1beta1.DefaultClusterDomain)
}

// rewriting saves pods up to three of four queries: a pod looks up a name with fewer than five dots below its own namespace
// first, then below two more domains. A name that ends like a name of a Service or with a common suffix is answered at the first
// query, as if it was complete.
func rewriting(commonSuffixes []string) string {
	services := "svc." + gardencorev1beta1.DefaultClusterDomain
	var rules strings.Builder
	for _, suffix := range append([]string{"." + services}, commonSuffixes...) {
		below, onlyBelow := strings.CutPrefix(suffix, ".")
		names := `(?:.+\.)?`
		if onlyBelow {
			names = `.+\.`
		}
		fmt.Fprintf(&rules, "    rewrite stop name regex ^(%s%s)\\.[^.]+\\.%s\\.$ {1}. answer auto\n", names, regexp.QuoteMeta(below), regexp.QuoteMeta(services))
	}
	return rules.String()
}
