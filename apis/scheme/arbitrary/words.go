// SPDX-License-Identifier: Apache-2.0

package arbitrary

import "strings"

// words are texts that mean something somewhere: names, versions, networks, times, operations, and what looks like them.
func words() []string {
	return strings.Split(strings.TrimSpace(`
a|b|local|garden|garden-a|A b|--|a--b|sprout|*|.|..|é|null|~|0|-1|100%|101%|%|20Gi|-20Gi|1e9999|99999999999999999999
1|1.|1.36|1.36.3|1.33.0|1.34.9|v1|1.36.3-alpha.1|999.999.999|-1.-1.-1|1.36.3+build
10.0.0.0/8|10.0.0.1/8|0.0.0.0/0|10.1.0.0/16|240.0.0.0/4|::/0|fd00::/64|fd8f:6d53:b97a:1::/96|::ffff:10.0.0.0/104|10.0.0.0/33|/|10.0.0.0/
220000+0100|230000+0000|999999+9999|+|0 20 * * *|@every 1s|*/0 * * * *|CRON_TZ=a 0 0 * * *|Europe/Berlin|Local|../etc
https://a.example.org|https://a:b@c/?d#e|http://[::1|://|https://%zz|a@example.org|a@|a.example.org|system:serviceaccount:a:b|extension:a
-----BEGIN CERTIFICATE-----|-----BEGIN CERTIFICATE-----
-----END CERTIFICATE-----
|sha256:aa|ssh-rsa AAAA|kubernetes.io/tls|kubernetes.io/dockerconfigjson|kubernetes.io/basic-auth|Opaque
Secret|InternalSecret|WorkloadIdentity|ConfigMap|Project|CloudProfile|NamespacedCloudProfile|Extension|Worker|User|Group|ServiceAccount|rbac.authorization.k8s.io
owner|admin|viewer|uam|true|false|yes|IPv4|IPv6|evaluation|production|infrastructure|node|zone|unmanaged|nginx|aescbc|containerd|balanced|IPVS|NFTables
AutoRollingUpdate|AutoInPlaceUpdate|ManualInPlaceUpdate|supported|preview|deprecated|expired|unavailable|patch|minor|major|amd64|arm64|OnDemand|Always
reconcile|retry|maintain|rotate-ca-start;rotate-ca-complete|rotate-credentials-start|rollout-workers=*|rollout-workers=a,,a|rotate-rollout-workers=|=|;;|keepalive|restore
Create|Reconcile|Migrate|Restore|Delete|Succeeded|Failed|Processing|Pending|Prepared|Preparing|Completed|WaitingForWorkersRollout|ERR_INFRA_UNAUTHORIZED
NoSchedule|NoExecute|Exists|In|Equal|NodeSwap|AllAlpha|PodSecurity|NodeRestriction|configmaps|secrets.|*.apps|deployments.apps|shoots|etcd-main|0123456789abcdef
gardener.cloud/operation|maintenance.gardener.cloud/operation|confirmation.gardener.cloud/force-deletion|confirmation.gardener.cloud/deletion
gardener.cloud/created-by|shoot.gardener.cloud/tasks|shoot.gardener.cloud/expiration-timestamp|name.seed.gardener.cloud/a|seed.gardener.cloud/protected
external|internal|BootstrapToken|RollingUpdate|core.gardener.cloud/v1beta1|security.gardener.cloud/v1alpha1|shoot--a--b--c|2030-01-01T00:00:00Z
`), "|")
}

// quantities are amounts, proper and improper.
func quantities() []string {
	return []string{"0", "1", "-1", "100m", "1Gi", "20k", "1e3", "0.5", "9223372036854775807", "1Ki", "5n", "-9E"}
}
