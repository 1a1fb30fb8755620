// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// longestWatch is how long a watch lasts at most. It is the longest that the library gives to a watch that asks for no time.
const longestWatch = time.Hour

// parameterTimeout is the parameter of a request with the time that a watch shall last.
const parameterTimeout = "timeoutSeconds"

// withShortWatches limits the time that a client can ask for. Whether it may read is decided when a watch begins: one for years would go on with the
// Secrets of a project that its user was removed from, and with a credential that has expired.
func withShortWatches(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if about, ok := genericapirequest.RequestInfoFrom(r.Context()); ok && about.IsResourceRequest {
			r = shortened(r)
		}
		next.ServeHTTP(w, r)
	})
}

// shortened returns a request for no more than the longest time.
func shortened(r *http.Request) *http.Request {
	query := r.URL.Query()
	wanted := query[parameterTimeout]
	if len(wanted) == 0 {
		return r
	}
	const most = int64(longestWatch / time.Second)
	// The first one counts. What is no number is refused by the API.
	seconds, err := strconv.ParseInt(wanted[0], 10, 64)
	if err != nil || seconds >= 0 && seconds <= most {
		return r
	}
	// A negative one ends at once, unless it is so large that its nanoseconds become a positive number.
	query.Set(parameterTimeout, strconv.FormatInt(min(max(seconds, 1), most), 10))
	short := r.WithContext(r.Context())
	short.URL = new(url.URL)
	*short.URL = *r.URL
	short.URL.RawQuery = query.Encode()

	return short
}
