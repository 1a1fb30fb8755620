// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// progressMark stands in an event where its progress is written.
const progressMark = `"progress":-1`

// torrent is a front of the garden that can send many events. The garden itself cannot be made to change so many objects a second, because each
// change is written to the disk, so the front answers the watches of all shoots. It passes on everything else.
type torrent struct {
	http.Handler

	// events are changes of each of the shoots.
	events [][]byte
	// orders are passed to the watch that sends the events.
	orders chan order
}

// order is how many events to send, and how fast.
type order struct {
	rate, seconds int
	sent          chan<- string
}

// flood starts the front and returns its URL. POST /flood?rate=EVENTS-A-SECOND&seconds=SECONDS returns once the events have been sent.
func (w *world) flood() string {
	w.t.Helper()
	target, err := url.Parse(w.Server)
	if err != nil {
		w.t.Fatal(err)
	}
	garden, err := rest.HTTPClientFor(w.Anonymous())
	if err != nil {
		w.t.Fatal(err)
	}
	front := &torrent{events: w.changes(), orders: make(chan order), Handler: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // The garden compares it with the origin.
		},
		Transport: garden.Transport, FlushInterval: -1,
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /flood", front.order)
	mux.HandleFunc("/", func(out http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/v1beta1/shoots") && r.URL.Query().Get("watch") == "true" {
			front.watch(out, r)
		} else {
			front.ServeHTTP(out, r)
		}
	})
	server := httptest.NewUnstartedServer(mux)
	server.EnableHTTP2 = true // Browsers open few connections of the older kind, and watches keep theirs.
	server.StartTLS()
	w.t.Cleanup(func() { server.CloseClientConnections(); server.Close() })

	return server.URL
}

// changes returns an event for each shoot.
func (w *world) changes() [][]byte {
	w.t.Helper()
	text, err := w.asAdmin(w.t.Context(), http.MethodGet, "/apis/core.gardener.cloud/v1beta1/shoots", "", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	list := struct {
		Metadata struct{ ResourceVersion string }
		Items    []map[string]any
	}{}
	if err := json.Unmarshal(text, &list); err != nil {
		w.t.Fatal(err)
	}
	var events [][]byte
	for _, shoot := range list.Items {
		shoot["metadata"].(map[string]any)["resourceVersion"] = list.Metadata.ResourceVersion
		status, ok := shoot["status"].(map[string]any)
		if !ok {
			continue
		}
		status["lastOperation"] = map[string]any{
			"type": "Reconcile", "state": "Processing", "progress": -1, "description": "Waiting", "lastUpdateTime": time.Now().UTC().Format(time.RFC3339),
		}
		event, err := json.Marshal(map[string]any{"type": "MODIFIED", "object": shoot})
		if err != nil {
			w.t.Fatal(err)
		}
		events = append(events, append(event, '\n'))
	}

	return events
}

func (f *torrent) order(out http.ResponseWriter, r *http.Request) {
	sent := make(chan string, 1)
	rate, _ := strconv.Atoi(r.URL.Query().Get("rate"))
	seconds, _ := strconv.Atoi(r.URL.Query().Get("seconds"))
	select {
	case f.orders <- order{rate: rate, seconds: seconds, sent: sent}:
		_, _ = out.Write([]byte(<-sent))
	case <-r.Context().Done():
	}
}

// watch sends events when it is told to, and keeps the connection.
func (f *torrent) watch(out http.ResponseWriter, r *http.Request) {
	out.Header().Set("Content-Type", "application/json;stream=watch")
	out.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(out).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case o := <-f.orders:
			o.sent <- f.send(out, r, o)
		}
	}
}

// send sends events at an even rate, and says how many.
func (f *torrent) send(out http.ResponseWriter, r *http.Request, o order) string {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	began := time.Now()
	for sent, all := 0, o.rate*o.seconds; ; {
		due := min(all, int(time.Since(began).Seconds()*float64(o.rate)))
		for ; sent < due; sent++ {
			progress := fmt.Appendf(nil, `"progress":%d`, sent/len(f.events)%100)
			if _, err := out.Write(bytes.Replace(f.events[sent%len(f.events)], []byte(progressMark), progress, 1)); err != nil {
				return err.Error()
			}
		}
		_ = http.NewResponseController(out).Flush()
		if sent == all {
			return fmt.Sprintf("%d events within %s", sent, time.Since(began).Round(time.Millisecond))
		}
		select {
		case <-r.Context().Done():
			return "the watch has ended"
		case <-ticker.C:
		}
	}
}
