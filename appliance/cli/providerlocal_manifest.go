// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/controllers/provider/local"
)

type providerLocalManifestOptions struct {
	env    Environment
	images local.Images
	output outputFlag
}

func newProviderLocalManifestCommand(env Environment) *cobra.Command {
	o := &providerLocalManifestOptions{env: env}
	cmd := &cobra.Command{
		Use:   "manifest",
		Short: "Print the manifests that register the extension in a garden",
		Example: `  terrarium provider-local manifest --image terrarium.garden/terrarium:v0.1.0-dev \
    --machine-image terrarium.garden/machine:v1.36.3 | kubectl apply -f -`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, validateImages(o.images), o.output.validate()); err != nil {
				return err
			}
			return o.run()
		},
	}
	addImageFlags(cmd.Flags(), &o.images)
	o.output.addTo(cmd.Flags(), formatYAML, formatJSON)
	return cmd
}

func (o *providerLocalManifestOptions) run() error {
	deployment, err := local.Deployment(o.images)
	if err != nil {
		return err
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": metav1.SchemeGroupVersion.Version, "kind": "List"}}
	for _, object := range []runtime.Object{deployment, local.Registration()} {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return fmt.Errorf("convert manifest: %w", err)
		}
		unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
		list.Items = append(list.Items, unstructured.Unstructured{Object: content})
	}
	if o.output.format == formatJSON {
		return o.output.write(o.env.Out, list.UnstructuredContent(), nil)
	}
	return writeDocuments(o.env.Out, list.Items)
}

// writeDocuments writes the objects as YAML documents.
func writeDocuments(w io.Writer, objects []unstructured.Unstructured) error {
	var text bytes.Buffer
	for _, object := range objects {
		data, err := yaml.Marshal(object.Object)
		if err != nil {
			return fmt.Errorf("encode manifest: %w", err)
		}
		text.WriteString("---\n")
		text.Write(data)
	}
	_, err := w.Write(text.Bytes())
	return err
}
