// SPDX-License-Identifier: Apache-2.0

//go:build !noui

package webui

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// built returns the built files. Before the first build there is only a placeholder.
func built() (fs.FS, error) { return fs.Sub(dist, "dist") }
