// SPDX-License-Identifier: Apache-2.0

package dnsrecord_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/dnsrecord"
)

func record(name string, kind gardenextensionsv1alpha1.DNSRecordType, values ...string) gardenextensionsv1alpha1.DNSRecord {
	r := gardenextensionsv1alpha1.DNSRecord{}
	r.Spec.Type, r.Spec.Name, r.Spec.RecordType, r.Spec.Values = "local", name, kind, values
	return r
}

const header = "# Kept by provider-local. Machines see it as /etc/hosts.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n"

func TestHosts(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		records []gardenextensionsv1alpha1.DNSRecord
		want    string
	}{
		"None": {reason: "a machine always knows itself", want: header},
		"Sorted": {
			reason: "the order of the records does not change the file",
			records: []gardenextensionsv1alpha1.DNSRecord{
				record("b.example.", "A", "10.99.1.2", "10.99.1.1"), record("a.example", "AAAA", "fd00::1"), record("b.example", "A", "10.99.1.1"),
			},
			want: header + "10.99.1.1\tb.example\n10.99.1.2\tb.example\nfd00::1\ta.example\n",
		},
		"LeftOut": {
			reason: "what has no address cannot be in the file, and a broken record does not break it",
			records: []gardenextensionsv1alpha1.DNSRecord{
				record("t.example", "TXT", "10.0.0.1 evil.example"), record("c.example", "CNAME", "a.example"), record("*.example", "A", "10.0.0.1"),
				record("x.example", "A", "10.0.0.1\n10.0.0.2 evil.example"), record("a.example", "A", "10.0.0.3"),
				record("y.example", "AAAA", "fe80::1%x\n10.0.0.2 evil.example"), record("z.example\n10.0.0.2 evil.example", "A", "10.0.0.1"),
			},
			want: header + "10.0.0.3\ta.example\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, dnsrecord.Hosts(tc.records)); diff != "" {
				t.Errorf("%s\nHosts(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		record gardenextensionsv1alpha1.DNSRecord
		want   string
	}{
		"Address":  {reason: "addresses are served", record: record("a.example", "A", "10.0.0.1")},
		"Text":     {reason: "texts are accepted", record: record("a.example", "TXT", "anything")},
		"Alias":    {reason: "a hosts file has no aliases", record: record("a.example", "CNAME", "b.example"), want: `no records of type "CNAME"`},
		"Wildcard": {reason: "a hosts file has no wildcards", record: record("*.a.example", "A", "10.0.0.1"), want: "there are no wildcards"},
		"Broken":   {reason: "the value that is no address is named", record: record("a.example", "A", "10.0.0"), want: `"10.0.0" is not an IP address`},
		"Name":     {reason: "a name is one name", record: record("a.example b.example", "A", "10.0.0.1"), want: "is not the name of a host"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := dnsrecord.Check(&tc.record)
			if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s\nCheck(...) = %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
