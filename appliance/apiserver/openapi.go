// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	openapiutil "k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/kube-openapi/pkg/common"
	openapimodels "k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
	kubeopenapi "k8s.io/kubernetes/pkg/generated/openapi"

	gardenopenapi "github.com/terrarium-garden/terrarium/apis/openapi"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/appliance/apiserver/lazyopenapi"
)

// gardenDefinitions returns the models of the garden kinds and of the types in them.
func gardenDefinitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := kubeopenapi.GetOpenAPIDefinitions(ref)
	garden := gardenopenapi.GetOpenAPIDefinitions(func(name string) spec.Ref { return ref(modelName(name)) })
	for name, definition := range garden {
		for i := range definition.Dependencies {
			definition.Dependencies[i] = modelName(definition.Dependencies[i])
		}
		all[name] = definition
	}

	return all
}

// modelName converts the path of a Go type into the name of its model. The generator knows the models of the packages that
// it is run for, and refers to all others by their paths.
func modelName(name string) string {
	if !strings.Contains(name, "/") {
		return name
	}

	return openapimodels.ToRESTFriendlyName(name)
}

// applyGardenOpenAPI configures the OpenAPI documents of the garden kinds. The names come from a scheme without internal
// versions, in which every type has one kind only.
func applyGardenOpenAPI(into *genericapiserver.Config) error {
	served := runtime.NewScheme()
	if err := scheme.AddServedVersions(served); err != nil {
		return fmt.Errorf("create scheme of the garden's models: %w", err)
	}
	definitions := openapiutil.GetOpenAPIDefinitionsWithoutDisabledFeatures(gardenDefinitions)
	namer := openapinamer.NewDefinitionNamer(served)

	v2 := genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	v2.Info.Title = "Gardener"
	v2.SecurityDefinitions = into.OpenAPIConfig.SecurityDefinitions
	// References contain no more than the name of a model, so both servers share the models of the kube server.
	v3, info := *into.OpenAPIV3Config, *into.OpenAPIV3Config.Info
	info.Title = "Gardener"
	v3.Info = &info
	v3.GetDefinitionName = namer.GetDefinitionName
	into.OpenAPIConfig, into.OpenAPIV3Config = v2, &v3

	return nil
}

// useDefinitions makes a server build its OpenAPI documents from few models instead of those of all kinds.
func useDefinitions(into *genericapiserver.Config, few common.GetOpenAPIDefinitions) {
	few = openapiutil.GetOpenAPIDefinitionsWithoutDisabledFeatures(few)
	v2, v3 := *into.OpenAPIConfig, *into.OpenAPIV3Config
	v2.GetDefinitions, v3.GetDefinitions, v3.Definitions = few, few, nil
	into.OpenAPIConfig, into.OpenAPIV3Config = &v2, &v3
}

// serveOpenAPI serves the documents of a server whose groups are installed.
func serveOpenAPI(server *genericapiserver.GenericAPIServer, config *genericapiserver.Config) {
	lazyopenapi.Serve(server.Handler.GoRestfulContainer, server.Handler.NonGoRestfulMux, config.OpenAPIConfig, config.OpenAPIV3Config)
}
