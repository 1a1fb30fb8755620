// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
)

// garbage makes requests that make no sense, always the same ones for the same seed.
type garbage struct {
	*rand.Rand

	host string
}

var (
	garbagePaths = []string{
		"/", "/api", "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/secrets/none", "/apis/core.gardener.cloud/v1beta1/shoots",
		"/apis/core.gardener.cloud/v1beta1/namespaces/default/shoots", "/apis/core.gardener.cloud/v1beta1/namespaces/default/shoots/none/binding",
		"/apis/core.gardener.cloud/v1beta1/seeds", "/apis/operations.gardener.cloud/v1alpha1/namespaces/default/bastions",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/certificates.k8s.io/v1/certificatesigningrequests",
		"/apis/authentication.k8s.io/v1/tokenreviews", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		"/apis/appliance.gardener.cloud/v1alpha1/timelines", "/appliance/status", "/appliance/configuration", "/appliance/store/vacuum", "/openapi/v3", "/ui/", "/ui/kube/api",
		"/readyz", "/metrics", "/.well-known/openid-configuration", "/api/v1/namespaces/default/pods/none/exec", "/api/v1/proxy/namespaces/default/services/none",
	}
	garbageMethods = []string{
		http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions, http.MethodConnect, "BREW", "get",
	}
	garbageTypes = []string{
		"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/json-patch+json", "application/merge-patch+json",
		"application/strategic-merge-patch+json", "application/apply-patch+yaml", "application/cbor", "text/plain", "multipart/form-data", "application/json;" + strings.Repeat("a=b;", 500), "/;=",
	}
	garbageQueries = []string{
		"", "limit=-1", "limit=99999999999999999999", "continue=AAAA", "resourceVersion=-1", "resourceVersion=18446744073709551615", "resourceVersion=x&resourceVersionMatch=Exact",
		"resourceVersionMatch=NotOlderThan", "labelSelector=%00%ff", "labelSelector=" + strings.Repeat("a%2C", 1000), "fieldSelector=spec.none%3D1", "fieldSelector=%3D%3D%3D",
		"timeoutSeconds=-5", "watch=1&timeoutSeconds=1&resourceVersion=99999999", "watch=1&timeoutSeconds=1&sendInitialEvents=true", "watch=maybe&timeoutSeconds=1",
		"dryRun=Some", "fieldManager=" + strings.Repeat("m", 300), "fieldValidation=Perhaps", "pretty=%zz", "force=perhaps", "gracePeriodSeconds=-1", "propagationPolicy=None",
		"a=1;b=2", "allowWatchBookmarks=1&watch=1&timeoutSeconds=1", "timeout=forever", "timeout=-1s", "since=yesterday", "limit=0x10",
	}
)

func pick[T any](g garbage, from []T) T { return from[g.IntN(len(from))] }

// body is what no decoder should trip over.
func (g garbage) body() []byte {
	switch g.IntN(12) {
	case 0:
		return nil
	case 1:
		return []byte(strings.Repeat("[", 10_000+g.IntN(90_000)))
	case 2:
		return []byte(`{"kind":"Shoot","apiVersion":"core.gardener.cloud/v1beta1","metadata":{"name":"` + strings.Repeat("x", g.IntN(5000)) + `"},"spec":{"provider":{"workers":[null,{},{"maximum":1e99}]}}}`)
	case 3:
		return append([]byte("k8s\x00"), g.bytes(g.IntN(4000))...)
	case 4:
		return g.bytes(g.IntN(100_000))
	case 5:
		return []byte(`[{"op":"copy","from":"","path":"/a"},{"op":"move","from":"/metadata","path":"/metadata/labels/a"},{"op":"test","path":"/` + strings.Repeat("~1", 2000) + `"}]`)
	case 6:
		return []byte("a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: &d [*c,*c]\ne: &e [*d,*d]\nf: [*e,*e,*e,*e]\n")
	case 7:
		return []byte(`{"metadata":{"name":null,"labels":[],"annotations":{"a":1},"finalizers":{},"ownerReferences":[{}],"creationTimestamp":"never","managedFields":[{"fieldsV1":{"f:":{}}}]}}`)
	case 8:
		return []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"generateName":"` + strings.Repeat("é", 200) + `","namespace":"../../x"},"data":{"\ud800":"\udfff"}}`)
	case 9:
		return []byte(`{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":7},"gracePeriodSeconds":"soon"}`)
	case 10:
		return []byte(`{"spec":{"token":"` + strings.Repeat("a.", 5000) + `","request":"` + strings.Repeat("A", 5000) + `"}}`)
	default:
		return []byte(`{"a":` + strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 301))
	}
}

func (g garbage) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.Uint32())
	}

	return b
}

// request is one of them. Some cannot be sent by this client, which then says so.
func (g garbage) request(ctx context.Context) (*http.Request, error) {
	path := pick(g, garbagePaths)
	switch g.IntN(8) {
	case 0:
		path += "/" + strings.Repeat("%2e%2e%2f", g.IntN(50))
	case 1:
		path = "/" + fmt.Sprintf("%%%02x", g.bytes(1)) + path
	case 2:
		path += strings.Repeat("/a", g.IntN(3000))
	}
	r, err := http.NewRequestWithContext(ctx, pick(g, garbageMethods), g.host+path, bytes.NewReader(g.body()))
	if err != nil {
		return nil, err
	}
	r.URL.RawQuery = pick(g, garbageQueries)
	r.Header["Content-Type"] = []string{pick(g, garbageTypes)}
	r.Header["Accept"] = []string{pick(g, garbageTypes)}
	switch g.IntN(10) {
	case 0:
		r.Header.Set("Impersonate-User", "system:kube-controller-manager")
	case 1:
		r.Header.Set("Impersonate-Extra-%zz", "x")
	case 2:
		r.Header.Set("Authorization", "Bearer "+strings.Repeat("e", g.IntN(10_000)))
	case 3:
		r.Header.Set("X-Padding", strings.Repeat("p", g.IntN(900_000)))
	case 4:
		r.Header.Set("Upgrade", "SPDY/3.1")
		r.Header.Set("Connection", "Upgrade")
	case 5:
		r.Header.Set("Range", "bytes=5-1")
	}

	return r, nil
}

// answers counts the answers by their status, with an example of each.
type answers struct {
	mutex    sync.Mutex
	count    map[int]int
	examples map[int]string
	failures int
}

func (a *answers) add(status int, example string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.count[status]++
	if _, known := a.examples[status]; !known {
		a.examples[status] = example
	}
}

// TestGarbage sends ten thousand requests without sense, half of them as an administrator, who gets past all filters. Each is answered
// as a mistake of the client or done; none is a fault of the server, and another client does not notice.
//
//nolint:paralleltest // It uses all processors.
func TestGarbage(t *testing.T) {
	const requests, senders = 10_000, 20
	g := start(t, t.TempDir())
	other := g.witness(t, "garbage")
	got := &answers{count: map[int]int{}, examples: map[int]string{}}
	group, ctx := errgroup.WithContext(t.Context())
	for sender := range senders {
		config := g.config
		if sender%2 == 0 {
			config = g.anonymous()
		}
		group.Go(func() error {
			return got.send(ctx, config, garbage{Rand: rand.New(rand.NewPCG(1, uint64(sender))), host: g.config.Host}, requests/senders)
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	faults := map[int]string{}
	for _, status := range slices.Sorted(maps.Keys(got.count)) {
		t.Logf("%5d answers with %d", got.count[status], status)
		// The server of a test may be built without a web UI, and then it says that this is not implemented.
		if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable && status != http.StatusNotImplemented {
			faults[status] = got.examples[status]
		}
	}
	if diff := cmp.Diff(map[int]string{}, faults); diff != "" {
		t.Errorf("no request is a fault of the server: statuses with an example (-want +got):\n%s", diff)
	}
	t.Logf("%5d were not sent, or had no answer", got.failures)
	other.end(t)
}

func (a *answers) send(ctx context.Context, config *rest.Config, g garbage, count int) error {
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	c.Timeout = 30 * time.Second
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for range count {
		r, err := g.request(ctx)
		if err != nil {
			a.fail()

			continue
		}
		response, err := c.Do(r)
		if err != nil {
			if a.fail(); ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("%s %s: no answer: %w", r.Method, shortened(r.URL.String()), err)
			}

			continue
		}
		text, _ := io.ReadAll(io.LimitReader(response.Body, 10_000))
		response.Body.Close() //nolint:errcheck // Nothing is lost.
		a.add(response.StatusCode, fmt.Sprintf("%s %s (%s): %s", r.Method, shortened(r.URL.String()), shortened(r.Header.Get("Content-Type")), shortened(string(text))))
	}

	return nil
}

func (a *answers) fail() {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.failures++
}

func shortened(text string) string { return text[:min(len(text), 300)] }
