// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// document is a bill of materials in the format CycloneDX 1.5.
type document struct {
	Format       string      `json:"bomFormat"`
	SpecVersion  string      `json:"specVersion"`
	SerialNumber string      `json:"serialNumber"`
	Version      int         `json:"version"`
	Metadata     metadata    `json:"metadata"`
	Components   []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"` //nolint:tagliatelle // The name in CycloneDX.
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// writeSBOM lists what the program was built from, as the Go toolchain has recorded it in the program.
func writeSBOM(in input) error {
	info, err := buildinfo.ReadFile(in.program)
	if err != nil {
		return fmt.Errorf("read build information: %w", err)
	}
	program, err := os.ReadFile(in.program)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(program)
	self := module(info.Main.Path, in.version)
	self.Type, self.Hashes = "application", []hash{{Algorithm: "SHA-256", Content: hex.EncodeToString(digest[:])}}
	d := document{
		Format: "CycloneDX", SpecVersion: "1.5", Version: 1, SerialNumber: serialNumber(digest),
		Metadata:   metadata{Timestamp: in.created.Format(time.RFC3339), Component: self},
		Components: []component{module("stdlib", info.GoVersion)},
	}
	for _, dependency := range info.Deps {
		if dependency.Replace != nil {
			dependency = dependency.Replace
		}
		d.Components = append(d.Components, module(dependency.Path, dependency.Version))
	}
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(in.out, append(data, '\n'), 0o644) //nolint:gosec // It is published.
}

func module(path, version string) component {
	purl := "pkg:golang/" + path + "@" + version
	return component{Type: "library", Ref: purl, Name: path, Version: version, PURL: purl}
}

// serialNumber derives a UUID from the program, so that the same program has the same one.
func serialNumber(digest [sha256.Size]byte) string {
	b := digest[:16]
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
