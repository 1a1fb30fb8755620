// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	"github.com/terrarium-garden/terrarium/apis/check/checktest"
)

func TestNetwork(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, cidr string
		wrong        bool
	}{
		"IPv4":     {reason: "a network", cidr: "10.0.0.0/8"},
		"IPv6":     {reason: "one of the other family", cidr: "2001:db8::/64"},
		"one host": {reason: "a network of one host", cidr: "192.0.2.7/32"},
		"all":      {reason: "the whole world", cidr: "0.0.0.0/0"},
		"host":     {reason: "an address is no network", cidr: "10.0.0.1", wrong: true},
		"inside":   {reason: "an address with a mask is not the network", cidr: "10.0.0.1/8", wrong: true},
		"empty":    {reason: "nothing is no network", wrong: true},
		"too long": {reason: "no mask is that long", cidr: "10.0.0.0/33", wrong: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []string
			if tc.wrong {
				want = []string{"cidr: FieldValueInvalid"}
			}
			if diff := cmp.Diff(want, checktest.Complaints(check.Network(tc.cidr, field.NewPath("cidr")))); diff != "" {
				t.Errorf("%s\nNetwork(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSmallChecks(t *testing.T) {
	t.Parallel()
	path := field.NewPath("f")
	for name, tc := range map[string]struct {
		reason string
		got    field.ErrorList
		want   []string
	}{
		"empty":        {reason: "an empty value is no value", got: check.NotEmpty(new(""), path), want: []string{"f: FieldValueInvalid"}},
		"absent":       {reason: "what is absent is not empty", got: check.NotEmpty(nil, path)},
		"twice":        {reason: "the second of two is one too many", got: check.Unique([]string{"a", "b", "a"}, path), want: []string{"f[2]: FieldValueDuplicate"}},
		"negative":     {reason: "less than nothing", got: check.NotNegative(new(int32(-1)), path), want: []string{"f: FieldValueInvalid"}},
		"nothing":      {reason: "nothing is enough", got: check.NotNegative(new(int64(0)), path)},
		"no number":    {reason: "an absent number is fine", got: check.NotNegative[int32](nil, path)},
		"shrinks":      {reason: "a number that only grows", got: check.NotShrinking(1, 2, path), want: []string{"f: FieldValueInvalid"}},
		"stays":        {reason: "or stays", got: check.NotShrinking(2, 2, path)},
		"not offered":  {reason: "one of few", got: check.OneOf("c", path, "a", "b"), want: []string{"f: FieldValueNotSupported"}},
		"not required": {reason: "a name", got: check.Required("a", path, "a thing")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(tc.got)); diff != "" {
				t.Errorf("%s\ncomplaints (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
