// SPDX-License-Identifier: Apache-2.0

package nameserver_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/nameserver"
)

// TestFile: a zone file has the records of its zone, and nothing that a value smuggles in.
func TestFile(t *testing.T) {
	t.Parallel()
	got := nameserver.File("test", []nameserver.Record{
		{Name: "a.test", Type: "A", TTL: 5, Values: []string{"10.0.0.1", "10.0.0.2"}},
		{Name: "*.b.test", Type: "AAAA", TTL: 6, Values: []string{"fd00::1"}},
		{Name: "c.test", Type: "CNAME", TTL: 7, Values: []string{"a.test"}},
		{Name: "t.test", Type: "TXT", TTL: 8, Values: []string{"a \"b\"\n$INCLUDE /etc/passwd\\", "", strings.Repeat("x", 256)}},
		{Name: "x.test", Type: "A", TTL: 8, Values: []string{"10.0.0.1\n$INCLUDE /etc/passwd"}},
		{Name: "x.test\n$INCLUDE /etc/passwd", Type: "A", TTL: 8, Values: []string{"10.0.0.1"}},
		{Name: "a.mytest", Type: "A", TTL: 8, Values: []string{"10.0.0.1"}},
		{Name: "test", Type: "A", TTL: 8, Values: []string{"10.0.0.1"}},
	})
	head, lines, _ := strings.Cut(got, "\n")
	if !regexp.MustCompile(`^test\. 1 IN SOA ns\.test\. hostmaster\.test\. [1-9]\d* 3600 600 86400 1$`).MatchString(head) {
		t.Errorf("the zone begins with %q", head)
	}
	want := `a.test. 5 IN A 10.0.0.1
a.test. 5 IN A 10.0.0.2
*.b.test. 6 IN AAAA fd00::1
c.test. 7 IN CNAME a.test.
t.test. 8 IN TXT "a \034b\034\010\036INCLUDE /etc/passwd\092"
t.test. 8 IN TXT ""
t.test. 8 IN TXT "` + strings.Repeat("x", 255) + `" "x"
`
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("records of the zone (-want +got):\n%s", diff)
	}
}

// TestSerial: a server reads a zone anew if and only if the number has changed.
func TestSerial(t *testing.T) {
	t.Parallel()
	record := nameserver.Record{Name: "a.test", Type: "A", Values: []string{"10.0.0.1"}}
	number := func(records ...nameserver.Record) string { return strings.Fields(nameserver.File("test", records))[6] }
	changed := record
	changed.TTL = 1
	again := number(record)
	if number(record) == number() || number(record) == number(changed) || number(record) != again {
		t.Errorf("the numbers are %s for none, %s and %s, %s for one that has changed", number(), number(record), again, number(changed))
	}
}
