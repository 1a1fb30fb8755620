// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme/arbitrary"
)

// TestEqual compares arbitrary objects with their copies, with almost the same and with others, and expects the answers of the
// library.
func TestEqual(t *testing.T) {
	t.Parallel()
	makers := []func() runtime.Object{
		func() runtime.Object { return &gardencorev1beta1.Shoot{} },
		func() runtime.Object { return &gardencorev1beta1.Seed{} },
		func() runtime.Object { return &gardencorev1beta1.CloudProfile{} },
		func() runtime.Object { return &gardencorev1beta1.ControllerInstallation{} },
		func() runtime.Object { return &apiextensionsv1.CustomResourceDefinition{} }, // Its schemas contain themselves.
	}
	random := rand.New(rand.NewPCG(1, 2))
	answers := map[bool]int{}
	for range 100 {
		for _, maker := range makers {
			noise := make([]byte, 4096)
			for i := range noise {
				noise[i] = byte(random.UintN(256))
			}
			one, almost, other := maker(), maker(), maker()
			arbitrary.From(noise).Fill(one)
			noise[random.UintN(uint(len(noise)))]++
			arbitrary.From(noise).Fill(almost)
			arbitrary.From(noise[random.UintN(9):]).Fill(other)
			for _, second := range []runtime.Object{one, one.DeepCopyObject(), almost, other} {
				want := apiequality.Semantic.DeepEqual(one, second)
				answers[want]++
				if got := check.Equal(one, second); got != want {
					t.Fatalf("Equal of two objects is %t, want %t; they differ in (-one +other):\n%s", got, want, cmp.Diff(one, second))
				}
			}
		}
	}
	if answers[true] == 0 || answers[false] == 0 {
		t.Errorf("the objects were always or never equal: %v", answers)
	}
}

func TestEqualOfUnlikeValues(t *testing.T) {
	t.Parallel()
	type pair struct {
		Names   []string
		Texts   map[string]string
		Amounts map[string]resource.Quantity
		Data    []byte
		Next    *pair
		Any     any
	}
	amounts := func(text string) map[string]resource.Quantity {
		return map[string]resource.Quantity{"cpu": resource.MustParse(text)}
	}
	for name, tc := range map[string]struct {
		one, other any
		want       bool
	}{
		"nothing":             {want: true},
		"something":           {one: &pair{}},
		"another type":        {one: &pair{}, other: "pair"},
		"absent and empty":    {one: &pair{}, other: &pair{Names: []string{}, Texts: map[string]string{}, Data: []byte{}, Amounts: map[string]resource.Quantity{}}, want: true},
		"absent and present":  {one: &pair{}, other: &pair{Next: &pair{}}},
		"deeper":              {one: &pair{Next: &pair{Names: []string{"a"}}}, other: &pair{Next: &pair{Names: []string{"b"}}}},
		"order":               {one: &pair{Names: []string{"a", "b"}}, other: &pair{Names: []string{"b", "a"}}},
		"other keys":          {one: &pair{Texts: map[string]string{"a": ""}}, other: &pair{Texts: map[string]string{"b": ""}}},
		"amounts by value":    {one: &pair{Amounts: amounts("1000m")}, other: &pair{Amounts: amounts("1")}, want: true},
		"other amounts":       {one: &pair{Amounts: amounts("1000m")}, other: &pair{Amounts: amounts("1001m")}},
		"data":                {one: &pair{Data: []byte("a")}, other: &pair{Data: []byte("b")}},
		"what is behind any":  {one: &pair{Any: &pair{Data: []byte("a")}}, other: &pair{Any: &pair{Data: []byte("a")}}, want: true},
		"another behind any":  {one: &pair{Any: 1}, other: &pair{Any: "1"}},
		"any and nothing":     {one: &pair{Any: 1}, other: &pair{}},
		"nothing behind both": {one: &pair{Any: nil}, other: &pair{}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, apiequality.Semantic.DeepEqual(tc.one, tc.other)); diff != "" {
				t.Errorf("the library (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, check.Equal(tc.one, tc.other)); diff != "" {
				t.Errorf("Equal (-want +got):\n%s", diff)
			}
		})
	}
}

// TestIdentical expects that what is identical is encoded in the same way, and that a copy is identical.
func TestIdentical(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	alike := 0
	for range 200 {
		noise := make([]byte, 2048)
		for i := range noise {
			noise[i] = byte(random.UintN(256))
		}
		one, other := &gardencorev1beta1.Shoot{}, &gardencorev1beta1.Shoot{}
		arbitrary.From(noise).Fill(one)
		noise[random.UintN(uint(len(noise)))]++
		arbitrary.From(noise).Fill(other)
		if !check.Identical(reflect.ValueOf(one), reflect.ValueOf(one.DeepCopy())) {
			t.Fatal("a copy is not identical")
		}
		if !check.Identical(reflect.ValueOf(one), reflect.ValueOf(other)) {
			continue
		}
		alike++
		if encoded(t, one) != encoded(t, other) {
			t.Fatalf("identical objects differ in (-one +other):\n%s", cmp.Diff(one, other))
		}
	}
	if alike == 0 {
		t.Error("no two objects were identical, so nothing was shown")
	}
}

// TestIdenticalMindsWhatIsWritten has what Equal does not mind.
func TestIdenticalMindsWhatIsWritten(t *testing.T) {
	t.Parallel()
	type amounts map[string]resource.Quantity
	for name, pair := range map[string][2]any{
		"absent and empty list": {[]string(nil), []string{}},
		"absent and empty map":  {map[string]string(nil), map[string]string{}},
		"absent and empty data": {[]byte(nil), []byte{}},
		"amounts":               {amounts{"memory": resource.MustParse("1024")}, amounts{"memory": resource.MustParse("1Ki")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !check.Equal(pair[0], pair[1]) {
				t.Error("the two do not even mean the same")
			}
			if check.Identical(reflect.ValueOf(pair[0]), reflect.ValueOf(pair[1])) {
				t.Error("the two are identical")
			}
		})
	}
}

func encoded(tb testing.TB, object any) string {
	tb.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		tb.Fatal(err)
	}

	return string(text)
}

func BenchmarkEqual(b *testing.B) {
	one := &gardencorev1beta1.Shoot{}
	noise := make([]byte, 1<<14)
	for i := range noise {
		noise[i] = byte(i * 7)
	}
	arbitrary.From(noise).Fill(one)
	other := one.DeepCopy()
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			check.Equal(one, other)
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			apiequality.Semantic.DeepEqual(one, other)
		}
	})
}
