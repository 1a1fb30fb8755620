// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
)

// loopback reads through the loopback client of the API server.
type loopback struct {
	client     rest.Interface
	parameters runtime.ParameterCodec
}

func newLoopback(config *rest.Config) (*loopback, error) {
	kinds, err := scheme.New()
	if err != nil {
		return nil, fmt.Errorf("create scheme of admission: %w", err)
	}
	config = rest.CopyConfig(config)
	config.GroupVersion = &gardencorev1beta1.GroupVersion // Each request names its own.
	config.APIPath = "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(kinds).WithoutConversion()
	config.ContentType = runtime.ContentTypeJSON
	config.QPS = -1 // The API server's own fairness limits requests.
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("create client of admission: %w", err)
	}
	return &loopback{client: client, parameters: runtime.NewParameterCodec(kinds)}, nil
}

// Get implements Source.
func (l *loopback) Get(ctx context.Context, at Place, version string) (runtime.Object, error) {
	return l.at(at).Name(at.Name).VersionedParams(&metav1.GetOptions{ResourceVersion: version}, l.parameters).Do(ctx).Get()
}

// List implements Source.
func (l *loopback) List(ctx context.Context, at Place, o metav1.ListOptions) (runtime.Object, error) {
	return l.at(at).VersionedParams(&o, l.parameters).Do(ctx).Get()
}

// Names implements Source. It requests only metadata.
func (l *loopback) Names(ctx context.Context, at Place, o metav1.ListOptions) ([]string, error) {
	raw, err := l.at(at).VersionedParams(&o, l.parameters).SetHeader("Accept", metadataOnly("PartialObjectMetadataList")).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("decode names: %w", err)
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Namespace+"/"+list.Items[i].Name)
	}
	slices.Sort(names)
	return names, nil
}

// Metadata implements Source.
func (l *loopback) Metadata(ctx context.Context, of Target, version string) (*metav1.PartialObjectMetadata, error) {
	raw, err := l.client.Get().AbsPath(path(of.Group, of.Version)...).NamespaceIfScoped(of.Namespace, of.Namespace != "").
		Resource(of.Resource).Name(of.Name).
		SetHeader("Accept", metadataOnly("PartialObjectMetadata")).
		VersionedParams(&metav1.GetOptions{ResourceVersion: version}, l.parameters).
		Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	out := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, fmt.Errorf("decode metadata: %w", err)
	}
	return out, nil
}

func (l *loopback) at(p Place) *rest.Request {
	return l.client.Get().AbsPath(path(p.Group, p.version())...).NamespaceIfScoped(p.Namespace, p.Namespace != "").
		Resource(p.Resource)
}

func metadataOnly(kind string) string {
	return "application/json;as=" + kind + ";g=meta.k8s.io;v=v1"
}
