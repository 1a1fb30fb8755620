// SPDX-License-Identifier: Apache-2.0

package pluginsecret_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/pluginsecret"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func shoot(server gardencorev1beta1.KubeAPIServerConfig) []kind.Object {
	return []kind.Object{admissiontest.ProjectNamespace(), admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &server
		s.Spec.Resources = []gardencorev1beta1.NamedResourceReference{}
	})}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	full := admissiontest.Secret("access", func(s *corev1.Secret) { s.Data = map[string][]byte{"kubeconfig": []byte("{}")} })
	empty := admissiontest.Secret("access", func(s *corev1.Secret) { s.Data = map[string][]byte{"kubeconfig": {}} })
	none := admissiontest.Secret("access")
	plugin := shoot(gardencorev1beta1.KubeAPIServerConfig{AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{{Name: "ImagePolicyWebhook", KubeconfigSecretName: new("access")}}})
	authorizer := shoot(gardencorev1beta1.KubeAPIServerConfig{StructuredAuthorization: &gardencorev1beta1.StructuredAuthorization{
		ConfigMapName: "authorizers", Kubeconfigs: []gardencorev1beta1.AuthorizerKubeconfigReference{{AuthorizerName: "a", SecretName: "access"}},
	}})
	others := gardencorev1beta1.KubeAPIServerConfig{
		AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{{Name: "ImagePolicyWebhook", KubeconfigSecretName: new("other")}, {Name: "PodNodeSelector"}},
		StructuredAuthorization: &gardencorev1beta1.StructuredAuthorization{
			ConfigMapName: "authorizers", Kubeconfigs: []gardencorev1beta1.AuthorizerKubeconfigReference{{AuthorizerName: "a", SecretName: "other"}},
		},
	}
	going := none.DeepCopy()
	going.DeletionTimestamp = new(metav1.Now())
	refused := []string{"data[kubeconfig]", "sprout"}
	admissiontest.Run(t, pluginsecret.New, map[string]admissiontest.Case{
		"GAC-PLUGSEC-1 plugin":     {Reason: "a plugin needs it", Objects: plugin, Request: admissiontest.Request{Object: none, Old: full}, Refused: refused},
		"GAC-PLUGSEC-1 empty":      {Reason: "nothing is no kubeconfig", Objects: plugin, Request: admissiontest.Request{Object: empty, Old: full}, Refused: refused},
		"GAC-PLUGSEC-1 authorizer": {Reason: "an authorizer needs it", Objects: authorizer, Request: admissiontest.Request{Object: none, Old: full}, Refused: refused},
		"GAC-PLUGSEC-1 kept":       {Reason: "another kubeconfig serves as well", Objects: plugin, Request: admissiontest.Request{Object: full, Old: full}},
		"GAC-PLUGSEC-1 unused":     {Reason: "nobody needs it", Objects: shoot(gardencorev1beta1.KubeAPIServerConfig{}), Request: admissiontest.Request{Object: none, Old: full}},
		"GAC-PLUGSEC-1 other one":  {Reason: "or they need another one", Objects: shoot(others), Request: admissiontest.Request{Object: none, Old: full}},
		"GAC-PLUGSEC-1 bare":       {Reason: "or none", Objects: []kind.Object{plugin[0], admissiontest.Shoot()}, Request: admissiontest.Request{Object: none, Old: full}},
		"GAC-PLUGSEC-1 going":      {Reason: "what is in deletion may be emptied", Objects: plugin, Request: admissiontest.Request{Object: going, Old: full}},
		"GAC-PLUGSEC-1 part":       {Reason: "only secrets as a whole are looked at", Objects: plugin, Request: admissiontest.Request{Object: none, Old: full, Subresource: "part"}},
		"GAC-PLUGSEC-1 config":     {Reason: "and no other kinds", Objects: plugin, Request: admissiontest.Request{Object: admissiontest.ConfigMap("access", "a", "b"), Old: admissiontest.ConfigMap("access", "kubeconfig", "{}")}},
		"GAC-SRV-4 namespace":      {Reason: "it may be the secret of a project", Failing: "namespaces", Request: admissiontest.Request{Object: none, Old: full}},
		"GAC-SRV-4 shoots":         {Reason: "a shoot may need it", Objects: plugin[:1], Failing: "shoots", Request: admissiontest.Request{Object: none, Old: full}},
		"GAC-PLUGSEC-1 elsewhere":  {Reason: "only projects have shoots", Objects: plugin[1:], Request: admissiontest.Request{Object: none, Old: full}},
	})
}

// TestMessage shows what the user reads who empties a kubeconfig in use in full.
func TestMessage(t *testing.T) {
	t.Parallel()
	full := admissiontest.Secret("access", func(s *corev1.Secret) { s.Data = map[string][]byte{"kubeconfig": []byte("{}")} })
	g := admissiontest.New(t, nil, shoot(gardencorev1beta1.KubeAPIServerConfig{AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{{Name: "ImagePolicyWebhook", KubeconfigSecretName: new("access")}}})...)
	err := g.Ask(pluginsecret.New(g.World), admissiontest.Request{Object: admissiontest.Secret("access"), Old: full})
	want := `secrets "access" is forbidden: data[kubeconfig] must be a kubeconfig, because these shoots refer to it: sprout`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}
