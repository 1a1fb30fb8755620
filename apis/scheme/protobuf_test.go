// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/intstr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/apis/scheme/arbitrary"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// written is an object that can be written in protobuf.
type written interface {
	runtime.Object
	runtime.ProtobufMarshaller
	runtime.ProtobufReverseMarshaller
	read
}

// read is what serializers look for beside that.
type read interface {
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
	Reset()
}

func served(tb testing.TB) *runtime.Scheme {
	tb.Helper()
	s := runtime.NewScheme()
	if err := scheme.AddServed(s); err != nil {
		tb.Fatal(err)
	}

	return s
}

// empty returns a new object of a kind.
func empty(tb testing.TB, s *runtime.Scheme, gvk schema.GroupVersionKind) written {
	tb.Helper()
	object, err := s.New(gvk)
	if err != nil {
		tb.Fatal(err)
	}
	one, ok := object.(written)
	if !ok {
		tb.Fatalf("%s has numbers, but not the methods that serializers look for", gvk)
	}

	return one
}

// filled returns an object of a kind with something in each field, the same each time.
func filled(tb testing.TB, s *runtime.Scheme, gvk schema.GroupVersionKind, seed uint64) written {
	tb.Helper()
	object := empty(tb, s, gvk)
	newFiller(seed).fill(reflect.ValueOf(object).Elem())

	return object
}

func marshal(tb testing.TB, object written) []byte {
	tb.Helper()
	data, err := object.Marshal()
	if err != nil || len(data) != object.Size() {
		tb.Fatalf("%T.Marshal() = %d bytes, %v; Size() = %d", object, len(data), err, object.Size())
	}

	return data
}

func TestKindsInProtobuf(t *testing.T) {
	t.Parallel()
	s := served(t)
	var json []string
	with := numbered(s)
	for _, gvk := range gardenKinds(s) {
		if !slices.Contains(with, gvk) && !strings.HasSuffix(gvk.Kind, "List") {
			json = append(json, gvk.Group+"/"+gvk.Kind)
		}
	}
	slices.Sort(json)
	want := []string{
		"appliance.gardener.cloud/Snapshot", "appliance.gardener.cloud/TimelineEntry", "appliance.gardener.cloud/TimelineReport", "operator.gardener.cloud/Garden", "settings.gardener.cloud/ClusterOpenIDConnectPreset", "settings.gardener.cloud/OpenIDConnectPreset",
	}
	if diff := cmp.Diff(want, slices.Compact(json)); diff != "" {
		t.Errorf("Groups that were never published in protobuf have none, and all others do (-want +got):\n%s", diff)
	}

	clients := runtime.NewScheme()
	if err := scheme.AddProtobuf(clients); err != nil {
		t.Fatal(err)
	}
	for _, gvk := range gardenKinds(s) {
		if got, want := clients.Recognizes(gvk), slices.Contains(with, gvk); got != want {
			t.Errorf("Clients ask for what there is: %s in protobuf: got %t, want %t", gvk, got, want)
		}
	}
}

func TestRoundTripInProtobuf(t *testing.T) {
	t.Parallel()
	s := served(t)
	codecs := serializer.NewCodecFactory(s)
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	if !ok {
		t.Fatal("no protobuf")
	}
	for _, gvk := range numbered(s) {
		t.Run(gvk.String(), func(t *testing.T) {
			t.Parallel()
			// As the server writes and reads: as the served version, through the internal one.
			encoder := codecs.EncoderForVersion(info.Serializer, gvk.GroupVersion())
			decoder := codecs.UniversalDecoder(schema.GroupVersion{Group: gvk.Group, Version: runtime.APIVersionInternal})
			for seed := range uint64(rounds) {
				want := filled(t, s, gvk, seed)
				s.Default(want)
				data, err := runtime.Encode(encoder, want)
				if err != nil || !bytes.HasPrefix(data, []byte("k8s\x00")) {
					t.Fatalf("Encode() = %.20q, %v", data, err)
				}
				got, err := runtime.Decode(decoder, data)
				if err != nil {
					t.Fatalf("Decode(): %v", err)
				}
				if reflect.TypeOf(got) != reflect.TypeOf(want) {
					if got, err = s.ConvertToVersion(got, gvk.GroupVersion()); err != nil {
						t.Fatal(err)
					}
				}
				got.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
				if diff := cmp.Diff(runtime.Object(want), got, quantities); diff != "" {
					t.Fatalf("An object is read as it was written (-written +read):\n%s", diff)
				}
			}
		})
	}
}

// TestOthersReadTheSame reads with messages made of what is published what was written here, and the other way round.
func TestOthersReadTheSame(t *testing.T) {
	t.Parallel()
	s := served(t)
	messages := descriptors(t, published(t))
	for _, gvk := range numbered(s) {
		group, _, _ := strings.Cut(gvk.Group, ".")
		descriptor := messages.FindName(group, gvk)
		if descriptor == nil {
			if !strings.HasPrefix(gvk.Kind, "Plant") {
				t.Errorf("%s is not published", gvk)
			}

			continue
		}
		t.Run(gvk.String(), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(rounds) {
				object := filled(t, s, gvk, seed)
				other := dynamicpb.NewMessage(descriptor)
				if err := proto.Unmarshal(marshal(t, object), other); err != nil {
					t.Fatalf("another reader: %v", err)
				}
				unknown(t, other.ProtoReflect())
				data, err := proto.Marshal(other)
				if err != nil {
					t.Fatal(err)
				}
				again := empty(t, s, gvk)
				if err := again.Unmarshal(data); err != nil {
					t.Fatalf("Unmarshal(): %v", err)
				}
				if diff := cmp.Diff(object, again, quantities); diff != "" {
					t.Fatalf("What another writer wrote is read as it was (-was +read):\n%s", diff)
				}
			}
		})
	}
}

// unknown holds that the reader of a message has missed nothing but fields of former releases.
func unknown(t *testing.T, message protoreflect.Message) {
	t.Helper()
	for rest := message.GetUnknown(); len(rest) > 0; {
		number, _, n := protowire.ConsumeField(rest)
		if n < 0 || number < firstOwn {
			t.Errorf("%s: nobody else knows the field %d", message.Descriptor().FullName(), number)

			return
		}
		rest = rest[n:]
	}
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsList() && field.Message() != nil:
			for i := range value.List().Len() {
				unknown(t, value.List().Get(i).Message())
			}
		case field.Message() != nil && !field.IsMap():
			unknown(t, value.Message())
		}

		return true
	})
}

// files are descriptors of messages.
type files struct{ protoreflect.FileDescriptor }

// FindName returns the descriptor of a kind.
func (f files) FindName(group string, gvk schema.GroupVersionKind) protoreflect.MessageDescriptor {
	return f.Messages().ByName(protoreflect.Name(group + "_" + gvk.Version + "_" + gvk.Kind))
}

// descriptors makes messages of what is published. Messages of Kubernetes are bytes, which look the same.
func descriptors(t *testing.T, messages map[string]map[string]fact) files {
	t.Helper()
	file := &descriptorpb.FileDescriptorProto{Name: new("published.proto"), Syntax: new("proto2"), Package: new("published")}
	flat := func(name string) string { return strings.ReplaceAll(name, ".", "_") }
	typed := func(form string, field *descriptorpb.FieldDescriptorProto) {
		scalars := map[string]descriptorpb.FieldDescriptorProto_Type{
			"string": descriptorpb.FieldDescriptorProto_TYPE_STRING, "bool": descriptorpb.FieldDescriptorProto_TYPE_BOOL,
			"int32": descriptorpb.FieldDescriptorProto_TYPE_INT32, "int64": descriptorpb.FieldDescriptorProto_TYPE_INT64,
			"double": descriptorpb.FieldDescriptorProto_TYPE_DOUBLE,
		}
		scalar, ok := scalars[form]
		switch {
		case ok:
			field.Type = scalar.Enum()
		case messages[form] != nil:
			field.Type = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
			field.TypeName = new(".published." + flat(form))
		default:
			field.Type = descriptorpb.FieldDescriptorProto_TYPE_BYTES.Enum()
		}
	}
	for name, fields := range messages {
		message := &descriptorpb.DescriptorProto{Name: new(flat(name))}
		for fieldName, f := range fields {
			field := &descriptorpb.FieldDescriptorProto{
				Name: new(fieldName), Number: new(int32(f.number)), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			}
			form, repeats := strings.CutPrefix(f.form, "[]")
			value, isMap := strings.CutPrefix(form, "map[")
			if repeats || isMap {
				field.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
			}
			if isMap {
				entry := strings.ToUpper(fieldName[:1]) + fieldName[1:] + "Entry"
				of := &descriptorpb.FieldDescriptorProto{Name: new("value"), Number: new(int32(2)), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
				typed(strings.TrimSuffix(value, "]"), of)
				message.NestedType = append(message.NestedType, &descriptorpb.DescriptorProto{
					Name: &entry, Options: &descriptorpb.MessageOptions{MapEntry: new(true)},
					Field: []*descriptorpb.FieldDescriptorProto{{
						Name: new("key"), Number: new(int32(1)), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
						Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
					}, of},
				})
				field.Type = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
				field.TypeName = new(".published." + flat(name) + "." + entry)
			} else {
				typed(form, field)
			}
			message.Field = append(message.Field, field)
		}
		file.MessageType = append(file.MessageType, message)
	}
	built, err := protodesc.NewFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}

	return files{FileDescriptor: built}
}

func TestBrokenProtobuf(t *testing.T) {
	t.Parallel()
	s := served(t)
	for _, gvk := range numbered(s) {
		t.Run(gvk.String(), func(t *testing.T) {
			t.Parallel()
			object := filled(t, s, gvk, 1)
			data := marshal(t, object)
			// Of large objects, not after each byte.
			for end := 0; end < len(data); end += 1 + len(data)/300 {
				cut := empty(t, s, gvk)
				if err := cut.Unmarshal(data[:end]); err == nil && cmp.Equal(runtime.Object(cut), runtime.Object(object), quantities) {
					t.Errorf("%d bytes of %d were read as if they were all", end, len(data))
				}
			}
			later := protowire.AppendTag(slices.Clone(data), 4711, protowire.BytesType)
			later = protowire.AppendString(later, "something new")
			later = protowire.AppendVarint(protowire.AppendTag(later, 4712, protowire.VarintType), 1)
			got := empty(t, s, gvk)
			if err := got.Unmarshal(later); err != nil {
				t.Errorf("Fields of later releases are left out.\nUnmarshal(): %v", err)
			}
			if diff := cmp.Diff(object, got, quantities); diff != "" {
				t.Errorf("Fields of later releases change nothing else (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHostileProtobuf(t *testing.T) {
	t.Parallel()
	// path frames a value with field numbers, the innermost last.
	path := func(value []byte, numbers ...protowire.Number) []byte {
		for _, number := range slices.Backward(numbers) {
			value = protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
		}

		return value
	}
	empties := bytes.Repeat(path(nil, 4), 1_500_000)
	for name, tc := range map[string]struct {
		reason string
		data   []byte
		want   string
	}{
		"length beyond the end": {"A length is believed only as far as there are bytes.", []byte{0x12, 0xff, 0xff, 0xff, 0xff, 0x07, 1}, "field 2: unexpected EOF"},
		"endless number":        {"A number has ten bytes at most.", bytes.Repeat([]byte{0xff}, 20), "overflow"},
		"no field zero":         {"Numbers begin at 1.", []byte{0x02, 0x00}, "invalid field number"},
		"another wire type":     {"A text is no number.", []byte{0x10, 0x01}, "field 2: it has wire type 0 instead of 2"},
		"end of no group":       {"Groups are of old; they have to fit.", []byte{0x7c}, "end group"},
		"workers of nothing": {
			"Three megabytes of empty workers would take more than a gigabyte.", path(empties, 2, 10), "too many empty parts",
		},
		"no JSON":       {"An object that nobody could read as JSON would spoil every list.", path([]byte("{"), 2, 10, 2, 1), "the content is not JSON"},
		"another JSON":  {"Nor is anything else than JSON kept there.", path([]byte("k8s\x00"), 2, 10, 2, 1), "the content is not JSON"},
		"no UTF-8":      {"A text would become another one in JSON.", path([]byte{0xff}, 2, 18), "the text is not UTF-8"},
		"within a part": {"An error tells where.", path([]byte{0x08}, 2, 10, 4), "field 2: field 10: field 4: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := (&gardencorev1beta1.Shoot{}).Unmarshal(tc.data)
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "\u00a0", " "), tc.want) {
				t.Errorf("%s\nUnmarshal() = %v, want an error with %q", tc.reason, err, tc.want)
			}
		})
	}
}

// TestUnreadableAsJSON has objects that protobuf can write and JSON cannot.
func TestUnreadableAsJSON(t *testing.T) {
	t.Parallel()
	never := metav1.NewTime(time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC))
	broken := []metav1.ManagedFieldsEntry{{Manager: "a", FieldsV1: metav1.NewFieldsV1("{")}}
	for name, tc := range map[string]struct {
		reason string
		object written
		want   string
	}{
		"time": {
			"A project could put it into a profile of its own.",
			&gardencorev1beta1.NamespacedCloudProfile{Spec: gardencorev1beta1.NamespacedCloudProfileSpec{Kubernetes: &gardencorev1beta1.KubernetesSettings{
				Versions: []gardencorev1beta1.ExpirableVersion{{Version: "1.36.0", ExpirationDate: &never}},
			}}}, "the time is not in the years 0 to 9999",
		},
		"time of an object": {"Metadata has times as well.", &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: never}}, "the time is not"},
		"time of a manager": {
			"A client that updates an object may say who manages it.",
			&gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Time: &never}}}}, "the time is not",
		},
		"neither": {
			"A third variant has no form in JSON.",
			&gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{Provider: gardencorev1beta1.Provider{Workers: []gardencorev1beta1.Worker{{MaxSurge: &intstr.IntOrString{Type: 2}}}}}},
			"neither a number nor a text",
		},
		"managers of a template": {
			"Nobody looks at the managers of what is not there yet.",
			&gardenseedmanagementv1alpha1.ManagedSeedSet{Spec: gardenseedmanagementv1alpha1.ManagedSeedSetSpec{
				ShootTemplate: gardencorev1beta1.ShootTemplate{ObjectMeta: metav1.ObjectMeta{ManagedFields: broken}},
			}}, "the content is not JSON",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := marshal(t, tc.object)
			tc.object.Reset()
			if err := tc.object.Unmarshal(data); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nUnmarshal() = %v, want an error with %q", tc.reason, err, tc.want)
			}
		})
	}
}

// FuzzProtobuf reads bytes as a kind, the first byte says which; what can be read is written and read again as the same.
func FuzzProtobuf(f *testing.F) {
	s := served(f)
	kinds := numbered(s)
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	for i, gvk := range kinds {
		f.Add(byte(i), marshal(f, filled(f, s, gvk, 0)))
		object := empty(f, s, gvk)
		arbitrary.From(noise(byte(i))).Fill(object)
		if data, err := object.Marshal(); err == nil {
			f.Add(byte(i), data)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		gvk := kinds[int(which)%len(kinds)]
		object := empty(t, s, gvk)
		if err := object.Unmarshal(data); err != nil {
			return
		}
		again := empty(t, s, gvk)
		if err := again.Unmarshal(marshal(t, object)); err != nil {
			t.Fatalf("%s: what was read can be written and read\nUnmarshal(): %v", gvk, err)
		}
		if diff := cmp.Diff(object, again, quantities, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s: what was read is read again as it was (-first +second):\n%s", gvk, diff)
		}
		// Volumes and their kind are not looked into; only operators write kinds that have them. The managers of an object
		// are checked where they are kept.
		one, isObject := object.(metav1.Object)
		if gvk.Group == gardenseedmanagementv1alpha1.GroupName || !isObject {
			return
		}
		one.SetManagedFields(nil)
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatalf("%s: what was read can be written as JSON\nMarshal(): %v", gvk, err)
		}
		if err := json.Unmarshal(text, empty(t, s, gvk)); err != nil {
			t.Errorf("%s: and read from there\nUnmarshal(%s): %v", gvk, text, err)
		}
	})
}

// FuzzProtobufAsJSON makes objects out of bytes and holds that protobuf keeps what JSON keeps.
func FuzzProtobufAsJSON(f *testing.F) {
	s := newServer(f)
	kinds := slices.DeleteFunc(slices.Clone(s.kinds), func(kind schema.GroupVersionKind) bool {
		return !slices.Contains(numbered(s.scheme), kind)
	})
	for i := range kinds {
		for seed := range byte(4) {
			f.Add(byte(i), noise(seed))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, content []byte) {
		kind := kinds[int(which)%len(kinds)]
		// What comes out of JSON is what a client may have said.
		object := empty(t, s.scheme, kind)
		if err := json.Unmarshal(s.make(kind, arbitrary.From(content)), object); err != nil {
			return
		}
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		again := empty(t, s.scheme, kind)
		if err := again.Unmarshal(marshal(t, object)); err != nil {
			t.Fatalf("%s: Unmarshal(): %v", kind, err)
		}
		if diff := cmp.Diff(object, again, quantities, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: protobuf keeps what JSON keeps (-JSON +protobuf):\n%s", kind, diff)
		}
	})
}
