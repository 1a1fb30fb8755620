// SPDX-License-Identifier: Apache-2.0

// Package build says which version a binary is. It imports none of what the binaries are made of, so that each can tell its version
// without containing the others.
package build

import (
	"runtime"
	"strings"

	"k8s.io/component-base/version"
)

// GardenerAPILevel is the version of Gardener whose API and behaviour this binary implements. Clients compare their version
// with it.
const GardenerAPILevel = "v1.149.0"

// Version is the version of this binary.
//
//nolint:gochecknoglobals // the linker's -X flag sets variables only
var Version = "v0.1.0-dev"

// KubernetesVersion returns the version of the Kubernetes libraries in this binary.
func KubernetesVersion() string { return version.Get().GitVersion }

// Commit returns the commit of the sources of this binary, or nothing if it was built without the flags of the Makefile.
func Commit() string {
	commit := version.Get().GitCommit
	if strings.HasPrefix(commit, "$") { // It is a placeholder.
		return ""
	}

	return commit
}

// Platform returns the operating system and the architecture of this binary.
func Platform() string { return runtime.GOOS + "/" + runtime.GOARCH }
