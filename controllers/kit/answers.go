// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"
	"io"
	"net/http"
)

// answerLimit is how long one answer of a shoot may be: more than a thousand nodes, or all definitions of a large cluster, in one list.
const answerLimit = 64 << 20

// answers bounds what an API server can do to its client by its answers. What is behind the API server of a shoot may be a program of its
// owner, whose answers are passed on: one that is too long would use up the memory of who acts for all shoots, and a redirection would take
// the credentials elsewhere. Watches have no end, and the decoder bounds their events.
type answers struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (a answers) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := a.next.RoundTrip(request)
	if err != nil {
		return nil, err //nolint:wrapcheck // The client says what it wanted.
	}
	switch {
	case response.StatusCode >= http.StatusMultipleChoices && response.StatusCode < http.StatusBadRequest && response.StatusCode != http.StatusNotModified:
		_ = response.Body.Close()
		return nil, fmt.Errorf("the server answers %q, a redirection, which is not followed", response.Status)
	case request.URL.Query().Get("watch") == "":
		response.Body = &answer{ReadCloser: response.Body, left: answerLimit}
	}
	return response, nil
}

// WrappedRoundTripper is what sends the requests, so that its connections can be closed.
func (a answers) WrappedRoundTripper() http.RoundTripper { return a.next }

// answer is a body that cannot be read beyond a limit.
type answer struct {
	io.ReadCloser

	left int64
}

// Read reads until the limit.
func (a *answer) Read(p []byte) (int, error) {
	// One byte more tells an answer that is too long from one that just fits.
	n, err := a.ReadCloser.Read(p[:min(int64(len(p)), a.left+1)])
	if a.left -= int64(n); a.left < 0 {
		return 0, fmt.Errorf("the server answers with more than %d MiB", answerLimit>>20)
	}
	return n, err //nolint:wrapcheck // The end has to stay io.EOF.
}
