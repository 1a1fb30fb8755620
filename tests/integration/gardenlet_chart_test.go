// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// chartRegistry runs a registry with TLS and a password, which has the chart in demo:v1.
func chartRegistry(t *testing.T, packed []byte, password string) (host string, authority []byte) {
	t.Helper()
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, given, _ := r.BasicAuth(); given != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="charts"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	host = server.Listener.Addr().String()
	ref, err := name.ParseReference(host + "/demo:v1")
	if err != nil {
		t.Fatal(err)
	}
	artifact, err := mutate.AppendLayers(empty.Image, static.NewLayer(packed, "application/vnd.cncf.helm.chart.content.v1.tar+gzip"))
	if err != nil {
		t.Fatal(err)
	}
	credentials := &authn.Basic{Username: "ali", Password: password}
	if err := remote.Write(ref, artifact, remote.WithTransport(server.Client().Transport), remote.WithAuth(credentials)); err != nil {
		t.Fatal(err)
	}
	return host, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// inRole is an object of the namespace garden with a role.
func inRole(name, role string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "garden", Name: name, Labels: map[string]string{"gardener.cloud/role": role}}
}

// TestChartOfARegistry_EXT_REG_7 has a gardenlet install a chart from a registry with a value from a Secret (EXT-REG-8). It reads the
// Secrets for that with the rights of its seed, which has them by the deployment alone (GAC-GR-6).
func TestChartOfARegistry_EXT_REG_7(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	const password = "open-sesame"
	host, authority := chartRegistry(t, extensionChart(t, map[string]string{"told.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: told}\ndata: {colour: {{ .Values.colour }}}\n"}), password)
	config := fmt.Sprintf(`{"auths":{%q:{"username":"ali","password":%q}}}`, host, password)
	paint := &corev1.Secret{ObjectMeta: inRole("paint", "resource-reference"), Data: map[string][]byte{"colour": []byte("red")}}
	n.garden.create(
		&corev1.Secret{ObjectMeta: inRole("pull", "helm-pull-secret"), Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{".dockerconfigjson": []byte(config)}},
		&corev1.Secret{ObjectMeta: inRole("authority", "oci-ca-bundle"), Data: map[string][]byte{"bundle.crt": authority}},
		paint,
		&gardencorev1.ControllerDeployment{ObjectMeta: named("", "demo"), Helm: &gardencorev1.HelmControllerDeployment{
			Values: &apiextensionsv1.JSON{Raw: []byte(`{"colour":"{{ .resources.paint.data.colour }}"}`)},
			OCIRepository: &gardencorev1.OCIRepository{
				Repository: new(host + "/demo"), Tag: new("v1"),
				PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}, CABundleSecretRef: &corev1.LocalObjectReference{Name: "authority"},
			},
		}, Resources: []gardencorev1.NamedResourceReference{{
			Name: "paint", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "paint"},
		}}},
		&gardencorev1beta1.ControllerRegistration{ObjectMeta: named("", "demo"), Spec: gardencorev1beta1.ControllerRegistrationSpec{
			Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{
				Policy: new(gardencorev1beta1.ControllerDeploymentPolicyAlways), DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: "demo"}},
			},
			Resources: []gardencorev1beta1.ControllerResource{
				{Kind: "Infrastructure", Type: "local"}, {Kind: "ControlPlane", Type: "local"}, {Kind: "Worker", Type: "local"}, {Kind: "DNSRecord", Type: "local"},
			},
		}},
	)
	n.invite(n.token(time.Hour))
	n.run(n.config("one"))
	n.manageResources()
	n.readySeed()
	installation := n.installation("demo")
	n.conditions(installation, map[gardencorev1beta1.ConditionType]string{"Valid": "True RegistrationValid", "Installed": "True InstallationSuccessful"})
	told := &corev1.ConfigMap{ObjectMeta: named("extension-"+installation.Name, "told")}
	n.seed.read(told)
	if diff := cmp.Diff(map[string]string{"colour": "red"}, told.Data); diff != "" {
		t.Errorf("what the chart of the registry says (-want +got):\n%s", diff)
	}
	n.garden.change(paint, func() { paint.Data["colour"] = []byte("blue") })
	n.garden.change(installation, func() { metav1.SetMetaDataAnnotation(&installation.ObjectMeta, "example.org/look", "again") })
	harness.Await(t, n.seed.Client, told, "other data is rolled out with the next pass", func(c *corev1.ConfigMap) error {
		return has(c.Data["colour"] == "blue", "data %v", c.Data)
	})
}
