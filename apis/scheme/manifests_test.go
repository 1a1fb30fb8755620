// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
)

func TestManifestsAreKnownToTheLastField(t *testing.T) {
	t.Parallel()

	decoder := strictDecoder(t)

	for _, file := range manifests(t) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()

			for _, document := range documents(t, file) {
				// Within another object, such a configuration is indented.
				if bytes.Contains(append([]byte("\n"), document...), []byte("\napiVersion: "+gardenconfigv1alpha1.GardenletGroupVersion.String())) {
					if _, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(document); err != nil {
						t.Error(err)
					}

					continue
				}

				if _, err := runtime.Decode(decoder, document); err != nil {
					t.Errorf("A manifest for Gardener applies without warnings: %v", err)
				}
			}
		})
	}
}

func TestUnknownFieldsAreNoticed(t *testing.T) {
	t.Parallel()

	decoder := strictDecoder(t)

	for name, tc := range map[string]struct {
		reason   string
		document string
		want     string
	}{
		"unknown": {
			reason:   "A typing error is told with its path.",
			document: `{"apiVersion":"core.gardener.cloud/v1beta1","kind":"Shoot","spec":{"provider":{"workerz":[]}}}`,
			want:     `strict decoding error: unknown field "spec.provider.workerz"`,
		},
		"twice": {
			reason:   "Of a field given twice only one could count.",
			document: `{"apiVersion":"core.gardener.cloud/v1beta1","kind":"Seed","spec":{"taints":[],"taints":[]}}`,
			want:     `strict decoding error: duplicate field "spec.taints"`,
		},
		"wrong case": {
			reason:   "Names are compared with their case.",
			document: `{"apiVersion":"extensions.gardener.cloud/v1alpha1","kind":"Network","spec":{"podCidr":""}}`,
			want:     `strict decoding error: unknown field "spec.podCidr"`,
		},
		"another group's kind": {
			reason:   "A kind that nobody serves is told.",
			document: `{"apiVersion":"core.gardener.cloud/v1beta1","kind":"Weed"}`,
			want:     `no kind "Weed" is registered`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := runtime.Decode(decoder, []byte(tc.document))
			got, _, _ := strings.Cut(fmt.Sprint(err), " for version ") // What follows is a line of a source file.
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nDecode(...): error (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func strictDecoder(t *testing.T) runtime.Decoder {
	t.Helper()

	s, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}

	return serializer.NewCodecFactory(s, serializer.EnableStrict).UniversalDeserializer()
}

// manifests returns the files of this test and the examples that we give to users.
func manifests(t *testing.T) []string {
	t.Helper()

	var files []string

	for _, pattern := range []string{"testdata/*.yaml", "../../packaging/examples/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}

		files = append(files, found...)
	}

	if len(files) == 0 {
		t.Fatal("no manifests found")
	}

	return files
}

func documents(t *testing.T, file string) [][]byte {
	t.Helper()

	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))

	var documents [][]byte

	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents
		}

		if err != nil {
			t.Fatalf("read %q: %v", file, err)
		}

		documents = append(documents, document)
	}
}
