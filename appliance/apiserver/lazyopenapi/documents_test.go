// SPDX-License-Identifier: Apache-2.0

package lazyopenapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	restful "github.com/emicklei/go-restful/v3"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/terrarium-garden/terrarium/appliance/apiserver/lazyopenapi"
)

const group = "apis/meadow.example.org/v1"

// served is a server of documents that counts how often models are asked for.
type served struct {
	http.Handler

	built int
}

func serve() *served {
	s := &served{}
	none := func(common.ReferenceCallback) map[string]common.OpenAPIDefinition {
		s.built++

		return map[string]common.OpenAPIDefinition{}
	}
	service := (&restful.WebService{}).Path("/" + group)
	service.Route(service.GET("/flowers").To(func(*restful.Request, *restful.Response) {}).Doc("list flowers"))
	paths := mux.NewPathRecorderMux("test")
	info := &spec.Info{InfoProps: spec.InfoProps{Title: "Meadow"}}
	operation := func(r common.Route) (string, []string, error) { return r.OperationName(), nil, nil }
	lazyopenapi.Serve(restful.NewContainer().Add(service), paths,
		&common.Config{Info: info, GetDefinitions: none, GetOperationIDAndTagsFromRoute: operation, DefaultResponse: &spec.Response{}},
		&common.OpenAPIV3Config{Info: info, GetDefinitions: none, GetOperationIDAndTagsFromRoute: operation, DefaultResponse: &spec3.Response{}})
	s.Handler = paths

	return s
}

func (s *served) get(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	request.Header.Set("Accept", "application/json")
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, request)

	return answer
}

// location returns the URL that the index has for the document.
func (s *served) location(t *testing.T) string {
	t.Helper()
	index := handler3.OpenAPIV3Discovery{}
	if err := json.Unmarshal(s.get(t, "/openapi/v3").Body.Bytes(), &index); err != nil {
		t.Fatal(err)
	}

	return index.Paths[group].ServerRelativeURL
}

func TestServe(t *testing.T) {
	t.Parallel()

	s := serve()
	if diff := cmp.Diff("/openapi/v3/"+group, s.location(t)); diff != "" {
		t.Errorf("The hash of a document that was never requested is not known.\nURL (-want +got):\n%s", diff)
	}
	if s.built != 0 {
		t.Errorf("The index needs no models.\nbuilt: got %d times, want 0", s.built)
	}
	answer := s.get(t, s.location(t))
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "/flowers") || s.built == 0 {
		t.Errorf("A document is built when it is requested.\ngot %d, %s", answer.Code, answer.Body)
	}
	location := s.location(t)
	if diff := cmp.Diff("/openapi/v3/"+group+"?hash="+strings.Trim(answer.Header().Get("Etag"), `"`), location); diff != "" {
		t.Errorf("From then on its URL has the hash.\nURL (-want +got):\n%s", diff)
	}
	if got := s.get(t, location); got.Header().Get("Cache-Control") != "public, immutable" || got.Body.String() != answer.Body.String() {
		t.Errorf("A document with its hash can be kept.\ngot %v, %s", got.Header(), got.Body)
	}
	if got := s.get(t, "/openapi/v3/apis/other.example.org/v1"); got.Code != http.StatusNotFound {
		t.Errorf("There are no documents of other groups.\ngot %d, want 404", got.Code)
	}
	for range 2 {
		if got := s.get(t, "/openapi/v2"); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "/flowers") {
			t.Errorf("Version 2 has one document for all groups.\ngot %d, %s", got.Code, got.Body)
		}
	}
}
