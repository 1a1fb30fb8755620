// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden"
	"github.com/terrarium-garden/terrarium/controllers/garden/self"
)

// TestConfigurationReachesControllers gives every field of the sections about controllers and the scheduler a value of its
// own and looks for each in the controllers that are made: a field that no controller takes would be accepted and ignored.
func TestConfigurationReachesControllers(t *testing.T) {
	t.Parallel()
	c := &gardenconfigv1alpha1.ServerConfiguration{}
	marks := &marker{fields: map[string]any{}}
	marks.set(t, reflect.ValueOf(&c.Controllers).Elem(), "controllers")
	marks.set(t, reflect.ValueOf(&c.Scheduler).Elem(), "scheduler")
	// The list of those that do not run is for none of them, and the timeout for all.
	maps.DeleteFunc(marks.fields, func(path string, _ any) bool {
		return strings.HasPrefix(path, "controllers.Disabled") || path == "controllers.CacheSyncTimeout"
	})
	if len(marks.fields) < 20 {
		t.Fatalf("only %d fields were found: %v", len(marks.fields), marks.fields)
	}

	found := map[any]bool{}
	for _, controller := range append(garden.Adders(c), &self.Reconciler{Config: c.Controllers.GardenCare}) {
		collect(reflect.ValueOf(controller), found)
	}
	reached := maps.Clone(marks.fields)
	maps.DeleteFunc(reached, func(_ string, value any) bool { return !found[value] })
	if diff := cmp.Diff(marks.fields, reached); diff != "" {
		t.Errorf("fields that reach a controller (-want +got):\n%s", diff)
	}
}

// marker numbers fields.
type marker struct {
	next   int64
	fields map[string]any
}

func (m *marker) set(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	m.next++
	switch target := v.Addr().Interface().(type) {
	case *metav1.Duration:
		target.Duration = time.Duration(m.next) * time.Hour
		m.fields[path] = target.Duration
		return
	case *corev1.ResourceQuota:
		name := corev1.ResourceName(fmt.Sprintf("mark-%d", m.next))
		target.Spec.Hard = corev1.ResourceList{name: resource.MustParse("1")}
		m.fields[path] = string(name)
		return
	case *metav1.LabelSelector:
		mark := fmt.Sprintf("mark-%d", m.next)
		target.MatchLabels = map[string]string{"mark": mark}
		m.fields[path] = mark
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		m.set(t, v.Elem(), path)
	case reflect.Struct:
		for i := range v.NumField() {
			m.set(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		if v.Type().Elem() == reflect.TypeFor[gardenconfigv1alpha1.ConditionThreshold]() {
			m.setThresholds(v, path)
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		m.set(t, v.Index(0), path+"[]")
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1000 + m.next)
		m.fields[path] = int(1000 + m.next)
	case reflect.Bool:
		v.SetBool(true) // Which of them reaches a controller cannot be told.
	case reflect.String:
		v.SetString(fmt.Sprintf("mark-%d", m.next))
		m.fields[path] = v.String()
	default:
		t.Fatalf("%s: the test does not know how to mark a %s", path, v.Type())
	}
}

// setThresholds gives a threshold to each condition of seeds; a controller takes the one of its condition.
func (m *marker) setThresholds(v reflect.Value, path string) {
	mark := time.Duration(m.next) * time.Hour
	for _, condition := range []string{"ExtensionsReady", "BackupBucketsReady"} {
		v.Set(reflect.Append(v, reflect.ValueOf(gardenconfigv1alpha1.ConditionThreshold{
			Type: condition, Duration: metav1.Duration{Duration: mark},
		})))
	}
	m.fields[path] = mark
}

// collect notes all numbers and words in a value.
func collect(v reflect.Value, found map[any]bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			collect(v.Elem(), found)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			collect(field, found)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			collect(v.Index(i), found)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			collect(key, found)
			collect(v.MapIndex(key), found)
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		found[int(v.Int())] = true
		if v.Type() == reflect.TypeFor[time.Duration]() {
			found[time.Duration(v.Int())] = true
		}
	case reflect.String:
		found[v.String()] = true
	default:
	}
}
