// SPDX-License-Identifier: Apache-2.0

package webui_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// fewFields requests few fields of objects, in all the ways that the API takes for a watch, and in some that it takes for a list. Events
// come as they happen, so none of them is kept for later.
func fewFields(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		create(t, g, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "few", Labels: map[string]string{"few": "fields"}}, Data: map[string]string{"much": "data"},
		})
		b := open(t, g)
		b.signIn("code", newCode(t, g))
		const configMaps, old = "/ui/kube/api/v1/namespaces/default/configmaps?labelSelector=few", "/ui/kube/api/v1/watch/namespaces/default/configmaps"
		for path, watch := range map[string]bool{
			configMaps:                       false,
			configMaps + "&watch=0":          false,
			configMaps + "&watch=False":      false,
			configMaps + "&Watch=1":          false,
			configMaps + "&watch=1":          true,
			configMaps + "&watch=true":       true,
			configMaps + "&watch=yes":        true,
			configMaps + "&watch=f":          true,
			configMaps + "&watch=no":         true,
			configMaps + "&watch=":           true,
			configMaps + "&watch":            true,
			configMaps + "&w%61tch=off":      true,
			configMaps + "&watch=2&watch=0":  true,
			old + "?labelSelector=few":       true,
			old + "/few":                     true,
			old + "/few?watch=false&limit=1": true,
			configMaps + "&watch=x&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan": true,
		} {
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
				defer cancel()
				response, err := b.Do(b.request(ctx, http.MethodGet, path, "", "X-Terrarium-Fields", `{"metadata":{"labels":true}}`))
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close() //nolint:errcheck // nothing is written
				lines := bufio.NewScanner(response.Body)
				if !lines.Scan() {
					t.Fatalf("the answer %d comes at once; got %v", response.StatusCode, lines.Err())
				}
				var got struct {
					Object *corev1.ConfigMap
					Items  []corev1.ConfigMap
				}
				if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
					t.Fatalf("decode %q: %v", lines.Bytes(), err)
				}
				objects := got.Items
				if got.Object != nil {
					objects = append(objects, *got.Object)
				}
				if (got.Object != nil) != watch || len(objects) != 1 {
					t.Fatalf("the API says what is a watch; got %s, want a watch: %t", lines.Bytes(), watch)
				}
				want := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
					Namespace: "default", Name: "few", Labels: map[string]string{"few": "fields"}, UID: objects[0].UID, ResourceVersion: objects[0].ResourceVersion,
				}}
				if diff := cmp.Diff(want, objects[0]); diff != "" {
					t.Errorf("fields that nobody asked for are left out (-want +got):\n%s", diff)
				}
			})
		}
	}
}
