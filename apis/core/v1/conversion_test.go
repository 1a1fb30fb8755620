// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	typeKey      = "migration.controllerdeployment.gardener.cloud/type"
	configKey    = "migration.controllerdeployment.gardener.cloud/providerConfig"
	resourcesKey = "migration.controllerdeployment.gardener.cloud/resources"
)

type (
	newer = gardencorev1.ControllerDeployment
	older = gardencorev1beta1.ControllerDeployment
)

func kinds(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{gardencorev1.AddToScheme, gardencorev1beta1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func annotated(annotations map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: "d", Labels: map[string]string{"a": "b"}, Annotations: annotations}
}

func config(json string) runtime.RawExtension { return runtime.RawExtension{Raw: []byte(json)} }

func TestConversion(t *testing.T) {
	t.Parallel()
	secret := []gardencorev1.NamedResourceReference{{Name: "key", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "key"}}}
	for name, tc := range map[string]struct {
		reason string
		newer  *newer
		older  *older
	}{
		"API-RES-6 chart": {
			reason: "a chart is a chart",
			newer:  &newer{ObjectMeta: annotated(nil), Helm: &gardencorev1.HelmControllerDeployment{RawChart: []byte("hello"), Values: &apiextensionsv1.JSON{Raw: []byte(`{"a":1}`)}}},
			older:  &older{ObjectMeta: annotated(nil), Type: "helm", ProviderConfig: config(`{"chart":"aGVsbG8=","values":{"a":1}}`)},
		},
		"API-RES-6 repository": {
			reason: "every part of a repository has its place",
			newer: &newer{ObjectMeta: annotated(map[string]string{"mine": "yes"}), InjectGardenKubeconfig: new(true), Helm: &gardencorev1.HelmControllerDeployment{OCIRepository: &gardencorev1.OCIRepository{
				Ref: new("a"), Repository: new("b"), Tag: new("c"), Digest: new("d"),
				PullSecretRef: &corev1.LocalObjectReference{Name: "e"}, CABundleSecretRef: &corev1.LocalObjectReference{Name: "f"},
			}}},
			older: &older{
				ObjectMeta: annotated(map[string]string{"mine": "yes"}), InjectGardenKubeconfig: new(true), Type: "helm",
				ProviderConfig: config(`{"ociRepository":{"caBundleSecretRef":{"name":"f"},"digest":"d","pullSecretRef":{"name":"e"},"ref":"a","repository":"b","tag":"c"}}`),
			},
		},
		"API-RES-6 type": {
			reason: "another type is kept in annotations",
			newer:  &newer{ObjectMeta: annotated(map[string]string{typeKey: "other", configKey: `{"a":"b"}`, "mine": "yes"})},
			older:  &older{ObjectMeta: annotated(map[string]string{"mine": "yes"}), Type: "other", ProviderConfig: config(`{"a":"b"}`)},
		},
		"API-RES-6 type alone": {
			reason: "so is one without configuration",
			newer:  &newer{ObjectMeta: annotated(map[string]string{typeKey: "other"})},
			older:  &older{ObjectMeta: annotated(nil), Type: "other"},
		},
		"API-RES-6 resources": {
			reason: "resources are kept in an annotation of the older version",
			newer:  &newer{ObjectMeta: annotated(nil), Helm: &gardencorev1.HelmControllerDeployment{}, Resources: secret},
			older: &older{
				ObjectMeta: annotated(map[string]string{resourcesKey: `[{"name":"key","resourceRef":{"kind":"Secret","name":"key","apiVersion":"v1"}}]`}),
				Type:       "helm", ProviderConfig: config(`{}`),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := kinds(t)
			toOlder, toNewer := &older{}, &newer{}
			if err := s.Convert(tc.newer, toOlder, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.older, toOlder); diff != "" {
				t.Errorf("%s\nConvert to v1beta1 (-want +got):\n%s", tc.reason, diff)
			}
			if err := s.Convert(tc.older, toNewer, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.newer, toNewer); diff != "" {
				t.Errorf("%s\nConvert to v1 (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestConversionOfLists(t *testing.T) {
	t.Parallel()
	s := kinds(t)
	was := &gardencorev1beta1.ControllerDeploymentList{
		ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"},
		Items:    []older{{ObjectMeta: annotated(nil), Type: "other"}, {ObjectMeta: annotated(nil), Type: "helm", ProviderConfig: config(`{}`)}},
	}
	is, back := &gardencorev1.ControllerDeploymentList{}, &gardencorev1beta1.ControllerDeploymentList{}
	if err := s.Convert(was, is, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Convert(is, back, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(was, back); diff != "" {
		t.Errorf("API-RES-6: a list comes back as it went (-want +got):\n%s", diff)
	}
	if len(is.Items) != 2 || is.ResourceVersion != "7" || is.Items[1].Helm == nil {
		t.Errorf("API-RES-6: every item is converted, got %v", is)
	}
}

func TestConversionRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		from, to any
		want     string
	}{
		"API-RES-6 broken chart": {
			reason: "what is no chart is told", from: &older{Type: "helm", ProviderConfig: config(`{"chart":{}}`)}, to: &newer{}, want: `read providerConfig of type "helm"`,
		},
		"API-RES-6 broken resources": {
			reason: "an annotation that somebody broke is named", from: &older{ObjectMeta: annotated(map[string]string{resourcesKey: "["})}, to: &newer{}, want: resourcesKey,
		},
		"API-RES-6 broken configuration": {
			reason: "likewise", from: &newer{ObjectMeta: annotated(map[string]string{typeKey: "other", configKey: "["})}, to: &older{}, want: configKey,
		},
		"API-RES-6 in a list": {
			reason: "the item is told", from: &gardencorev1beta1.ControllerDeploymentList{Items: []older{{Type: "other"}, {Type: "helm", ProviderConfig: config(`[]`)}}},
			to: &gardencorev1.ControllerDeploymentList{}, want: "convert item 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := kinds(t).Convert(tc.from, tc.to, nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nConvert: %v, want an error with %q", tc.reason, err, tc.want)
			}
		})
	}
}
