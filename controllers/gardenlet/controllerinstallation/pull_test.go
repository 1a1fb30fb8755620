// SPDX-License-Identifier: Apache-2.0

package controllerinstallation_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
)

// openRegistry starts a registry with TLS that wants the password, with a chart in charts/demo:v1.
func openRegistry(t *testing.T, chart []byte, password string) (host, authority string) {
	t.Helper()
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, given, _ := r.BasicAuth(); given != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="charts"`)
			http.Error(w, "not "+given, http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(server.Close)
	host = server.Listener.Addr().String()
	artifact, err := mutate.AppendLayers(empty.Image, static.NewLayer(chart, "application/vnd.cncf.helm.chart.content.v1.tar+gzip"))
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(host + "/charts/demo:v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, artifact, remote.WithTransport(server.Client().Transport), remote.WithAuth(&authn.Basic{Username: "ali", Password: password})); err != nil {
		t.Fatal(err)
	}
	return host, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

// TestPulls_EXT_REG_7 installs a chart from a registry, with the Secrets that the deployment names. As long as something is missing, it is
// said what, and tried again.
func TestPulls_EXT_REG_7(t *testing.T) {
	t.Parallel()
	const password = "open-sesame"
	host, authority := openRegistry(t, packed(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: told}\n"), password)
	d := deployment(gardencorev1.HelmControllerDeployment{OCIRepository: &gardencorev1.OCIRepository{
		Repository: new(host + "/charts/demo"), Tag: new("v1"),
		PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}, CABundleSecretRef: &corev1.LocalObjectReference{Name: "ca"},
	}})
	docker := func(given string) map[string]string {
		return map[string]string{".dockerconfigjson": fmt.Sprintf(`{"auths":{%q:{"username":"ali","password":%q}}}`, host, given)}
	}
	s := newStage(t, d)
	for _, step := range []struct {
		reason string
		do     func()
		want   string
	}{
		{reason: "no pull Secret", do: func() {}, want: `Secret "pull" in namespace "garden" of the garden does not exist`},
		{reason: "a Secret for something else", do: func() { s.create(secret("pull", "resource-reference", docker(password))) }, want: "needs the label gardener.cloud/role=helm-pull-secret"},
		{reason: "a Secret with another key", do: func() { s.replace(secret("pull", "helm-pull-secret", map[string]string{"password": password})) }, want: `no key ".dockerconfigjson"`},
		{reason: "no certificate", do: func() { s.replace(secret("pull", "helm-pull-secret", docker("wrong"+password))) }, want: `Secret "ca" in namespace "garden" of the garden does not exist`},
		{reason: "a certificate for something else", do: func() { s.create(secret("ca", "helm-pull-secret", map[string]string{"bundle.crt": authority})) }, want: "needs the label gardener.cloud/role=oci-ca-bundle"},
		{reason: "a wrong password", do: func() { s.replace(secret("ca", "oci-ca-bundle", map[string]string{"bundle.crt": authority})) }, want: "refuses the credentials of the pull Secret"},
	} {
		step.do()
		valid, err := s.pass()
		if got := string(valid.Status) + " " + valid.Reason; got != "False OCIChartCannotBePulled" || !strings.Contains(valid.Message, step.want) {
			t.Errorf("%s: got condition %s: %s, want False OCIChartCannotBePulled with %q", step.reason, got, valid.Message, step.want)
		}
		if strings.Contains(valid.Message, password) {
			t.Errorf("%s: the condition tells the password: %s", step.reason, valid.Message)
		}
		if err == nil || errors.Is(err, reconcile.TerminalError(nil)) {
			t.Errorf("%s: the pass ends with %v, and nothing else would try again", step.reason, err)
		}
	}

	s.replace(secret("pull", "helm-pull-secret", docker(password)))
	if valid, err := s.pass(); valid.Status != "True" || err != nil {
		t.Errorf("with all Secrets: got condition %s %s: %s, error %v", valid.Status, valid.Reason, valid.Message, err)
	}
	if got := s.installed(); !strings.Contains(got, "name: told") {
		t.Errorf("with all Secrets: the resource manager is to apply\n%s", got)
	}

	s.change(d, func() { d.Helm.OCIRepository = &gardencorev1.OCIRepository{Ref: new("no name")} })
	if valid, err := s.pass(); valid.Reason != "OCIChartCannotBePulled" || !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("with a name that is none: got condition %s %s, error %v, want that it is not tried again", valid.Status, valid.Reason, err)
	}
}

// TestTriesAgain_EXT_REG_7 gets something that is no chart. Its tag may get a chart, so it is tried again; what is in the deployment itself is
// not.
func TestTriesAgain_EXT_REG_7(t *testing.T) {
	t.Parallel()
	const password = "open-sesame"
	host, authority := openRegistry(t, []byte("no chart"), password)
	config := map[string]string{".dockerconfigjson": fmt.Sprintf(`{"auths":{%q:{"username":"ali","password":%q}}}`, host, password)}
	for _, tc := range []struct {
		helm  gardencorev1.HelmControllerDeployment
		final bool
	}{
		{helm: gardencorev1.HelmControllerDeployment{RawChart: []byte("no chart")}, final: true},
		{helm: gardencorev1.HelmControllerDeployment{OCIRepository: &gardencorev1.OCIRepository{
			Ref:           new(host + "/charts/demo:v1"),
			PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}, CABundleSecretRef: &corev1.LocalObjectReference{Name: "ca"},
		}}},
	} {
		s := newStage(t, deployment(tc.helm), secret("pull", "helm-pull-secret", config), secret("ca", "oci-ca-bundle", map[string]string{"bundle.crt": authority}))
		valid, err := s.pass()
		if valid.Reason != "ChartInformationInvalid" || errors.Is(err, reconcile.TerminalError(nil)) != tc.final {
			t.Errorf("got condition %s: %s, error %v, want ChartInformationInvalid and that it is final: %t", valid.Reason, valid.Message, err, tc.final)
		}
	}
}
