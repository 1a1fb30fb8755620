// SPDX-License-Identifier: Apache-2.0

package bounds_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/apis/bounds"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	asJSON     = "application/json"
	asYAML     = "application/apply-patch+yaml"
	asProtobuf = "application/vnd.kubernetes.protobuf"
)

// limits are like those of requests for kinds of the garden.
var limits = bounds.Limits{Entries: 5000, Total: 100_000, InText: 20_000}

// encoded returns an object as protobuf, with one text in place of another of the same length.
func encoded(tb testing.TB, object runtime.Object, from, to string) string {
	tb.Helper()
	if len(from) != len(to) {
		tb.Fatalf("%q and %q differ in length", from, to)
	}
	kinds := runtime.NewScheme()
	var b bytes.Buffer
	if err := protobuf.NewSerializer(kinds, kinds).Encode(object, &b); err != nil {
		tb.Fatal(err)
	}

	return strings.Replace(b.String(), from, to, 1)
}

func shootWith(quantity, extension string) *gardencorev1beta1.Shoot {
	most := resource.MustParse(quantity)

	return &gardencorev1beta1.Shoot{
		TypeMeta:   metav1.TypeMeta{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot"},
		ObjectMeta: metav1.ObjectMeta{Name: "shoot", Annotations: map[string]string{"note": "write 1e99999999 or {\"a\": 1e99999999"}},
		Spec: gardencorev1beta1.ShootSpec{Provider: gardencorev1beta1.Provider{
			InfrastructureConfig: &runtime.RawExtension{Raw: []byte(extension)},
			Workers: []gardencorev1beta1.Worker{{Name: "pool", Volume: &gardencorev1beta1.Volume{Size: "20Gi"}, Kubernetes: &gardencorev1beta1.WorkerKubernetes{
				Kubelet: &gardencorev1beta1.KubeletConfig{KubeReserved: &gardencorev1beta1.KubeletConfigReserved{Memory: &most}},
			}}},
		}},
	}
}

// configMap is one with some number of entries.
func configMap(entries int) *corev1.ConfigMap {
	m := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, Data: map[string]string{}}
	for i := range entries {
		m.Data[strconv.Itoa(i)] = "x"
	}

	return m
}

// manyExtensions is a shoot with pools that have a raw extension of 5,000 entries each.
func manyExtensions(pools int) *gardencorev1beta1.Shoot {
	shoot := shootWith("1", "{}")
	for range pools {
		shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, gardencorev1beta1.Worker{
			Name: "pool", ProviderConfig: &runtime.RawExtension{Raw: []byte(`[` + strings.Repeat(`1,`, limits.Entries-1) + `1]`)},
		})
	}

	return shoot
}

// TestCheckEntries tries what is at the bound of entries, or only looks like more.
func TestCheckEntries(t *testing.T) {
	t.Parallel()
	file := configMap(1)
	file.Data["file"] = `[` + strings.Repeat(`1,`, limits.Entries) + `1]`
	text := configMap(1)
	text.Data["text"] = strings.Repeat("{\"a\",\"b\"}", limits.Entries)
	zeros := &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, Data: map[string][]byte{
		"zeros": make([]byte, 1<<20), "twos": bytes.Repeat([]byte{2, 1}, 1<<19), "text": []byte(strings.Repeat("a line of a long text\n", 40_000)),
	}}
	asText, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ body, contentType string }{
		"object at the bound":   {`{` + strings.Repeat(`"a":"b",`, limits.Entries-1) + `"a":"b"}`, asJSON},
		"array at the bound":    {`[` + strings.Repeat(`[1,2],`, limits.Entries-1) + `1]`, asJSON},
		"protobuf at the bound": {encoded(t, configMap(limits.Entries), "1", "1"), asProtobuf},
		"a file in a ConfigMap": {encoded(t, file, "1", "1"), asProtobuf},
		"commas in a text":      {string(asText), asJSON},
		"bytes that are none":   {encoded(t, zeros, "1", "1"), asProtobuf},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := bounds.Check([]byte(test.body), test.contentType, limits); err != nil {
				t.Errorf("Check(): %v", err)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	nested := func(open, end string, n int) string { return strings.Repeat(open, n) + "1" + strings.Repeat(end, n) }

	for name, test := range map[string]struct{ body, contentType string }{
		"string":                         {`{"spec":{"memory":"1e99999999"}}`, asJSON},
		"number":                         {`{"spec":{"memory":1e99999999}}`, asJSON},
		"no content type":                {`{"spec":{"memory":1e99999999}}`, ""},
		"first exponent beyond":          {`["1e1000"]`, asJSON},
		"negative exponent":              {`["1e-1000"]`, asJSON},
		"sign, fraction, capital":        {`["-1.5E+99999999"]`, asJSON},
		"zero":                           {`["0e99999999"]`, asJSON},
		"nothing but an exponent":        {`["e99999999"]`, asJSON},
		"an exponent beyond int32":       {`["1e4294967297999"]`, asJSON},
		"an exponent beyond int64":       {`["1e99999999999999999999"]`, asJSON},
		"spaces around":                  {`[" 1e99999999 "]`, asJSON},
		"escaped":                        {`["\u0031e9999999\u0039"]`, asJSON},
		"escaped space":                  {`["\n1e99999999"]`, asJSON},
		"many digits":                    {`["` + strings.Repeat("7", 1001) + `"]`, asJSON},
		"many digits with a suffix":      {`["` + strings.Repeat("7", 1001) + `Ki"]`, asJSON},
		"many digits behind the point":   {`["0.` + strings.Repeat("0", 1001) + `1"]`, asJSON},
		"many long ones":                 {`[` + strings.Repeat(`"12345678901234567890e980",`, 21) + `1]`, asJSON},
		"JSON patch":                     {`[{"op":"add","path":"/spec/memory","value":"1e99999999"}]`, "application/json-patch+json"},
		"JSON patch that moves a label":  {`[{"op":"add","path":"/x","value":{"labels":{"memory":"1e99999999"}}},{"op":"move","from":"/x/labels","path":"/spec"}]`, asJSON},
		"below an object in labels":      {`{"labels":{"a":{"memory":"1e99999999"}}}`, asJSON},
		"behind labels":                  {`{"labels":{"a":"b"},"memory":"1e99999999"}`, asJSON},
		"labels as a name of a list":     {`{"labels":["1e99999999"]}`, asJSON},
		"labels as a text":               {`{"a":["labels",{"memory":"1e99999999"}]}`, asJSON},
		"JSON as YAML":                   {`{"memory":"1e99999999"}`, asYAML},
		"YAML, plain":                    {"spec:\n  memory: 1e99999999\n", asYAML},
		"YAML, other spelling":           {"spec:\n  memory: 1e99999999\n", "Application/YAML"},
		"YAML, quoted":                   {"memory: '1e99999999'", asYAML},
		"YAML, escaped":                  {`memory: "\x31e99999999"`, asYAML},
		"YAML, folded":                   {"memory: \"1e9999\\\n  9999\"", asYAML},
		"YAML, block":                    {"memory: |\n  1e99999999\n", asYAML},
		"YAML, alias":                    {"labels: {a: &x 1e99999999}\nmemory: *x\n", asYAML},
		"YAML, flow":                     {"{memory: 1e99999999}", asYAML},
		"YAML that begins as JSON":       {"{\"a\": 'x\"', memory: 1e99999999, \"b\": \"\"}", asYAML},
		"protobuf":                       {encoded(t, shootWith("7777777777", "{}"), "7777777777", "1e99999999"), asProtobuf},
		"protobuf, in a raw extension":   {encoded(t, shootWith("1", `{"a":{"b":"1e99999999"}}`), "1", "1"), asProtobuf},
		"protobuf, behind a group":       {"k8s\x00" + "\x7b\x7c" + "\x0a\x0a1e99999999", asProtobuf},
		"protobuf, with a long tag":      {"k8s\x00" + "\x8a\x80\x80\x80\x80\x80\x80\x80\x80\x7e" + "\x0a1e99999999", asProtobuf},
		"many entries of an object":      {`{"data":{` + strings.Repeat(`"a":"b",`, limits.Entries) + `"a":"b"}}`, asJSON},
		"many entries of an array":       {`[` + strings.Repeat(`1,`, limits.Entries) + `1]`, asJSON},
		"many entries, some of them big": {`[` + strings.Repeat(`{"a":[1,2]},`, limits.Entries) + `1]`, asJSON},
		"many entries as YAML":           {"a:\n" + strings.Repeat("- b\n", limits.Entries+1), asYAML},
		"many entries in protobuf":       {encoded(t, configMap(limits.Entries+1), "1", "1"), asProtobuf},
		"many entries of JSON, protobuf": {encoded(t, shootWith("1", `[`+strings.Repeat(`1,`, limits.InText)+`1]`), "1", "1"), asProtobuf},
		"many entries together":          {`{"members":[` + strings.Repeat(`{"roles":["`+strings.Repeat(`","`, limits.Entries-1)+`"]},`, 200) + `{}]}`, asJSON},
		"many empty entries":             {`[` + strings.Repeat(`[`+strings.Repeat(`{},`, limits.Entries-1)+`{}],`, 20) + `1]`, asJSON},
		"many entries together, YAML":    {"a:\n" + strings.Repeat("- ["+strings.Repeat("b,", limits.Entries-1)+"b]\n", 21), asYAML},
		"many entries together, as text": {encoded(t, manyExtensions(40), "1", "1"), asProtobuf},
		"a message that is not whole":    {"k8s\x00" + strings.Repeat("\x12\x00", 3*limits.Total+1) + "\x07", asProtobuf},
		"one in another one":             {"k8s\x00\x12\xfe\xff\x7f" + strings.Repeat("\x12\x00", 1<<20-2) + "\x07\x07", asProtobuf},
		"objects nested too deep":        {nested(`{"a":`, `}`, bounds.MaxDepth+1), asJSON},
		"arrays nested too deep":         {nested(`[`, `]`, bounds.MaxDepth+1), asJSON},
		"deeper than encoding/json goes": {nested(`[`, `]`, 100_000), asYAML},
		"YAML nested too deep":           {"a: " + nested(`[`, `]`, bounds.MaxDepth+1), asYAML},
		"protobuf, JSON nested too deep": {encoded(t, shootWith("1", nested(`{"a":`, `}`, bounds.MaxDepth+1)), "1", "1"), asProtobuf},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			if err := bounds.Check([]byte(test.body), test.contentType, limits); err == nil {
				t.Error("Check(): got no error")
			} else if len(err.Error()) > 250 {
				t.Errorf("An error is short: got %v", err)
			}
			if took := time.Since(begin); took > time.Second {
				t.Errorf("Check(): took %v", took)
			}
		})
	}
}

func TestCheckLetsPass(t *testing.T) {
	t.Parallel()
	nested := strings.Repeat(`{"a":`, bounds.MaxDepth) + "1" + strings.Repeat(`}`, bounds.MaxDepth)
	script := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("1e99999999", 100)))

	for name, test := range map[string]struct{ body, contentType string }{
		"nothing":                       {"", asJSON},
		"quantities":                    {`["1","100Mi","1e3","1.5E+18","-0.1","100m",12e6,1e-9,"1e999","12Ei"]`, asJSON},
		"inside of a text":              {`["take 1e99999999 of it","1e99999999x","x1e99999999","1e99999999,2","v1e99999999"]`, asJSON},
		"no quantities":                 {`["1e","e","1e+","1ee99999999","1.1.1e99999999","e2e99999999","+"]`, asJSON},
		"a number as a key of an array": {`{"1":["2"]}`, asJSON},
		"a commit as a label":           {`{"metadata":{"labels":{"commit":"12e4567"},"annotations":{"commit":"12e4567"}}}`, asJSON},
		"a commit in a ConfigMap":       {`{"kind":"ConfigMap","data":{"a":"b","commit":"12e4567"}}`, asJSON},
		"base64":                        {`{"raw":"` + script + `","caBundle":"` + script + `"}`, asJSON},
		"an object in a text":           {`{"last":"{\"memory\":\"1e99999999\"}"}`, asJSON},
		"JSON that ends too early":      {`{"a":"b`, asJSON},
		"an escape that ends too early": {`{"a":"\`, asJSON},
		"closed too often":              {`]]}}{}`, asJSON},
		"YAML":                          {"a: take 1e99999999 of it\nlabels:\n  commit: 12e4567\n", asYAML},
		"YAML that is none":             {"a: [", asYAML},
		"as deep as may be":             {nested, asJSON},
		"JSON as YAML, as deep":         {nested, asYAML},
		"protobuf":                      {encoded(t, shootWith("10Gi", `{"a":"take 1e99999999"}`), "1", "1"), asProtobuf},
		"protobuf of a Secret": {encoded(t, &corev1.Secret{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, Data: map[string][]byte{"a": []byte(script), "b": bytes.Repeat([]byte("\n\"{"), 10_000)},
		}, "1", "1"), asProtobuf},
		"protobuf that ends too early": {"k8s\x00\x0a\x7fa", asProtobuf},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := bounds.Check([]byte(test.body), test.contentType, limits); err != nil {
				t.Errorf("Check(): %v", err)
			}
		})
	}
}

// TestDefinitionsAreShallow shows how far the deepest objects of this repository are from the bound.
func TestDefinitionsAreShallow(t *testing.T) {
	t.Parallel()
	const root = "../.."
	seen, tooDeep := 0, map[string]int{}
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(content, []byte("kind: CustomResourceDefinition")) {
			return err
		}
		for document := range bytes.SplitSeq(content, []byte("\n---\n")) {
			converted, err := yaml.YAMLToJSON(document)
			if err != nil {
				return err
			}
			seen++
			if deep := depth(converted); deep > bounds.MaxDepth/2 {
				tooDeep[path] = deep
			}
		}

		return nil
	})
	if err != nil || seen == 0 {
		t.Fatalf("%d definitions read, error %v", seen, err)
	}
	if diff := cmp.Diff(map[string]int{}, tooDeep); diff != "" {
		t.Errorf("definitions deeper than half of what may be (-want +got):\n%s", diff)
	}
}

func depth(text []byte) int {
	decoder := json.NewDecoder(bytes.NewReader(text))
	deepest, now := 0, 0
	for {
		token, err := decoder.Token()
		if err != nil {
			return deepest
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			now++
			deepest = max(deepest, now)
		case json.Delim('}'), json.Delim(']'):
			now--
		}
	}
}

// BenchmarkCheck judges a shoot of 10 kB in each encoding.
func BenchmarkCheck(b *testing.B) {
	shoot := shootWith("10Gi", `{"apiVersion":"local.provider.extensions.gardener.cloud/v1alpha1","kind":"InfrastructureConfig"}`)
	for len(shoot.Spec.Provider.Workers) < 48 {
		shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, shoot.Spec.Provider.Workers[0])
	}
	text, err := json.Marshal(shoot)
	if err != nil {
		b.Fatal(err)
	}
	plain, err := yaml.JSONToYAML(text)
	if err != nil {
		b.Fatal(err)
	}
	for name, test := range map[string]struct {
		body        []byte
		contentType string
	}{
		"JSON": {text, asJSON}, "JSONasYAML": {text, asYAML}, "YAML": {plain, asYAML},
		"Protobuf": {[]byte(encoded(b, shoot, "1", "1")), asProtobuf},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(test.body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := bounds.Check(test.body, test.contentType, limits); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRefuse judges bodies of 2.8 to 3.1 MB with too many entries.
func BenchmarkRefuse(b *testing.B) {
	const quantities = 90_000
	entries := func(of string) string {
		var all strings.Builder
		for i := range quantities {
			fmt.Fprintf(&all, `%s"example.com/resource-%06d":"1"`, of, i)
			of = ","
		}
		return all.String()
	}
	for name, body := range map[string]string{
		"TooMany": `{"spec":{"hard":{` + entries("") + `}}}`,
		// All of it has to be read until the last array is found to be too long.
		"TooManyAtTheEnd": `{"metadata":{"annotations":{"a":"` + strings.Repeat("x", 2_800_000) + `"}},"spec":[` + strings.Repeat("1,", limits.Entries) + `1]}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if err := bounds.Check([]byte(body), asJSON, limits); err == nil {
					b.Fatal("the body was accepted")
				}
			}
		})
	}
}
