// SPDX-License-Identifier: Apache-2.0

package nameserver

import (
	"fmt"
	"hash/fnv"
	"strings"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// denialTTL is the time in seconds for which it may be kept in mind that there is no such name. It is short, because names come and go.
const denialTTL = 1

// maxString is the most bytes of one string of a text.
const maxString = 255

// File is the zone file, as RFC 1035 defines it, with those of the records that are in the zone. Its serial number changes with its content.
func File(zone string, records []Record) string {
	var lines strings.Builder
	for _, r := range records {
		if r.check() != nil || !below(r.Name, zone) {
			continue
		}
		for _, value := range r.Values {
			fmt.Fprintf(&lines, "%s. %d IN %s %s\n", r.Name, r.TTL, r.Type, r.data(value))
		}
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(lines.String())) // It never fails.
	// A server takes zero for no number.
	serial := max(sum.Sum32(), 1)
	return fmt.Sprintf("%[1]s. %[2]d IN SOA ns.%[1]s. hostmaster.%[1]s. %[3]d 3600 600 86400 %[2]d\n%[4]s", zone, denialTTL, serial, lines.String())
}

// data is a value as zone files have it.
func (r Record) data(value string) string {
	switch r.Type {
	case gardenextensionsv1alpha1.DNSRecordTypeCNAME:
		return value + "."
	case gardenextensionsv1alpha1.DNSRecordTypeTXT:
		return quoted(value)
	default:
		return value
	}
}

// quoted splits a text into strings, in which everything that could mean something to a reader of the file is a number.
func quoted(text string) string {
	var all []string
	for first := true; first || text != ""; first = false {
		part := text[:min(len(text), maxString)]
		text = text[len(part):]
		var line strings.Builder
		for i := range len(part) {
			if c := part[i]; c < ' ' || c > '~' || strings.IndexByte("\"\\;$@()", c) >= 0 {
				fmt.Fprintf(&line, "\\%03d", c)
			} else {
				line.WriteByte(c)
			}
		}
		all = append(all, `"`+line.String()+`"`)
	}
	return strings.Join(all, " ")
}
