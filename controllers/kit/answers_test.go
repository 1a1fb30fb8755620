// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// TestAnswers has the program of an owner answer behind the API server of the shoot: what it says without an end, or to lead the client
// elsewhere, is an error of that one request.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const list = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[]%s}`
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch name := strings.TrimPrefix(r.URL.Path, "/apis/own.example/v1/"); name {
		case "/api":
			_, _ = fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
		case "/apis":
			_, _ = fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"own.example",`,
				`"versions":[{"groupVersion":"own.example/v1","version":"v1"}],"preferredVersion":{"groupVersion":"own.example/v1","version":"v1"}}]}`)
		case "/apis/own.example/v1":
			var all []string
			for _, of := range []string{"short", "endless", "packed", "lure"} {
				all = append(all, fmt.Sprintf(`{"name":%q,"namespaced":true,"kind":%q,"verbs":["list"]}`, of, of))
			}
			_, _ = fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"own.example/v1","resources":[%s]}`, strings.Join(all, ","))
		case "short":
			_, _ = fmt.Fprintf(w, list, `,"said":"little"`)
		case "lure":
			http.Redirect(w, r, "/apis/own.example/v1/short", http.StatusFound)
		default:
			if name == "packed" && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				t.Error("A client that accepts packed answers has them unpacked in its memory.")
			}
			_, _ = fmt.Fprintf(w, list[:len(list)-3], `,"said":"`)
			for piece := bytes.Repeat([]byte("a"), 1<<20); ; { // The client ends it.
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	h := newHotbed(t)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	kubeconfig, err := secrets.Kubeconfig(secrets.KubeconfigSpec{Context: "a", Server: server.URL, CA: authority, Token: "key"})
	if err != nil {
		t.Fatal(err)
	}
	h.admit(t, kubeconfig)
	shoot := h.get(t, sprout)
	for kind, want := range map[string]string{"short": "", "endless": "more than 32768 KiB", "packed": "more than 32768 KiB", "lure": "redirection"} {
		all := &metav1.PartialObjectMetadataList{}
		all.SetGroupVersionKind(schema.GroupVersionKind{Group: "own.example", Version: "v1", Kind: kind})
		err := shoot.List(t.Context(), all)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("List(%s) = %v, want %q", kind, err, want)
		}
		if large := strings.HasPrefix(want, "more than"); errors.Is(err, kit.ErrTooLarge) != large {
			t.Errorf("List(%s) = %v; that it is too large is %t", kind, err, large)
		}
	}
}
