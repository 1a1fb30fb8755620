// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
)

func TestSame(t *testing.T) {
	t.Parallel()
	type spec struct {
		List   []string
		Amount resource.Quantity
		Config *runtime.RawExtension
		Values apiextensionsv1.JSON
	}
	raw := func(text string) spec { return spec{Config: &runtime.RawExtension{Raw: []byte(text)}} }
	for name, tc := range map[string]struct {
		reason     string
		one, other spec
		want       bool
	}{
		"API-STRAT-2 list":    {reason: "an empty list is no list", one: spec{List: []string{}}, want: true},
		"API-STRAT-2 amount":  {reason: "amounts are compared by value", one: spec{Amount: resource.MustParse("1000m")}, other: spec{Amount: resource.MustParse("1")}, want: true},
		"API-STRAT-2 order":   {reason: "the order of fields means nothing", one: raw(`{"a":1,"b":[2]}`), other: raw(`{ "b": [2], "a": 1 }`), want: true},
		"API-STRAT-2 nothing": {reason: "null is nothing", one: raw(`null`), other: raw(``), want: true},
		"API-STRAT-2 values": {
			reason: "nor does it in the values of a chart", want: true,
			one: spec{Values: apiextensionsv1.JSON{Raw: []byte(`{"a":1,"b":2}`)}}, other: spec{Values: apiextensionsv1.JSON{Raw: []byte(`{"b":2,"a":1}`)}},
		},
		"API-STRAT-2 other":   {reason: "another value is another", one: raw(`{"a":1}`), other: raw(`{"a":2}`)},
		"API-STRAT-2 big":     {reason: "even where a float could not tell", one: raw(`9007199254740993`), other: raw(`9007199254740992`)},
		"API-STRAT-2 lists":   {reason: "the order of a list means something", one: raw(`[1,2]`), other: raw(`[2,1]`)},
		"API-STRAT-2 present": {reason: "a section is not its absence", one: raw(`{}`)},
		"API-STRAT-2 broken":  {reason: "what is no JSON is only the same as itself", one: raw(`{`), other: raw(`[`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, check.Same(tc.one, tc.other)); diff != "" {
				t.Errorf("%s\nSame(%v, %v) (-want +got):\n%s", tc.reason, tc.one, tc.other, diff)
			}
		})
	}
}
