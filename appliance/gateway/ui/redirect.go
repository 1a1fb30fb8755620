// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"net/http"
	"regexp"
	"strings"
)

// allNamespaces stands for all namespaces in paths of the dashboard.
const allNamespaces = "-"

// toStart redirects to the first page.
func toStart(w http.ResponseWriter, r *http.Request) { redirect(w, r, Path) }

// toShoot redirects paths of the Gardener dashboard: /namespace/NAMESPACE, and /namespace/NAMESPACE/shoots/NAME with its tabs.
func toShoot(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")[1:]
	switch {
	case len(parts) == 0 || !plain(parts[0]):
		redirect(w, r, Path)
	case parts[0] == allNamespaces && len(parts) == 2 && parts[1] == "shoots":
		redirect(w, r, Path+"shoots")
	case len(parts) >= 3 && parts[1] == "shoots" && plain(parts[2]):
		redirect(w, r, Path+"projects/"+parts[0]+"/shoots/"+parts[2])
	case len(parts) >= 2 && parts[1] == "shoots":
		redirect(w, r, Path+"projects/"+parts[0]+"/shoots")
	default:
		redirect(w, r, Path+"projects/"+parts[0])
	}
}

// toSeed redirects paths of the Gardener dashboard: /seeds and /seeds/NAME with its tabs.
func toSeed(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")[1:]
	if len(parts) == 0 || !plain(parts[0]) {
		redirect(w, r, Path+"seeds")

		return
	}
	redirect(w, r, Path+"seeds/"+parts[0])
}

// plain reports whether a segment can be the name of an object.
func plain(segment string) bool {
	return regexp.MustCompile(`^[a-z0-9_-][a-z0-9._-]*$`).MatchString(segment)
}

func redirect(w http.ResponseWriter, r *http.Request, to string) {
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, to, http.StatusFound) //nolint:gosec // All targets begin with the path of the web UI.
}
