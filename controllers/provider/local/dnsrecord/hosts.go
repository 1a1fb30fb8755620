// SPDX-License-Identifier: Apache-2.0

package dnsrecord

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

const hostsHeader = `# Kept by provider-local. Machines see it as /etc/hosts.
127.0.0.1	localhost
::1	localhost ip6-localhost ip6-loopback
`

// Hosts renders the hosts file for the records. The order of the records does not matter.
func Hosts(records []gardenextensionsv1alpha1.DNSRecord) string {
	var lines []string
	for _, record := range records {
		if Check(&record) != nil || record.Spec.RecordType == gardenextensionsv1alpha1.DNSRecordTypeTXT {
			continue
		}
		for _, value := range record.Spec.Values {
			lines = append(lines, value+"\t"+strings.TrimSuffix(record.Spec.Name, "."))
		}
	}
	slices.SortFunc(lines, cmp.Compare[string])
	lines = slices.Compact(lines)
	if len(lines) == 0 {
		return hostsHeader
	}
	return hostsHeader + strings.Join(lines, "\n") + "\n"
}

// Check tells why a record cannot be served. Texts are accepted, although no machine of a local shoot asks for them.
func Check(record *gardenextensionsv1alpha1.DNSRecord) error {
	spec := &record.Spec
	switch spec.RecordType {
	case gardenextensionsv1alpha1.DNSRecordTypeTXT:
		return nil
	case gardenextensionsv1alpha1.DNSRecordTypeA, gardenextensionsv1alpha1.DNSRecordTypeAAAA:
	default:
		return fmt.Errorf("record %q: local DNS serves no records of type %q, only A, AAAA and TXT", spec.Name, spec.RecordType)
	}
	if strings.Contains(spec.Name, "*") {
		return fmt.Errorf("record %q: local DNS serves no wildcards", spec.Name)
	}
	for _, value := range spec.Values {
		if _, err := netip.ParseAddr(value); err != nil {
			return fmt.Errorf("record %q: %q is no address", spec.Name, value)
		}
	}
	return nil
}
