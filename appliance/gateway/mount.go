// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
)

// Who may ask.
type Who int

const (
	// Everybody is answered before the API server asks who a client is.
	Everybody Who = iota + 1
	// Authorized is who the API server knows and permits: RBAC names the path among nonResourceURLs.
	Authorized
)

// defaultParallel is how many requests a mount answers at the same time if it does not say.
const defaultParallel = 200

// Mount is something beside the API.
type Mount struct {
	// Path is served, and with a slash at its end all paths below it.
	Path string
	// Who may ask.
	Who Who
	// Handler answers.
	Handler http.Handler
	// Limits of what it takes.
	Limits Limits
}

// Limits are what a mount takes. The zero value reads pages: GET without a body.
type Limits struct {
	// Methods are those that it answers; GET when empty. Another one is refused, and by a mount for everybody handed on to the
	// API server, which first asks who the client is.
	Methods []string
	// Body is the size up to which bodies are read, in bytes.
	Body int64
	// Parallel is how many requests are answered at the same time; 200 when 0. Others are told to come back.
	Parallel int
}

// Mounts are all that is served beside the API.
type Mounts []Mount

// Check finds mounts that could not be reached, and those that would take requests from the API.
func (m Mounts) Check() error {
	var errs []error
	taken := map[string]bool{}
	for _, at := range m {
		switch {
		case at.Path != clean(at.Path) || at.Path == "/":
			errs = append(errs, fmt.Errorf("mount %q: not a clean absolute path below the root", at.Path))
		case taken[at.Path]:
			errs = append(errs, fmt.Errorf("mount %q: given twice", at.Path))
		case reserved(at.Path):
			errs = append(errs, fmt.Errorf("mount %q: the path belongs to the API", at.Path))
		}
		if at.Handler == nil || (at.Who != Everybody && at.Who != Authorized) {
			errs = append(errs, fmt.Errorf("mount %q: needs a handler and who may ask", at.Path))
		}
		taken[at.Path] = true
	}
	return errors.Join(errs...)
}

// clean is the one way to write a path, which keeps a slash at its end.
func clean(p string) string {
	cleaned := path.Clean("/" + p)
	if strings.HasSuffix(p, "/") && cleaned != "/" {
		cleaned += "/"
	}
	return cleaned
}

// reserved paths are the API's own.
func reserved(p string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	switch first {
	case "api", "apis", "openapi", "healthz", "livez", "readyz", "version":
		return true
	}
	return false
}
