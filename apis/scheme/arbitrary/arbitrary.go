// SPDX-License-Identifier: Apache-2.0

package arbitrary

import (
	"encoding/binary"
	"math"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	maxDepth  = 24
	maxLength = 3
	maxText   = 12
)

// Source provides the bytes from which an object is made.
type Source struct {
	data  []byte
	words []string
}

// From makes a source of bytes.
func From(data []byte) *Source { return &Source{data: data, words: words()} }

// Byte returns the next byte, and zero when there are none left.
func (s *Source) Byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

// Fill sets every field of the value that the pointer points to. Fields that only the server sets stay empty.
func (s *Source) Fill(pointer any) { s.fill(reflect.ValueOf(pointer).Elem(), 0) }

func (s *Source) fill(v reflect.Value, depth int) {
	if !v.CanSet() || depth > maxDepth || len(s.data) == 0 || s.known(v) {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(s.Byte()&1 == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(s.integer())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(s.Byte()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(s.integer()) / 8)
	case reflect.String:
		v.SetString(s.text())
	case reflect.Pointer:
		s.pointer(v, depth)
	case reflect.Slice:
		s.slice(v, depth)
	case reflect.Map:
		s.dictionary(v, depth)
	case reflect.Struct:
		for _, part := range v.Fields() {
			s.fill(part, depth+1)
		}
	default: // Objects have no interfaces, channels and functions.
	}
}

func (s *Source) pointer(v reflect.Value, depth int) {
	if s.Byte()&3 == 0 {
		return
	}
	v.Set(reflect.New(v.Type().Elem()))
	s.fill(v.Elem(), depth+1)
}

func (s *Source) slice(v reflect.Value, depth int) {
	n := int(s.Byte()) % (maxLength + 1)
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	for i := range n {
		s.fill(v.Index(i), depth+1)
	}
}

func (s *Source) dictionary(v reflect.Value, depth int) {
	n := int(s.Byte()) % (maxLength + 1)
	v.Set(reflect.MakeMap(v.Type()))
	for range n {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		s.fill(key, depth+1)
		s.fill(value, depth+1)
		v.SetMapIndex(key, value)
	}
}

// known fills values of types with special rules.
func (s *Source) known(v reflect.Value) bool {
	switch o := v.Addr().Interface().(type) {
	case *metav1.TypeMeta:
	case *metav1.ObjectMeta:
		o.Name, o.Namespace, o.GenerateName = s.text(), s.text(), s.text()
		s.fill(reflect.ValueOf(&o.Labels).Elem(), maxDepth-2)
		s.fill(reflect.ValueOf(&o.Annotations).Elem(), maxDepth-2)
		s.fill(reflect.ValueOf(&o.Finalizers).Elem(), maxDepth-2)
		s.fill(reflect.ValueOf(&o.DeletionTimestamp).Elem(), maxDepth-2)
	case *resource.Quantity:
		all := quantities()
		*o = resource.MustParse(all[int(s.Byte())%len(all)])
	case *metav1.Time:
		o.Time = time.Unix(s.integer()%math.MaxUint32, 0).UTC()
	case *metav1.MicroTime:
		o.Time = time.Unix(s.integer()%math.MaxUint32, 0).UTC()
	case *intstr.IntOrString:
		if s.Byte()&1 == 0 {
			*o = intstr.FromInt32(int32(s.integer() % math.MaxInt32))
		} else {
			*o = intstr.FromString(s.text())
		}
	case *runtime.RawExtension:
		o.Raw = []byte(raw()[int(s.Byte())%len(raw())])
	default:
		return false
	}
	return true
}

func raw() []string {
	return []string{`{}`, `{"apiVersion":"a/v1","kind":"B"}`, `{"apiVersion":"__internal"}`, `{"a":{"b":[1,null,"c"]}}`, `{"kind":"GardenletConfiguration"}`}
}

// integer is a small number most of the time, and any number sometimes.
func (s *Source) integer() int64 {
	b := s.Byte()
	if b&7 != 7 {
		return int64(int8(b)) >> 1 //nolint:gosec // a byte is read as a signed number
	}
	var wide [8]byte
	for i := range wide {
		wide[i] = s.Byte()
	}
	return int64(binary.LittleEndian.Uint64(wide[:])) //nolint:gosec // any number will do
}

// text is one of the words most of the time, and any text sometimes.
func (s *Source) text() string {
	b := s.Byte()
	switch {
	case b&3 == 0:
		return ""
	case b&3 != 3 || len(s.data) == 0:
		return s.words[(int(b)<<8|int(s.Byte()))%len(s.words)]
	}
	n := min(int(b>>2)%maxText, len(s.data))
	text := string(s.data[:n])
	s.data = s.data[n:]
	return text
}
