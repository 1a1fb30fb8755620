// SPDX-License-Identifier: Apache-2.0

//go:build noui

package webui

import (
	"embed"
	"io/fs"
)

// built returns no files: the binary is built without the UI.
func built() (fs.FS, error) { return embed.FS{}, nil }
