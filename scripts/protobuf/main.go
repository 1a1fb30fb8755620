// SPDX-License-Identifier: Apache-2.0

// Protobuf writes the protobuf form of API types: for each package it is given, a file zz_generated.protobuf.go with the
// code of every struct whose fields have protobuf tags. Usage: go run ./scripts/protobuf PACKAGE…
//
// The tags are those of Kubernetes, `protobuf:"bytes,1,opt,name=metadata"`; apart from the number they say what the Go
// type says already, and the generator refuses tags that say something else. A named list or map with the comment
// "+protobuf.nullable=true" is a message with the one field 1.
package main

import (
	"errors"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/packages"
)

// generated is the name of the files that are written.
const generated = "zz_generated.protobuf.go"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "protobuf:", err)
		os.Exit(1)
	}
}

func run(patterns []string) error {
	loaded, err := load(patterns)
	if err != nil {
		return err
	}
	var errs []error
	for _, pkg := range loaded {
		source, err := generate(pkg)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", pkg.PkgPath, err))

			continue
		}
		path := filepath.Join(pkg.Dir, generated)
		if err := os.WriteFile(path, source, 0o644); err != nil { //nolint:gosec // Sources are for everybody to read.
			errs = append(errs, err)
		}
	}

	return errors.Join(errs...)
}

// load reads packages without what an earlier run has written, which may no longer compile.
func load(patterns []string) ([]*packages.Package, error) {
	config := &packages.Config{Mode: packages.NeedName | packages.NeedFiles}
	found, err := packages.Load(config, patterns...)
	if err != nil {
		return nil, fmt.Errorf("find packages: %w", err)
	}
	config.Mode |= packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps
	config.Overlay = map[string][]byte{}
	for _, pkg := range found {
		config.Overlay[filepath.Join(pkg.Dir, generated)] = []byte("package " + pkg.Name + "\n")
	}
	loaded, err := packages.Load(config, patterns...)
	if err != nil {
		return nil, fmt.Errorf("load packages: %w", err)
	}
	var errs []error
	packages.Visit(loaded, nil, func(pkg *packages.Package) {
		for _, problem := range pkg.Errors {
			errs = append(errs, problem)
		}
	})

	return loaded, errors.Join(errs...)
}

// generate returns the source of a package's file.
func generate(pkg *packages.Package) ([]byte, error) {
	nullable := nullables(pkg)
	scope := pkg.Types.Scope()
	file := newFile(pkg.Types)
	var errs []error
	for _, name := range slices.Sorted(slices.Values(scope.Names())) {
		declared, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || declared.IsAlias() || !declared.Exported() {
			continue
		}
		message, err := describe(declared, nullable)
		if err != nil {
			errs = append(errs, err)

			continue
		}
		if message != nil {
			file.message(message)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}

	return file.source()
}
