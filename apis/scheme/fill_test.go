// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// filler fills values with made-up content that survives being written and read.
type filler struct {
	random *rand.Rand
}

func newFiller(seed uint64) *filler {
	return &filler{random: rand.New(rand.NewPCG(seed, 0))}
}

func (f *filler) fill(v reflect.Value) {
	if f.fillKnown(v) {
		return
	}

	switch v.Kind() {
	case reflect.Pointer:
		if f.random.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem())
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			f.fill(field)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+f.random.IntN(2), 2))
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key)
		f.fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString(f.word())
	case reflect.Bool:
		v.SetBool(f.random.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(1 + f.random.IntN(1000)))
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(uint64(1 + f.random.IntN(255)))
	case reflect.Float64:
		v.SetFloat(float64(f.random.IntN(1000)) / 8)
	default:
		panic(fmt.Sprintf("nothing to fill a %s with", v.Type()))
	}
}

// fillKnown fills types whose fields are not what is written.
func (f *filler) fillKnown(v reflect.Value) bool {
	switch known := v.Addr().Interface().(type) {
	case *metav1.TypeMeta, *metav1.ListMeta:
	case *metav1.ObjectMeta:
		*known = metav1.ObjectMeta{Name: f.word(), Namespace: f.word(), Labels: map[string]string{f.word(): f.word()}}
	case *metav1.Time:
		*known = metav1.Unix(int64(f.random.IntN(1e9)), 0)
	case *metav1.MicroTime:
		*known = metav1.NewMicroTime(time.Unix(int64(f.random.IntN(1e9)), 0))
	case *metav1.Duration:
		known.Duration = time.Duration(1+f.random.IntN(1e6)) * time.Second
	case *resource.Quantity:
		*known = *resource.NewQuantity(int64(1+f.random.IntN(1e6)), resource.DecimalSI)
	case *runtime.RawExtension:
		known.Raw = f.object()
	case *apiextensionsv1.JSON:
		known.Raw = f.object()
	case *intstr.IntOrString:
		*known = intstr.FromInt32(int32(f.random.IntN(100)))
	default:
		return false
	}

	return true
}

func (f *filler) object() []byte {
	return fmt.Appendf(nil, `{"%s":"%s"}`, f.word(), f.word())
}

func (f *filler) word() string {
	return fmt.Sprintf("w%06x", f.random.IntN(1<<24))
}
