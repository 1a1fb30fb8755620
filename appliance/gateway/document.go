// SPDX-License-Identifier: Apache-2.0

package gateway

import "net/http"

// Document returns a mount of a document that everybody may read.
func Document(path, kind string, content func() []byte) Mount {
	return Mount{Path: path, Who: Everybody, Limits: Limits{Within: ReadTime}, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Write(content()) //nolint:errcheck,gosec // The client has gone; there is nobody to tell.
	})}
}
