// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// binaryClient speaks protobuf and nothing else.
func binaryClient(t *testing.T, g *harness.Garden) *rest.RESTClient {
	t.Helper()
	config := rest.CopyConfig(g.Config)
	config.APIPath, config.GroupVersion = "/apis", &gardencorev1beta1.GroupVersion
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	config.NegotiatedSerializer = serializer.NewCodecFactory(g.Scheme).WithoutConversion()
	c, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// protobuf takes an object through its life with a client that speaks nothing else.
func protobuf(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		c := binaryClient(t, g)
		const kind = "exposureclasses"
		class := &gardencorev1beta1.ExposureClass{
			ObjectMeta: metav1.ObjectMeta{Name: "binary"}, Handler: "internet",
			Scheduling: &gardencorev1beta1.ExposureClassScheduling{
				SeedSelector: &gardencorev1beta1.SeedSelector{ProviderTypes: []string{"local"}, LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}},
				Tolerations:  []gardencorev1beta1.Toleration{{Key: "k", Value: new("v")}},
			},
		}
		created := &gardencorev1beta1.ExposureClass{}
		if err := c.Post().Resource(kind).Body(class).Do(t.Context()).Into(created); err != nil {
			t.Fatalf("Post(): %v", err)
		}
		if created.UID == "" || created.Handler != class.Handler || !cmp.Equal(created.Scheduling, class.Scheduling) {
			t.Errorf("What was sent is what there is: got %v", created)
		}
		ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
		defer cancel()
		events, err := c.Get().Resource(kind).VersionedParams(&metav1.ListOptions{
			Watch: true, ResourceVersion: created.ResourceVersion, FieldSelector: "metadata.name=binary",
		}, metav1.ParameterCodec).Watch(ctx)
		if err != nil {
			t.Fatalf("Watch(): %v", err)
		}
		defer events.Stop()

		steps := []struct {
			name    string
			request *rest.Request
		}{
			{"merge-patch", c.Patch(types.MergePatchType).Resource(kind).Name("binary").Body([]byte(`{"metadata":{"labels":{"step":"merge-patch"}}}`))},
			{"strategic-patch", c.Patch(types.StrategicMergePatchType).Resource(kind).Name("binary").Body([]byte(`{"metadata":{"labels":{"step":"strategic-patch"}}}`))},
			{"apply", c.Patch(types.ApplyYAMLPatchType).Resource(kind).Name("binary").Param("fieldManager", "binary").Param("force", "true").
				Body([]byte(`{"apiVersion":"core.gardener.cloud/v1beta1","kind":"ExposureClass","metadata":{"name":"binary","labels":{"step":"apply"}},"handler":"internet"}`))},
		}
		for _, step := range steps {
			got := &gardencorev1beta1.ExposureClass{}
			if err := step.request.Do(t.Context()).Into(got); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			if got.Labels["step"] != step.name {
				t.Errorf("%s: labels %v", step.name, got.Labels)
			}
			for event := range events.ResultChan() {
				// A controller of the garden may change the object as well.
				seen, ok := event.Object.(*gardencorev1beta1.ExposureClass)
				if event.Type != watch.Modified || !ok || !cmp.Equal(got.Scheduling, seen.Scheduling) {
					t.Fatalf("%s: a watch in protobuf tells of it: got %s %v", step.name, event.Type, event.Object)
				}
				if seen.ResourceVersion == got.ResourceVersion {
					break
				}
			}
		}
		harness.Eventually(t, "the object is replaced", func(ctx context.Context) error {
			got := &gardencorev1beta1.ExposureClass{}
			if err := c.Get().Resource(kind).Name("binary").Do(ctx).Into(got); err != nil {
				return err
			}
			got.Labels["step"] = "update"

			return c.Put().Resource(kind).Name("binary").Body(got).Do(ctx).Into(got)
		})
		list := &gardencorev1beta1.ExposureClassList{}
		for _, when := range []string{"at first", "again"} {
			if err := c.Get().Resource(kind).Do(t.Context()).Into(list); err != nil || len(list.Items) == 0 {
				t.Errorf("List() %s: %d items, %v", when, len(list.Items), err)
			}
		}
		inJSON := &gardencorev1beta1.ExposureClass{}
		if err := g.Client.Get(t.Context(), client.ObjectKey{Name: "binary"}, inJSON); err != nil || !cmp.Equal(inJSON.Scheduling, class.Scheduling) {
			t.Errorf("Both encodings tell the same: got %v, %v", inJSON, err)
		}
		if err := c.Delete().Resource(kind).Name("binary").Body(&metav1.DeleteOptions{}).Do(t.Context()).Error(); err != nil {
			t.Errorf("Delete(): %v", err)
		}
		err = c.Post().Resource(kind).Body([]byte("k8s\x00\x0a\xff\xff\xff\xff\x07")).SetHeader("Content-Type", runtime.ContentTypeProtobuf).Do(t.Context()).Error()
		if !apierrors.IsBadRequest(err) {
			t.Errorf("Broken bytes are the sender's fault.\nPost(): got %v, want BadRequest", err)
		}
	}
}

// encodings tries which form a client gets that takes several.
func encodings(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		transport, err := rest.HTTPClientFor(g.Config)
		if err != nil {
			t.Fatal(err)
		}
		mustCreate(t, g, &gardencorev1beta1.ExposureClass{ObjectMeta: metav1.ObjectMeta{Name: "encoded"}, Handler: "a"})
		const (
			json, binary = "application/json", "application/vnd.kubernetes.protobuf"
			core         = "/apis/core.gardener.cloud/v1beta1/"
			settings     = "/apis/settings.gardener.cloud/v1alpha1/"
		)
		for name, tc := range map[string]struct {
			reason, path, accept, want string
			status                     int
		}{
			"either":       {"Who prefers protobuf gets it.", core + "exposureclasses", binary + "," + json, binary, http.StatusOK},
			"JSON first":   {"Who prefers JSON gets that.", core + "exposureclasses/encoded", json + "," + binary, json, http.StatusOK},
			"nothing said": {"A plain client reads JSON.", core + "exposureclasses", "", json, http.StatusOK},
			"table":        {"kubectl gets a table.", core + "exposureclasses", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", json, http.StatusOK},
			"metadata": {
				"The loops of Kubernetes read metadata only.", core + "exposureclasses",
				binary + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", binary, http.StatusOK,
			},
			"no protobuf":    {"Kinds without protobuf are JSON for clients that accept both.", settings + "clusteropenidconnectpresets", binary + "," + json, json, http.StatusOK},
			"never protobuf": {"Nobody gets what there is not; the refusal itself can be read.", settings + "clusteropenidconnectpresets", binary, binary, http.StatusNotAcceptable},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.Config.Host+tc.path, nil)
				if err != nil {
					t.Fatal(err)
				}
				if tc.accept != "" {
					request.Header.Set("Accept", tc.accept)
				}
				response, err := transport.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = response.Body.Close() }()
				body, err := io.ReadAll(response.Body)
				if err != nil {
					t.Fatal(err)
				}
				got := response.Header.Get("Content-Type")
				if response.StatusCode != tc.status || !strings.HasPrefix(got, tc.want) || bytes.HasPrefix(body, []byte("k8s\x00")) != (tc.want == binary) {
					t.Errorf("%s\nGET %s: got %d, %s, %.40q", tc.reason, tc.path, response.StatusCode, got, body)
				}
			})
		}
	}
}

// TestStoreOfBefore starts with a database in which garden kinds are JSON, as they were before there was protobuf.
func TestStoreOfBefore(t *testing.T) {
	t.Parallel()
	const preset = `{"kind":"ClusterOpenIDConnectPreset"`
	g := harness.Start(t)
	mustCreate(t, g,
		&gardencorev1beta1.ExposureClass{ObjectMeta: metav1.ObjectMeta{Name: "present"}, Handler: "a"},
		&gardensettingsv1alpha1.ClusterOpenIDConnectPreset{
			ObjectMeta: metav1.ObjectMeta{Name: "preset"},
			Spec: gardensettingsv1alpha1.ClusterOpenIDConnectPresetSpec{OpenIDConnectPresetSpec: gardensettingsv1alpha1.OpenIDConnectPresetSpec{
				Server: gardensettingsv1alpha1.KubeAPIServerOpenIDConnect{ClientID: "a", IssuerURL: "https://issuer.example.org"}, Weight: 1,
			}},
		},
	)
	g.Stop(t)
	var key string
	store(t, g.DataDir, func(ctx context.Context, db *clientv3.Client) {
		var value []byte
		key, value = entry(ctx, t, db, "exposureclasses/present")
		if !bytes.HasPrefix(value, []byte("k8s\x00")) {
			t.Errorf("Garden kinds are stored as protobuf, got %.40q", value)
		}
		if _, value := entry(ctx, t, db, "clusteropenidconnectpresets/preset"); !bytes.HasPrefix(value, []byte(preset)) {
			t.Errorf("Kinds without protobuf are stored as JSON, got %.40q", value)
		}
		old := `{"kind":"ExposureClass","apiVersion":"core.gardener.cloud/v1beta1","metadata":{"name":"past","uid":"9d8f5b4e-5b0a-4a7e-8a55-000000000001",` +
			`"creationTimestamp":"2026-01-01T00:00:00Z"},"handler":"b","scheduling":{"tolerations":[{"key":"k"}]}}` + "\n"
		if _, err := db.Put(ctx, strings.Replace(key, "present", "past", 1), old); err != nil {
			t.Fatal(err)
		}
	})

	again := harness.Start(t, harness.WithDataDir(g.DataDir))
	past := &gardencorev1beta1.ExposureClass{}
	if err := again.Client.Get(t.Context(), client.ObjectKey{Name: "past"}, past); err != nil || past.Handler != "b" || len(past.Scheduling.Tolerations) != 1 {
		t.Fatalf("What was stored as JSON is read.\nGet(): got %v, %v", past, err)
	}
	if err := again.Client.Get(t.Context(), client.ObjectKey{Name: "preset"}, &gardensettingsv1alpha1.ClusterOpenIDConnectPreset{}); err != nil {
		t.Errorf("Get(): %v", err)
	}
	// The garden's own controller may write its finalizer meanwhile.
	before := past.DeepCopy()
	past.Labels = map[string]string{"seen": "yes"}
	if err := again.Client.Patch(t.Context(), past, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	again.Stop(t)
	store(t, g.DataDir, func(ctx context.Context, db *clientv3.Client) {
		if _, value := entry(ctx, t, db, "exposureclasses/past"); !bytes.HasPrefix(value, []byte("k8s\x00")) {
			t.Errorf("The next write of an object changes how it is stored, got %.40q", value)
		}
	})
}

// store opens the database of objects of a garden that does not run.
func store(t *testing.T, dataDir string, use func(ctx context.Context, db *clientv3.Client)) {
	t.Helper()
	stores, err := kine.Start(t.Context(), kine.NewConfig(filepath.Join(dataDir, "db")))
	if err != nil {
		t.Fatal(err)
	}
	db, err := stores.Objects.Client()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	use(ctx, db)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if err := stores.Close(); err != nil {
		t.Error(err)
	}
}

// entry finds what is stored under a key with the given end.
func entry(ctx context.Context, t *testing.T, db *clientv3.Client, end string) (key string, value []byte) {
	t.Helper()
	found, err := db.Get(ctx, "/registry/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range found.Kvs {
		if strings.HasSuffix(string(kv.Key), end) {
			return string(kv.Key), kv.Value
		}
	}
	t.Fatalf("nothing is stored under %s", end)

	return "", nil
}
