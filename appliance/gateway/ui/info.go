// SPDX-License-Identifier: Apache-2.0

package ui

import "net/http"

// info describes the garden to the user of a session.
func (s *site) info(api http.Handler, w http.ResponseWriter, r *http.Request) {
	found := s.guard(w, r)
	if found == nil {
		return
	}
	s.use(w, r, found, func(r *http.Request) {
		writeJSON(w, http.StatusOK, struct {
			Info

			Admin bool `json:"admin"`
		}{s.Info(), isAdmin(api, r, found.Credential())})
	})
}
