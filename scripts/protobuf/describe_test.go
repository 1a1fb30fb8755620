// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
)

// source makes a package of one file that imports nothing.
func source(t *testing.T, text string) *packages.Package {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "types.go", "package v1\n"+text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	checked, err := new(types.Config).Check("example.org/garden/apis/core/v1", files, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}

	return &packages.Package{Types: checked, Syntax: []*ast.File{file}}
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, text, want, err string
	}{
		"no number": {reason: "A field without a number would be lost.", text: "type A struct { X string }", err: `A.X: it has no tag such as protobuf:"bytes,1,opt,name=metadata"; numbers are never used twice, and those of fields of our own begin at 1001`},
		"twice": {
			reason: "Two fields of one number would overwrite each other.",
			text:   "type A struct { X string `json:\"x\" protobuf:\"bytes,1,opt,name=x\"`; Y string `json:\"y\" protobuf:\"bytes,1,opt,name=y\"` }",
			err:    "A: X and Y have the same number",
		},
		"wrong type": {
			reason: "The tag of a copied line says what the other field was.",
			text:   "type A struct { X bool `json:\"x\" protobuf:\"bytes,1,opt,name=x\"` }", err: `A.X: its tag is "bytes,1,opt,name=x", its type says "varint,1,opt,name=x"`,
		},
		"no form": {
			reason: "What has no form is no field of a message.",
			text:   "type A struct { X uint8 `json:\"x\" protobuf:\"varint,1,opt,name=x\"` }", err: "A.X: uint8 has no protobuf form",
		},
		"last first": {
			reason: "A message is written from its end.",
			text:   "type A struct { X string `json:\"x\" protobuf:\"bytes,1,opt,name=x\"`; Y *int32 `json:\"y\" protobuf:\"varint,2,opt,name=y\"` }",
			want:   "if m.Y != nil {\n\t\tw.Int(2, int64(*m.Y))\n\t}\n\tif m.X != \"\" {\n\t\tw.String(1, m.X)\n\t}",
		},
		"nullable": {
			reason: "A list that may be empty and there is a message of its own.",
			text:   "// +protobuf.nullable=true\ntype A []string", want: "for i := len((*m)) - 1; i >= 0; i-- {\n\t\tw.String(1, (*m)[i])\n\t}",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := generate(source(t, tc.text))
			if tc.err != "" {
				if diff := cmp.Diff(tc.err, fmt.Sprint(err)); diff != "" {
					t.Errorf("%s\ngenerate(): error (-want +got):\n%s", tc.reason, diff)
				}

				return
			}
			if err != nil || !strings.Contains(string(got), tc.want) {
				t.Errorf("%s\ngenerate() = %v,\n%s\nwant in it\n%s", tc.reason, err, got, tc.want)
			}
		})
	}
}
