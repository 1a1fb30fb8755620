// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/apis/wire"
)

// firstOwn is the lowest number of a field that the published message does not have: fields of former releases that
// objects may still hold. Published numbers are given one by one, so they will not get there, and up to 2047 a number
// takes two bytes.
const firstOwn = 1001

// fact is what is published of a field.
type fact struct {
	number int
	// form is the type, with [] before it where the field repeats.
	form string
}

// published reads what is published: the fields of each message by their names.
func published(tb testing.TB) map[string]map[string]fact {
	tb.Helper()
	data, err := os.ReadFile("testdata/numbers.txt")
	if err != nil {
		tb.Fatal(err)
	}
	messages := map[string]map[string]fact{}
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if messages[words[0]] == nil {
			messages[words[0]] = map[string]fact{}
		}
		if len(words) == 1 {
			continue
		}
		number, err := strconv.Atoi(words[2])
		if err != nil || len(words) != 4 {
			tb.Fatalf("numbers.txt: %q: message, field, number and type are wanted: %v", line, err)
		}
		messages[words[0]][words[1]] = fact{number: number, form: words[3]}
	}

	return messages
}

// ours returns the fields of each message by their names, of all kinds that can be written in protobuf.
func ours(tb testing.TB) map[string]map[string]fact {
	tb.Helper()
	s := runtime.NewScheme()
	if err := scheme.AddServedVersions(s); err != nil {
		tb.Fatal(err)
	}
	messages := map[string]map[string]fact{}
	for _, gvk := range numbered(s) {
		collect(tb, s.AllKnownTypes()[gvk], messages)
	}

	// A deployment of the older version holds it as JSON.
	collect(tb, reflect.TypeFor[gardencorev1beta1.HelmControllerDeployment](), messages)

	return messages
}

// numbered returns the kinds that can be written in protobuf.
func numbered(s *runtime.Scheme) []schema.GroupVersionKind {
	return slices.DeleteFunc(gardenKinds(s), func(gvk schema.GroupVersionKind) bool {
		return !reflect.PointerTo(s.AllKnownTypes()[gvk]).Implements(reflect.TypeFor[wire.Message]())
	})
}

// collect adds a message and the messages in it.
func collect(tb testing.TB, goType reflect.Type, into map[string]map[string]fact) {
	tb.Helper()
	switch goType.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		collect(tb, goType.Elem(), into)
	default:
	}
	if !isMessage(goType) {
		return
	}
	name := nameOf(goType)
	if into[name] != nil {
		return
	}
	into[name] = map[string]fact{}
	if goType.Kind() != reflect.Struct {
		into[name]["items"] = fact{number: 1, form: formOf(reflect.SliceOf(goType.Elem()))}
		if goType.Kind() == reflect.Map {
			into[name]["items"] = fact{number: 1, form: "map[" + formOf(goType.Elem()) + "]"}
		}

		return
	}
	for field := range goType.Fields() {
		if field.Name == "TypeMeta" {
			continue
		}
		tag := strings.Split(field.Tag.Get("protobuf"), ",")
		if len(tag) != 4 {
			tb.Errorf("%s.%s: every field has a number, but its tags are %q", name, field.Name, field.Tag)

			continue
		}
		number, err := strconv.Atoi(tag[1])
		if err != nil {
			tb.Errorf("%s.%s: %v", name, field.Name, err)
		}
		into[name][strings.TrimPrefix(tag[3], "name=")] = fact{number: number, form: formOf(field.Type)}
		collect(tb, field.Type, into)
	}
}

func isMessage(goType reflect.Type) bool {
	return reflect.PointerTo(goType).Implements(reflect.TypeFor[wire.Message]())
}

// nameOf is the name of a message as it is published.
func nameOf(goType reflect.Type) string {
	if isMessage(goType) {
		path := strings.Split(goType.PkgPath(), "/")

		return fmt.Sprintf("%s.%s.%s", path[len(path)-2], path[len(path)-1], goType.Name())
	}

	return strings.NewReplacer("/", ".", "-", "_").Replace(goType.PkgPath()) + "." + goType.Name()
}

// formOf is the type of a field as it is published.
func formOf(goType reflect.Type) string {
	if isMessage(goType) {
		return nameOf(goType)
	}
	switch goType.Kind() {
	case reflect.Pointer:
		return formOf(goType.Elem())
	case reflect.Slice:
		if goType.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}

		return "[]" + formOf(goType.Elem())
	case reflect.Map:
		return "map[" + formOf(goType.Elem()) + "]"
	case reflect.Float64:
		return "double"
	case reflect.Struct:
		return nameOf(goType)
	default:
		return goType.Kind().String()
	}
}

// TestNumbers compares with what is published: only so a client that was built with the published messages reads what
// is meant.
func TestNumbers(t *testing.T) {
	t.Parallel()
	want, got := published(t), ours(t)
	if len(want) < 250 {
		t.Errorf("numbers.txt has %d messages", len(want))
	}
	for message, fields := range want {
		if got[message] == nil {
			t.Errorf("%s is published, and no kind here has it", message)
			continue
		}
		known := maps.Clone(got[message])
		maps.DeleteFunc(known, func(name string, _ fact) bool { _, ok := fields[name]; return !ok })
		if diff := cmp.Diff(fields, known, cmp.AllowUnexported(fact{})); diff != "" {
			t.Errorf("published fields of %s (-want +got):\n%s", message, diff)
		}
	}
	for message, fields := range got {
		taken := map[int]string{}
		for name, found := range fields {
			if other, ok := taken[found.number]; ok {
				t.Errorf("%s: %s and %s have the number %d", message, name, other, found.number)
			}
			taken[found.number] = name
			known := want[message] == nil
			if _, ok := want[message][name]; !ok && !known && (found.number < firstOwn || found.number > 2047) {
				t.Errorf("%s.%s is not published, so its number is one from %d to 2047, not %d", message, name, firstOwn, found.number)
			}
		}
	}
}
