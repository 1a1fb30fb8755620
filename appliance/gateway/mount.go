// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

// Who may ask.
type Who int

const (
	// Everybody allows requests without authentication.
	Everybody Who = iota + 1
	// Authorized allows users with a permission for the path, by nonResourceURLs in RBAC.
	Authorized
)

// ReadTime is enough to read a file over a slow connection.
const ReadTime = 30 * time.Second

// defaultParallel is the default limit for parallel requests to a mount.
const defaultParallel = 200

// Mount is content beside the API.
type Mount struct {
	// Path is the path of the content. With a trailing slash, it includes all paths below.
	Path string
	// Who may send requests.
	Who Who
	// Handler handles the requests.
	Handler http.Handler
	// Over makes the handler instead, from the handler of everything that is not mounted for Everybody: the API behind its
	// authentication and authorization.
	Over func(api http.Handler) http.Handler
	// Pages limits the mount to requests of browsers for pages: those that accept HTML and have no credentials in their header.
	// Others are passed on. Only such a mount can have the path "/", which then does not include the paths below.
	Pages bool
	// Limits are the limits of requests.
	Limits Limits
}

// Limits are the limits of requests to a mount. The zero value allows GET without a body.
type Limits struct {
	// Methods are the allowed methods; GET if empty. A request with another method is refused or, by a mount for Everybody, passed
	// on to the API server, which authenticates it.
	Methods []string
	// Body is the maximum size of bodies in bytes.
	Body int64
	// Parallel limits the number of parallel requests; 200 if 0. Further requests are answered with Too Many Requests.
	Parallel int
	// Within is the time in which a client has to read the whole answer; no limit if 0. Everything that everybody gets and that does not
	// fit into a buffer needs one, because a client that reads nothing would hold one of the places for ever.
	Within time.Duration
}

// Mounts are all mounts of a garden.
type Mounts []Mount

// Check returns an error for mounts that cannot be reached, and for mounts that hide paths of the API.
func (m Mounts) Check() error {
	var errs []error
	taken := map[string]bool{}
	for _, at := range m {
		switch {
		case at.Path != clean(at.Path) || (at.Path == "/" && !at.Pages):
			errs = append(errs, fmt.Errorf("mount %q: not a clean absolute path below the root", at.Path))
		case taken[at.Path]:
			errs = append(errs, fmt.Errorf("mount %q: duplicate path", at.Path))
		case reserved(at.Path):
			errs = append(errs, fmt.Errorf("mount %q: the path belongs to the API", at.Path))
		}
		if (at.Handler == nil) == (at.Over == nil) || (at.Who != Everybody && at.Who != Authorized) {
			errs = append(errs, fmt.Errorf("mount %q: Who and either Handler or Over must be set", at.Path))
		}
		if at.Pages && at.Who != Everybody {
			errs = append(errs, fmt.Errorf("mount %q: Pages are for Everybody", at.Path))
		}
		taken[at.Path] = true
	}
	return errors.Join(errs...)
}

// clean returns the canonical form of a path, with a trailing slash if it has one.
func clean(p string) string {
	cleaned := path.Clean("/" + p)
	if strings.HasSuffix(p, "/") && cleaned != "/" {
		cleaned += "/"
	}
	return cleaned
}

// reserved returns the paths of the API.
func reserved(p string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	switch first {
	case "api", "apis", "openapi", "healthz", "livez", "readyz", "version":
		return true
	}
	return false
}
