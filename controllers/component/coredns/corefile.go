// SPDX-License-Identifier: Apache-2.0

package coredns

import (
	"fmt"
	"regexp"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// corefile asks the API server for names of the cluster and the node's name servers for all others. What the owner adds is
// read with it, and again when it changes.
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

// rewriting answers at once what would be asked four times: a pod tries a name that has fewer than five dots below its own
// namespace first, then below two more domains. A name that already ends as names of Services do, or with a common suffix, is
// taken for a whole one.
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
