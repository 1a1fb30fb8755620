// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// connector may make clients or read kubeconfigs, and why.
type connector struct {
	path, reason string
}

// connectors are the only files of controllers that may. A pass of a controller never does: it would connect and discover
// anew for each shoot and each minute.
func connectors() []connector {
	return []connector{
		{"controllers/kit/shoot.go", "the client of a shoot, made once and shared by everything that acts on the shoot"},
		{"controllers/component/apiserver/kubeconfigs.go", "kubeconfigs of owners of shoots, read to be judged; it makes no client"},
		{"controllers/secrets/kubeconfig.go", "says where a server is, and makes no client"},
		{"controllers/gardenlet/lease/health.go", "the probe of the seed, made once at the start"},
		{"controllers/gardenlet/seed/add.go", "asks the seed for its version, made once at the start"},
		{"controllers/gardenlet/gardentoken/reconcile.go", "asks the garden with the token of an extension, which nobody else may have reviewed"},
		{"controllers/garden/plant/access.go", "kubeconfigs of strangers, read field by field for one bounded look at their cluster"},
		{"controllers/provider/local/cloud/connection.go", "the cluster of the machines of a shoot, from a kubeconfig of its owner; made once and kept by kit.Shoots"},
		{"controllers/provider/local/networkagent/run.go", "a process of its own in the shoot, with one client"},
		{"controllers/provider/local/volumeagent/run.go", "a process of its own in the shoot, with one client"},
		{"controllers/nodeagent/run.go", "a process of its own on a machine, with a client as the kubelet and one of its own"},
		{"controllers/nodeagent/renew.go", "the kubeconfig of the kubelet, in which it changes whom the kubelet trusts; it makes no client"},
		{"controllers/resourcemanager/run.go", "a process of its own, with one client of the seed that reads without a cache"},
	}
}

// connecting are the functions that make clients, mappers or configurations of clients, by package.
func connecting() map[string][]string {
	return map[string][]string{
		"k8s.io/client-go/tools/clientcmd":                  {"RESTConfigFromKubeConfig", "NewClientConfigFromBytes", "BuildConfigFromFlags", "BuildConfigFromKubeconfigGetter", "Load", "LoadFromFile", "NewDefaultClientConfig", "NewNonInteractiveClientConfig", "NewNonInteractiveDeferredLoadingClientConfig"},
		"k8s.io/client-go/kubernetes":                       {"NewForConfig", "NewForConfigAndClient", "NewForConfigOrDie"},
		"k8s.io/client-go/dynamic":                          {"NewForConfig", "NewForConfigAndClient", "NewForConfigOrDie"},
		"k8s.io/client-go/metadata":                         {"NewForConfig", "NewForConfigAndClient", "NewForConfigOrDie"},
		"k8s.io/client-go/discovery":                        {"NewDiscoveryClientForConfig", "NewDiscoveryClientForConfigAndClient", "NewDiscoveryClientForConfigOrDie"},
		"k8s.io/client-go/rest":                             {"HTTPClientFor", "RESTClientFor", "RESTClientForConfigAndClient", "UnversionedRESTClientFor", "UnversionedRESTClientForConfigAndClient", "TransportFor"},
		"k8s.io/client-go/restmapper":                       {"NewDeferredDiscoveryRESTMapper", "NewDiscoveryRESTMapper", "GetAPIGroupResources"},
		"sigs.k8s.io/controller-runtime/pkg/client":         {"New", "NewWithWatch"},
		"sigs.k8s.io/controller-runtime/pkg/client/apiutil": {"NewDynamicRESTMapper", "RESTClientForGVK"},
		"sigs.k8s.io/controller-runtime/pkg/client/config":  {"GetConfig", "GetConfigOrDie", "GetConfigWithContext"},
	}
}

// TestClientsAreMadeInOnePlace finds controllers that make clients of their own instead of taking those of kit.Shoots.
func TestClientsAreMadeInOnePlace(t *testing.T) {
	t.Parallel()
	met := map[string]bool{}
	for path, source := range files(t, "controllers") {
		calls := connections(t, source)
		met[path] = len(calls) > 0
		if len(calls) > 0 && !slices.ContainsFunc(connectors(), func(c connector) bool { return c.path == path }) {
			t.Errorf("%s uses %s: take the client of a shoot from kit.Shoots, and one of the garden or the seed from the manager", path, strings.Join(calls, ", "))
		}
	}
	for _, c := range connectors() {
		if !met[c.path] {
			t.Errorf("%s makes no client any more: take it off the list", c.path)
		}
	}
}

// TestClientsAreFound shows that the test above can fail.
func TestClientsAreFound(t *testing.T) {
	t.Parallel()
	source := `package a
import (
	"k8s.io/client-go/kubernetes"
	crclient "sigs.k8s.io/controller-runtime/pkg/client"
	"k8s.io/client-go/tools/clientcmd"
)
var _ = []any{kubernetes.NewForConfig, crclient.New, crclient.IgnoreNotFound, clientcmd.Write}`
	want := []string{"kubernetes.NewForConfig", "crclient.New"}
	if diff := cmp.Diff(want, connections(t, []byte(source))); diff != "" {
		t.Errorf("connections(...) (-want +got):\n%s", diff)
	}
}

// connections are the functions of connecting that a file uses, in their order.
func connections(t *testing.T, source []byte) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	makers := map[string][]string{}
	for _, imported := range file.Imports {
		name := strings.Trim(imported.Path.Value, `"`)
		functions := connecting()[name]
		name = path.Base(name)
		if imported.Name != nil {
			name = imported.Name.Name
		}
		makers[name] = functions
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := selector.X.(*ast.Ident); ok && slices.Contains(makers[of.Name], selector.Sel.Name) {
			found = append(found, of.Name+"."+selector.Sel.Name)
		}
		return true
	})
	return found
}
