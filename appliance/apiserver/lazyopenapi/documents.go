// SPDX-License-Identifier: Apache-2.0

// Package lazyopenapi serves OpenAPI documents that are built when a client first asks for them. Few clients ever ask, and
// building all documents takes a fifth of the start of a server and tens of megabytes.
package lazyopenapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	restful "github.com/emicklei/go-restful/v3"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/apiserver/pkg/server/routes"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/handler3"
)

const (
	version2, version3 = "/openapi/v2", "/openapi/v3"
	// etagHeader is the header with the hash of a document.
	etagHeader = "Etag"
)

// Serve registers the documents of the web services of a container, which must all have been added. It drops the definitions
// of the second configuration and builds them again when they are needed.
func Serve(container *restful.Container, into *mux.PathRecorderMux, v2 *common.Config, v3 *common.OpenAPIV3Config) {
	v3.Definitions = nil
	v3.GetDefinitions = untilCollected(v3.GetDefinitions)
	whole := sync.OnceValue(func() http.Handler {
		rendered := mux.NewPathRecorderMux("openapi")
		routes.OpenAPI{Config: v2}.InstallV2(container, rendered)

		return rendered
	})
	into.Handle(version2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { whole().ServeHTTP(w, r) }))

	groups := documents{}
	for _, service := range container.RegisteredWebServices() {
		path := strings.TrimPrefix(service.RootPath(), "/")
		groups[path] = &document{build: sync.OnceValue(func() *handler3.OpenAPIService {
			alone := restful.NewContainer().Add(service)

			return routes.OpenAPI{V3Config: v3}.InstallV3(alone, mux.NewPathRecorderMux(path))
		})}
	}
	into.Handle(version3, http.HandlerFunc(groups.serveIndex))
	into.HandlePrefix(version3+"/", http.HandlerFunc(groups.serveDocument))
}

// untilCollected makes definitions be built once for documents that are requested one after the other: they are kept
// until the next garbage collection.
func untilCollected(build common.GetOpenAPIDefinitions) common.GetOpenAPIDefinitions {
	var mutex sync.Mutex
	var kept weak.Pointer[map[string]common.OpenAPIDefinition]

	return func(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
		mutex.Lock()
		defer mutex.Unlock()
		if known := kept.Value(); known != nil {
			return *known
		}
		built := build(ref)
		kept = weak.Make(&built)

		return built
	}
}

// documents are the documents of OpenAPI v3, one for each web service, by their paths.
type documents map[string]*document

// document is the document of one web service.
type document struct {
	build func() *handler3.OpenAPIService
	// hash is the hash of the content, empty until the document has been requested.
	hash atomic.Pointer[string]
}

// serveIndex lists the documents. The URL of a document that was never requested has no hash: clients revalidate their copies
// of it by the ETag. With a hash they can keep it for good.
func (d documents) serveIndex(w http.ResponseWriter, _ *http.Request) {
	index := handler3.OpenAPIV3Discovery{Paths: make(map[string]handler3.OpenAPIV3DiscoveryGroupVersion, len(d))}
	for path, document := range d {
		location := url.URL{Path: version3 + "/" + path}
		if hash := document.hash.Load(); hash != nil {
			location.RawQuery = url.Values{"hash": {*hash}}.Encode()
		}
		index.Paths[path] = handler3.OpenAPIV3DiscoveryGroupVersion{ServerRelativeURL: location.String()}
	}
	body, err := json.Marshal(index)
	if err != nil {
		http.Error(w, fmt.Sprintf("encode index of OpenAPI documents: %v", err), http.StatusInternalServerError)

		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // The client is gone if this fails.
}

func (d documents) serveDocument(w http.ResponseWriter, r *http.Request) {
	document, found := d[strings.TrimPrefix(r.URL.Path, version3+"/")]
	if !found {
		http.NotFound(w, r)

		return
	}
	document.build().HandleGroupVersion(w, r)
	if hash, err := strconv.Unquote(w.Header().Get(etagHeader)); err == nil {
		document.hash.Store(&hash)
	}
}
