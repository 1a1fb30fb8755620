// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"
	"net/http"

	"github.com/terrarium-garden/terrarium/apis/bounds"
)

// ofShoots bounds what the API server of a shoot answers: more than a thousand nodes, or all definitions of a large cluster, in one list.
func ofShoots() Bounds {
	return Bounds{Answer: 32 << 20, Event: 8 << 20, Limits: bounds.Limits{Entries: 20_000, Total: 400_000, InText: 100_000}}
}

// answers bounds what an API server can do to its client by its answers. What is behind the API server of a shoot may be a program of its
// owner, whose answers are passed on: one that is too long would use up the memory of who acts for all shoots, and a redirection would take
// the credentials elsewhere.
type answers struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (a answers) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := a.next.RoundTrip(request)
	if err != nil {
		return nil, err //nolint:wrapcheck // The client says what it wanted.
	}
	if response.StatusCode >= http.StatusMultipleChoices && response.StatusCode < http.StatusBadRequest && response.StatusCode != http.StatusNotModified {
		_ = response.Body.Close()
		return nil, fmt.Errorf("the server answers %q, a redirection, which is not followed", response.Status)
	}
	if err := ofShoots().Judge(response, request.URL.Query().Get("watch") != ""); err != nil {
		return nil, err
	}
	return response, nil
}

// WrappedRoundTripper is what sends the requests, so that its connections can be closed.
func (a answers) WrappedRoundTripper() http.RoundTripper { return a.next }
