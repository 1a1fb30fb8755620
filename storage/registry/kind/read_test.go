// SPDX-License-Identifier: Apache-2.0

package kind_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/terrarium-garden/terrarium/storage/registry/bytecache"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

func TestOnlyAnAnswerIsRemembered(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		request *genericapirequest.RequestInfo
		want    bool
	}{
		"get":         {"the client gets what is stored", &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "get", APIGroup: "core.gardener.cloud", Resource: "internalsecrets", Name: "a"}, true},
		"subresource": {"a part is another thing", &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "get", APIGroup: "core.gardener.cloud", Resource: "internalsecrets", Subresource: "status", Name: "a"}, false},
		"other name":  {"what is read for another answer", &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "get", APIGroup: "core.gardener.cloud", Resource: "internalsecrets", Name: "b"}, false},
		"update":      {"what is read to be changed", &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "update", APIGroup: "core.gardener.cloud", Resource: "internalsecrets", Name: "a"}, false},
		"no request":  {"what the server reads for itself", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := kindtest.Context(t, namespace, "rose")
			s, secrets := store(t)
			secrets.MustCreate(ctx, &secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}, Type: "Opaque"})
			if tc.request != nil {
				ctx = genericapirequest.WithRequestInfo(ctx, tc.request)
			}
			got, err := s.Get(ctx, "a", &metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			_, remembered := got.(bytecache.Object)
			if diff := cmp.Diff(tc.want, remembered); diff != "" {
				t.Errorf("%s: got %T\nremembered (-want +got):\n%s", tc.reason, got, diff)
			}
			table, err := s.ConvertToTable(ctx, got, nil)
			if err != nil || len(table.Rows) != 1 {
				t.Errorf("either can be printed: %v, %v", table, err)
			}
		})
	}
}
