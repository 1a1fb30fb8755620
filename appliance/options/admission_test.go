// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestAdmissionValidate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		file   string
		errors []string
	}{
		"Names": {
			reason: "API-ADM-2: a slip in a name would leave a rule out without a word.",
			file:   "admission: {enable: [ShootDNSRewriting, ShootDnsRewriting], disable: [ResourceQuota, NamespaceLifecycle]}\n",
			errors: []string{"admission.enable[1]", "admission.disable[1]"},
		},
		"GAC-SIZE-1": {
			reason: "A limit names what it counts for; the mode and the API group of subjects have defaults.",
			file: `admission:
  resourceSize:
    limits: [{apiGroups: [core.gardener.cloud], apiVersions: ["*"], resources: [shoots], size: 100Ki}]
    unrestrictedSubjects: [{kind: Group, name: "gardener.cloud:system:seeds"}, {kind: ServiceAccount, namespace: ci, name: "*"}]
`,
		},
		"GAC-SIZE-8": {
			reason: "A number may be all that counts.",
			file:   "admission: {resourceSize: {limits: [{apiGroups: [core.gardener.cloud], apiVersions: [v1beta1], resources: [projects], count: 100}]}}\n",
		},
		"GAC-SIZE-3": {
			reason: "So may the total size of the Secrets of each project.",
			file:   "admission: {resourceSize: {limits: [{apiGroups: [\"\"], apiVersions: [v1], resources: [secrets], totalSize: 1Mi}]}}\n",
		},
		"GAC-SIZE-9": {
			reason: "Each wrong value is told.",
			file: `admission:
  resourceSize:
    operationMode: warn
    limits:
    - {apiGroups: [], apiVersions: [], resources: []}
    - {apiGroups: [a], apiVersions: [v1], resources: [b], size: "0", count: -1}
    - {apiGroups: [""], apiVersions: [v1], resources: [secrets], totalSize: "0"}
    - {apiGroups: [""], apiVersions: [v1], resources: [configmaps], totalSize: 1Mi}
    unrestrictedSubjects:
    - {kind: Role, name: a}
    - {kind: ServiceAccount, name: a}
    - {kind: User}
    - {kind: Group, name: a, apiGroup: b}
    - {kind: User, name: a, namespace: b}
`,
			errors: []string{
				"admission.resourceSize.operationMode",
				"admission.resourceSize.limits[0].apiGroups", "admission.resourceSize.limits[0].apiVersions",
				"admission.resourceSize.limits[0].resources", "admission.resourceSize.limits[0].size",
				"admission.resourceSize.limits[1].size", "admission.resourceSize.limits[1].count",
				"admission.resourceSize.limits[2].totalSize", "admission.resourceSize.limits[3].totalSize",
				"admission.resourceSize.unrestrictedSubjects[0]", "admission.resourceSize.unrestrictedSubjects[1]",
				"admission.resourceSize.unrestrictedSubjects[2]", "admission.resourceSize.unrestrictedSubjects[3]",
				"admission.resourceSize.unrestrictedSubjects[4]",
			},
		},
		"API-TOL-1": {
			reason: "A toleration has a key, once.",
			file:   "admission: {shootTolerationRestriction: {defaults: [{key: a}, {key: a}], whitelist: [{key: \"\"}, {key: b, value: c}]}}\n",
			errors: []string{"admission.shootTolerationRestriction.defaults[1]", "admission.shootTolerationRestriction.whitelist[0].key"},
		},
		"API-DNSRW-1": {
			reason: "A suffix is a domain.",
			file:   "admission: {shootDNSRewriting: {commonSuffixes: [x.y, .x]}}\n",
			errors: []string{"admission.shootDNSRewriting.commonSuffixes[1]"},
		},
		"API-SRR-1": {
			reason: "A selector can be read.",
			file:   "admission: {shootResourceReservation: {useGKEFormula: true, selector: {matchExpressions: [{key: a, operator: Like}]}}}\n",
			errors: []string{"admission.shootResourceReservation.selector"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := complete(t, tc.file, "--config=server.yaml")
			if err != nil {
				t.Fatalf("%s\nComplete(...) = %v", tc.reason, err)
			}
			_, file := c.Validate()
			if diff := cmp.Diff(tc.errors, paths(file), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nValidate() names these paths (-want +got):\n%s\n%v", tc.reason, diff, file)
			}
		})
	}
}

// paths are where in the file errors are.
func paths(errs []error) []string {
	out := make([]string, 0, len(errs))
	for _, err := range errs {
		_, rest, _ := strings.Cut(err.Error(), ": ")
		path, _, _ := strings.Cut(rest, ": ")
		out = append(out, path)
	}
	return out
}
