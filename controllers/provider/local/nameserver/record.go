// SPDX-License-Identifier: Apache-2.0

package nameserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

const (
	// defaultTTL is the time in seconds for which an answer may be kept if the record does not say so (EXT-DNS-3).
	defaultTTL = 120

	maxName, maxLabel = 253, 63
	// maxValues and maxText bound one record, because all records share an object.
	maxValues, maxText = 64, 16 << 10
)

// Record is a set of answers for one name and one type.
type Record struct {
	// Name is in lower case and has no dot at its end. Its first label may be an asterisk.
	Name   string                                 `json:"name"`
	Type   gardenextensionsv1alpha1.DNSRecordType `json:"type"`
	TTL    int64                                  `json:"ttl"`
	Values []string                               `json:"values"`
}

// Of returns the record that a DNSRecord asks for, or why it cannot be served.
func Of(spec *gardenextensionsv1alpha1.DNSRecordSpec) (Record, error) {
	r := Record{Name: canonical(spec.Name), Type: spec.RecordType, TTL: ptr.Deref(spec.TTL, defaultTTL), Values: slices.Sorted(slices.Values(spec.Values))}
	if r.Type == gardenextensionsv1alpha1.DNSRecordTypeCNAME {
		for i := range r.Values {
			r.Values[i] = canonical(r.Values[i])
		}
	}
	r.Values = slices.Compact(r.Values)
	return r, r.check()
}

// Records are those in a ConfigMap that can be served, in order.
func Records(in *corev1.ConfigMap) []Record {
	var all []Record
	for _, text := range in.Data {
		if r, err := parse(text); err == nil {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Record) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Type, b.Type)) })
	return all
}

func parse(text string) (Record, error) {
	r := Record{}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Record{}, fmt.Errorf("read record: %w", err)
	}
	return r, r.check()
}

func (r Record) text() (string, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("write record %q: %w", r.Name, err)
	}
	return string(data), nil
}

// check makes sure of everything that a zone file relies on: whatever passes can be written into one.
func (r Record) check() error {
	if err := validName(strings.TrimPrefix(r.Name, "*.")); err != nil {
		return fmt.Errorf("record %q: %w", r.Name, err)
	}
	if r.TTL < 0 || r.TTL > 1<<31-1 {
		return fmt.Errorf("record %q: a TTL of %d seconds is not between 0 and 2147483647", r.Name, r.TTL)
	}
	if len(r.Values) == 0 || len(r.Values) > maxValues {
		return fmt.Errorf("record %q: it has %d values and must have 1 to %d", r.Name, len(r.Values), maxValues)
	}
	size := 0
	for _, value := range r.Values {
		if err := r.checkValue(value); err != nil {
			return fmt.Errorf("record %q: %w", r.Name, err)
		}
		size += len(value)
	}
	if size > maxText {
		return fmt.Errorf("record %q: its values have %d bytes and may have %d", r.Name, size, maxText)
	}
	return nil
}

func (r Record) checkValue(value string) error {
	switch r.Type {
	case gardenextensionsv1alpha1.DNSRecordTypeA, gardenextensionsv1alpha1.DNSRecordTypeAAAA:
		address, err := netip.ParseAddr(value)
		if err != nil || address.Zone() != "" || address.Is4() != (r.Type == gardenextensionsv1alpha1.DNSRecordTypeA) {
			return fmt.Errorf("%q is not an address for the type %s", value, r.Type)
		}
		return nil
	case gardenextensionsv1alpha1.DNSRecordTypeCNAME:
		if len(r.Values) != 1 {
			return errors.New("an alias leads to one name")
		}
		return validName(value)
	case gardenextensionsv1alpha1.DNSRecordTypeTXT:
		return nil
	default:
		return fmt.Errorf("the type is %q and must be A, AAAA, CNAME or TXT", r.Type)
	}
}

// canonical is how names are compared.
func canonical(name string) string {
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// validName accepts the names of hosts, and those with underscores that texts have.
func validName(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("%q is not a name of 1 to %d characters", name, maxName)
	}
	for label := range strings.SplitSeq(name, ".") {
		inside := strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
		if label == "" || len(label) > maxLabel || !inside || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return fmt.Errorf("%q is not the name of a host", name)
		}
	}
	return nil
}

// below reports whether a name is in a zone, and not the zone itself.
func below(name, zone string) bool {
	return strings.HasSuffix(name, "."+zone)
}

// overlap reports whether there is a name that both names answer for.
func overlap(a, b string) bool {
	return a == b || covers(a, b) || covers(b, a)
}

func covers(wildcard, name string) bool {
	parent, is := strings.CutPrefix(wildcard, "*.")
	return is && below(name, parent)
}
