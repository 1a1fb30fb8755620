// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/controllers/managed/managedtest"
)

// greetingChart is the chart of the second extension.
func greetingChart(t *testing.T) fstest.MapFS {
	t.Helper()
	root, files := os.DirFS(filepath.Join("..", "extension", "chart")), fstest.MapFS{}
	for _, name := range []string{"Chart.yaml", "values.yaml", greetingDeployment, "templates/rbac.yaml"} {
		data, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return files
}

const greetingDeployment = "templates/deployment.yaml"

// greetingValues are those of its ControllerDeployment.
func greetingValues() map[string]any {
	return map[string]any{"heartbeatInterval": "200ms"}
}

// greetingArgs are what its Deployment starts the program with.
func greetingArgs(t *testing.T, namespace string) []string {
	t.Helper()
	loaded, err := chart.LoadFS(greetingChart(t))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := loaded.Render(chart.Release{Name: "greeting", Namespace: namespace, KubernetesVersion: "v1.36.3"}, greetingValues())
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		d := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, d); err != nil {
			t.Fatal(err)
		}
		return d.Spec.Template.Spec.Containers[0].Args
	}
	t.Fatal("the chart has no Deployment")
	return nil
}

// halfAlive is a seed for the flows of shoots. What extensions see is in a real API server; of all else it pretends that it succeeds at
// once, since nothing would run there.
func halfAlive(living client.Client, types *runtime.Scheme, inside client.Client) client.Client {
	manager := &managedtest.Manager{Cluster: inside}
	seen := func(obj runtime.Object, name string) bool {
		kind, err := apiutil.GVKForObject(obj, types)
		if err != nil {
			return false
		}
		return seenByExtensions(kind, name)
	}
	return fake.NewClientBuilder().WithScheme(types).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			if seen(obj, key.Name) {
				return living.Get(ctx, key, obj, options...)
			}
			if err := manager.Get(ctx, c, key, obj, options...); err != nil {
				return err
			}
			pretend(obj)
			return nil
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if seen(list, "") {
				return living.List(ctx, list, options...)
			}
			return c.List(ctx, list, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.CreateOption) error {
			if seen(obj, obj.GetName()) {
				return living.Create(ctx, obj, options...)
			}
			return c.Create(ctx, obj, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
			if seen(obj, obj.GetName()) {
				return living.Patch(ctx, obj, patch, options...)
			}
			return c.Patch(ctx, obj, patch, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.DeleteOption) error {
			if seen(obj, obj.GetName()) {
				return living.Delete(ctx, obj, options...)
			}
			return manager.Delete(ctx, c, obj, options...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			u, ok := obj.(interface {
				GroupVersionKind() schema.GroupVersionKind
				GetName() string
			})
			if ok && seenByExtensions(u.GroupVersionKind(), u.GetName()) {
				return living.Apply(ctx, obj, options...)
			}
			return c.Apply(ctx, obj, options...)
		},
	}).Build()
}

func seenByExtensions(kind schema.GroupVersionKind, name string) bool {
	mine := kind.Group == gardenextensionsv1alpha1.GroupName && slices.Contains([]string{"Extension", "ExtensionList", "Cluster"}, kind.Kind)
	return mine || kind.Group == coordinationv1.GroupName || kind.Kind == "Secret" && strings.HasPrefix(name, "ref-")
}

// pretend makes a workload run, a Service have addresses, and an extension have answered.
func pretend(obj client.Object) {
	switch o := obj.(type) {
	case gardenextensionsv1alpha1.Object:
		status := o.GetExtensionStatus()
		status.ObservedGeneration = o.GetGeneration()
		status.LastOperation = &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateSucceeded, LastUpdateTime: metav1.Now()}
		delete(o.GetAnnotations(), gardencorev1beta1.AnnotationOperation)
	case *corev1.Service:
		o.Spec.ClusterIP, o.Status.LoadBalancer.Ingress = "10.2.0.9", []corev1.LoadBalancerIngress{{IP: "10.99.1.1"}}
	case *appsv1.Deployment:
		o.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}}
	case *unstructured.Unstructured:
		instances, set, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
		if !set {
			instances = 1
		}
		o.Object["status"] = map[string]any{
			"replicas": instances, "updatedReplicas": instances, "readyReplicas": instances, "availableReplicas": instances,
			"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": "10.99.1.1"}}},
		}
	}
}

// greeter is the program of the second extension, and the rights that it has: those of its chart.
type greeter struct {
	t                *testing.T
	program, account string
	args             []string
	running          *exec.Cmd
}

// buildGreeter builds the program out of its own module.
func buildGreeter(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "greeting")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "extension")
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the second extension: %v\n%s", err, out)
	}
	return program
}

// hire makes a kubeconfig for the account that the chart has made.
func (o *operator) hire(program, namespace string) *greeter {
	o.t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "greeting"}}
	token := &authenticationv1.TokenRequest{}
	if err := o.Client.SubResource("token").Create(o.t.Context(), account, token); err != nil {
		o.t.Fatalf("token of the extension: %v", err)
	}
	kubeconfig, err := gardenaccess.Material{Server: o.Server, CA: o.CA, Token: token.Status.Token}.Kubeconfig()
	if err != nil {
		o.t.Fatal(err)
	}
	path := filepath.Join(o.t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		o.t.Fatal(err)
	}
	g := &greeter{t: o.t, program: program, account: path, args: greetingArgs(o.t, namespace)}
	o.t.Cleanup(g.stop)
	return g
}

// start runs it as a process, as its pod would.
func (g *greeter) start() {
	g.t.Helper()
	g.running = exec.CommandContext(context.WithoutCancel(g.t.Context()), g.program, append(g.args, "--kubeconfig="+g.account)...)
	g.running.Stdout, g.running.Stderr = g.t.Output(), g.t.Output()
	if err := g.running.Start(); err != nil {
		g.t.Fatal(err)
	}
}

// stop kills it: it has no time to say good-bye.
func (g *greeter) stop() {
	if g.running == nil {
		return
	}
	_ = g.running.Process.Kill()
	_ = g.running.Wait()
	g.running = nil
}
