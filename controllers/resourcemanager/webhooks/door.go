// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"
	"k8s.io/utils/clock"
)

const (
	// mostOfRequest is how long the body of a request may be. An API server accepts no longer objects.
	mostOfRequest = 3 << 20
	// mostOfShoot and mostOfAll bound the bodies that are read and decided at one time. Decoded and encoded again, a body takes many times
	// its length.
	mostOfShoot, mostOfAll = mostOfRequest, 12 * mostOfRequest
	// leastOfRequest is what every request counts for, which bounds their number.
	leastOfRequest = 64 << 10
	// waiting is how long a request waits for those of other shoots.
	waiting = patience / 2
	// keyed stands before the path of a webhook in the URL that an API server of a shoot has.
	keyed, keyOfPath = "/shoot/{" + keyOfPath + "}", "key"
)

// Door lets the API servers of shoots in. The name in a handshake says which shoot a request is about, but anybody can say a name. So a
// request also needs the key of that shoot, which is in the configuration of its webhooks. And owners can have their API servers send as many
// requests as they like, so those of a shoot, and all together, are bounded. It is safe for concurrent use.
type Door struct {
	keys  func(ctx context.Context, namespace string) ([]string, error)
	clock clock.PassiveClock
	all   *semaphore.Weighted

	mu     sync.Mutex
	shoots map[string]int64
}

// NewDoor returns a door for shoots with these keys by namespace.
func NewDoor(keys func(ctx context.Context, namespace string) ([]string, error), clk clock.PassiveClock) *Door {
	return &Door{keys: keys, clock: clk, all: semaphore.NewWeighted(mostOfAll), shoots: map[string]int64{}}
}

// PathOfShoot begins the path of all webhooks of a shoot with that key.
func PathOfShoot(key string) string { return "/shoot/" + key }

// refusal is why a request is not answered.
type refusal struct {
	status int
	reason string
}

// Guard returns a handler that passes on only requests of shoots, and remembers of which.
func (d *Door) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		ctx := request.Context()
		namespace, refused := d.shoot(ctx, request)
		if refused != nil {
			http.Error(w, refused.reason, refused.status)
			return
		}
		leave, refused := d.enter(ctx, namespace, request.ContentLength)
		if refused != nil {
			http.Error(w, refused.reason, refused.status)
			return
		}
		defer leave()
		// Who sends slowly must not stay inside.
		if err := http.NewResponseController(w).SetReadDeadline(d.clock.Now().Add(patience)); err != nil {
			http.Error(w, "the time for the request cannot be bounded", http.StatusInternalServerError)
			return
		}
		request.Body = http.MaxBytesReader(w, request.Body, mostOfRequest)
		next.ServeHTTP(w, request.WithContext(context.WithValue(ctx, shootKey{}, namespace)))
	})
}

// shoot is the namespace of the shoot that a request comes from.
func (d *Door) shoot(ctx context.Context, request *http.Request) (string, *refusal) {
	if request.TLS == nil {
		return "", &refusal{status: http.StatusMisdirectedRequest, reason: "the connection is not encrypted"}
	}
	namespace := shootOf(request.TLS.ServerName)
	if namespace == "" {
		return "", &refusal{status: http.StatusMisdirectedRequest, reason: "the name of the server is that of no shoot"}
	}
	keys, err := d.keys(ctx, namespace)
	if err != nil {
		return "", &refusal{status: http.StatusInternalServerError, reason: "the key of the shoot cannot be read"}
	}
	if !opens(request.PathValue(keyOfPath), keys) {
		return "", &refusal{status: http.StatusForbidden, reason: "the path has not the key of the shoot"}
	}
	return namespace, nil
}

// opens reports whether one of the keys was given. A shoot that no gardenlet has reconciled since there are keys has none.
func opens(given string, keys []string) bool {
	return len(keys) == 0 || slices.ContainsFunc(keys, func(key string) bool { return subtle.ConstantTimeCompare([]byte(given), []byte(key)) == 1 })
}

// enter counts a request with a body of that length, which is negative if nobody knows it, until it leaves.
func (d *Door) enter(ctx context.Context, namespace string, length int64) (leave func(), refused *refusal) {
	if length > mostOfRequest {
		return nil, &refusal{status: http.StatusRequestEntityTooLarge, reason: fmt.Sprintf("the request has more than %d bytes", mostOfRequest)}
	}
	if length < 0 {
		length = mostOfRequest
	}
	length = max(length, leastOfRequest)
	if !d.count(namespace, length) {
		return nil, &refusal{status: http.StatusTooManyRequests, reason: "too many requests of this shoot at one time"}
	}
	ctx, cancel := context.WithTimeout(ctx, waiting)
	defer cancel()
	if err := d.all.Acquire(ctx, length); err != nil {
		d.count(namespace, -length)
		return nil, &refusal{status: http.StatusServiceUnavailable, reason: "too many requests at one time"}
	}
	return func() {
		d.all.Release(length)
		d.count(namespace, -length)
	}, nil
}

// count adds to the bytes of a shoot, unless they become too many.
func (d *Door) count(namespace string, bytes int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	sum := d.shoots[namespace] + bytes
	if sum > mostOfShoot {
		return false
	}
	if d.shoots[namespace] = sum; sum == 0 {
		delete(d.shoots, namespace)
	}
	return true
}
