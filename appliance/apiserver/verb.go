// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Verb returns what the API takes a request for objects for: list, watch, get and others. It is empty for all other requests. What is
// a watch has more spellings than one would think: only 0 and false are not, whatever their letters.
func Verb(r *http.Request) string {
	resolver := request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	asked, err := resolver.NewRequestInfo(r)
	if err != nil || !asked.IsResourceRequest {
		return ""
	}

	return asked.Verb
}
