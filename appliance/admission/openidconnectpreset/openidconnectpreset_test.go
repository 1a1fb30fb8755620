// SPDX-License-Identifier: Apache-2.0

package openidconnectpreset_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/openidconnectpreset"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func selecting(pairs ...string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		s.MatchLabels[pairs[i]] = pairs[i+1]
	}
	return s
}

func spec(weight int32, shoots *metav1.LabelSelector) gardensettingsv1alpha1.OpenIDConnectPresetSpec {
	return gardensettingsv1alpha1.OpenIDConnectPresetSpec{
		Server: gardensettingsv1alpha1.KubeAPIServerOpenIDConnect{ClientID: "kubectl", IssuerURL: "https://x.y"},
		Weight: weight, ShootSelector: shoots,
	}
}

func preset(name string, weight int32, shoots *metav1.LabelSelector) *gardensettingsv1alpha1.OpenIDConnectPreset {
	p := &gardensettingsv1alpha1.OpenIDConnectPreset{ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: name}, Spec: spec(weight, shoots)}
	p.Spec.Server.UsernameClaim = new(name)
	return p
}

func cluster(projects, shoots *metav1.LabelSelector) *gardensettingsv1alpha1.ClusterOpenIDConnectPreset {
	p := &gardensettingsv1alpha1.ClusterOpenIDConnectPreset{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	p.Spec.OpenIDConnectPresetSpec, p.Spec.ProjectSelector = spec(1, shoots), projects
	p.Spec.Server.UsernameClaim = new("c")
	return p
}

func project(phase gardencorev1beta1.ProjectPhase) *gardencorev1beta1.Project {
	return admissiontest.Project(func(p *gardencorev1beta1.Project) {
		p.Labels, p.Status.Phase = map[string]string{"team": "a"}, phase
	})
}

func shoot(change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	return admissiontest.Shoot(append(change, func(s *gardencorev1beta1.Shoot) { s.Labels = map[string]string{"tier": "gold"} })...)
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	own := func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{OIDCConfig: &gardencorev1beta1.OIDCConfig{UsernameClaim: new("own")}}
	}
	structured := func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{StructuredAuthentication: &gardencorev1beta1.StructuredAuthentication{ConfigMapName: "c"}}
	}
	elsewhere := preset("elsewhere", 9, selecting())
	elsewhere.Namespace = "garden-other"
	ready := project(gardencorev1beta1.ProjectPhaseReady)
	for name, tc := range map[string]struct {
		reason  string
		rule    func(w *world.World) admission.Interface
		objects []kind.Object
		request admissiontest.Request
		want    string
	}{
		"API-OIDC-1 preset":         {reason: "a shoot without settings gets them", rule: openidconnectpreset.New, objects: []kind.Object{preset("a", 1, selecting())}, want: "a"},
		"API-OIDC-1 own":            {reason: "a shoot with settings keeps them", rule: openidconnectpreset.New, objects: []kind.Object{preset("a", 1, selecting())}, request: admissiontest.Request{Object: shoot(own)}, want: "own"},
		"API-OIDC-1 structured":     {reason: "there are two ways to say it, and one is enough", rule: openidconnectpreset.New, objects: []kind.Object{preset("a", 1, selecting())}, request: admissiontest.Request{Object: shoot(structured)}},
		"API-OIDC-1 update":         {reason: "only new shoots get them", rule: openidconnectpreset.New, objects: []kind.Object{preset("a", 1, selecting())}, request: admissiontest.Request{Object: shoot(), Old: shoot()}},
		"API-OIDC-1 cluster own":    {reason: "where the first rule gave something, the second gives nothing", rule: openidconnectpreset.NewCluster, objects: []kind.Object{ready, cluster(selecting(), selecting())}, request: admissiontest.Request{Object: shoot(own)}, want: "own"},
		"API-OIDC-2 weight":         {reason: "the heaviest wins", rule: openidconnectpreset.New, objects: []kind.Object{preset("a", 2, selecting()), preset("b", 1, selecting())}, want: "a"},
		"API-OIDC-2 name":           {reason: "of equal ones the last by name", rule: openidconnectpreset.New, objects: []kind.Object{preset("a", 1, selecting()), preset("b", 1, selecting())}, want: "b"},
		"API-OIDC-2 selector":       {reason: "the selector picks shoots", rule: openidconnectpreset.New, objects: []kind.Object{preset("a", 2, selecting("tier", "tin")), preset("b", 1, selecting("tier", "gold"))}, want: "b"},
		"API-OIDC-2 all":            {reason: "without a selector all", rule: openidconnectpreset.New, objects: []kind.Object{preset("a", 2, nil)}, want: "a"},
		"API-OIDC-2 namespace":      {reason: "presets are for their namespace", rule: openidconnectpreset.New, objects: []kind.Object{elsewhere}},
		"API-OIDC-2 project":        {reason: "a cluster's are for projects", rule: openidconnectpreset.NewCluster, objects: []kind.Object{ready, cluster(selecting("team", "a"), nil)}, want: "c"},
		"API-OIDC-2 all projects":   {reason: "without a selector for all", rule: openidconnectpreset.NewCluster, objects: []kind.Object{ready, cluster(nil, selecting("tier", "gold"))}, want: "c"},
		"API-OIDC-2 other project":  {reason: "and not for others", rule: openidconnectpreset.NewCluster, objects: []kind.Object{ready, cluster(selecting("team", "b"), nil)}},
		"API-OIDC-2 other shoot":    {reason: "nor for other shoots", rule: openidconnectpreset.NewCluster, objects: []kind.Object{ready, cluster(selecting(), selecting("tier", "tin"))}},
		"API-OIDC-2 project failed": {reason: "nor for projects that are not ready", rule: openidconnectpreset.NewCluster, objects: []kind.Object{project(gardencorev1beta1.ProjectPhaseFailed), cluster(selecting(), selecting())}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, tc.objects...)
			if tc.request.Object == nil {
				tc.request.Object = shoot()
			}
			if err := g.Ask(tc.rule(g.World), tc.request); err != nil {
				t.Fatal(err)
			}
			got := ""
			s, _ := tc.request.Object.(*gardencorev1beta1.Shoot)
			if server := s.Spec.Kubernetes.KubeAPIServer; server != nil && server.OIDCConfig != nil {
				got = *server.OIDCConfig.UsernameClaim
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// authority is a certificate in PEM format.
func authority(t *testing.T) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestCopied(t *testing.T) {
	t.Parallel()
	bundle := authority(t)
	p := preset("a", 1, selecting())
	p.Spec.Server = gardensettingsv1alpha1.KubeAPIServerOpenIDConnect{
		CABundle: &bundle, ClientID: "kubectl", IssuerURL: "https://x.y", GroupsClaim: new("groups"), GroupsPrefix: new("g:"),
		RequiredClaims: map[string]string{"a": "b"}, SigningAlgs: []string{"RS256"}, UsernameClaim: new("sub"), UsernamePrefix: new("u:"),
	}
	p.Spec.Client = &gardensettingsv1alpha1.OpenIDConnectClientAuthentication{Secret: new("s"), ExtraConfig: map[string]string{"c": "d"}}
	g := admissiontest.New(t, nil, p)
	s := shoot()
	if err := g.Ask(openidconnectpreset.New(g.World), admissiontest.Request{Object: s}); err != nil {
		t.Fatal(err)
	}
	want := &gardencorev1beta1.OIDCConfig{
		CABundle: &bundle, ClientID: new("kubectl"), IssuerURL: new("https://x.y"), GroupsClaim: new("groups"), GroupsPrefix: new("g:"),
		RequiredClaims: map[string]string{"a": "b"}, SigningAlgs: []string{"RS256"}, UsernameClaim: new("sub"), UsernamePrefix: new("u:"),
		ClientAuthentication: &gardencorev1beta1.OpenIDConnectClientAuthentication{Secret: new("s"), ExtraConfig: map[string]string{"c": "d"}},
	}
	if diff := cmp.Diff(want, s.Spec.Kubernetes.KubeAPIServer.OIDCConfig); diff != "" {
		t.Errorf("API-OIDC-2: settings of server and client are copied (-want +got):\n%s", diff)
	}
}
