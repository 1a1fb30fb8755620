// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

// served is a kind as the reference lists it, with objects to try it on.
type served struct {
	kind, resource string
	// group is the version of its group; the zero value is that of core.
	group schema.GroupVersion
	// home is the one namespace in which objects may live, if there is only one.
	home string
	// singular is the name for one; shortNames and categories are what kubectl accepts as well.
	singular               string
	shortNames, categories []string
	namespaced             bool
	// unconditional updates carry no resource version; generation tells that the server maintains one.
	unconditional, generation bool
	// columns are the heads of the table; † marks those of the wide form.
	columns []string
	// selectors are the fields beside the name by which objects are found, with the value that made has.
	selectors map[string]string

	made func(namespace, name string) client.Object
	// edit changes the spec, or what stands for it.
	edit func(object client.Object)
	// report changes the status; nil for kinds without one. reported reports whether it shows.
	report   func(object client.Object)
	reported func(object client.Object) bool
}

// fresh is an empty object of the same kind and name.
func (s served) fresh(object client.Object) client.Object {
	return s.made(object.GetNamespace(), object.GetName())
}

func (s served) version() schema.GroupVersion {
	if s.group.Empty() {
		return gardencorev1beta1.GroupVersion
	}
	return s.group
}

func (s served) path(namespace string) string {
	if !s.namespaced {
		return "/apis/" + s.version().String() + "/" + s.resource
	}
	return "/apis/" + s.version().String() + "/namespaces/" + namespace + "/" + s.resource
}

// list lists objects of the kind.
func (s served) list() *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(s.version().WithKind(s.kind + "List"))
	return list
}

// unlisted is an object as its own JSON, without what the server fills in.
func (s served) unlisted(t *testing.T, object client.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(s.version().WithKind(s.kind))
	delete(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	return u
}

// reply is the answer to a plain HTTP request.
type reply struct {
	code     int
	body     []byte
	warnings []string
}

// ask sends a plain HTTP request, for what clients hide.
func (o *operator) ask(method, path, accept string, body any) reply {
	o.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		o.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(o.t.Context(), method, o.Config.Host+path, bytes.NewReader(raw))
	if err != nil {
		o.t.Fatal(err)
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("Content-Type", "application/json")
	c, err := rest.HTTPClientFor(o.Config)
	if err != nil {
		o.t.Fatal(err)
	}
	response, err := c.Do(request)
	if err != nil {
		o.t.Fatalf("%s %s: %v", method, path, err)
	}
	answer, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		o.t.Fatal(err)
	}
	return reply{code: response.StatusCode, body: answer, warnings: response.Header.Values("Warning")}
}

const (
	plain   = "application/json"
	asTable = "application/json;as=Table;g=meta.k8s.io;v=v1"
)

// table reads objects in the form that kubectl prints.
func (o *operator) table(path string) *metav1.Table {
	o.t.Helper()
	answer := o.ask(http.MethodGet, path, asTable, nil)
	table := &metav1.Table{}
	if err := json.Unmarshal(answer.body, table); err != nil || answer.code != http.StatusOK {
		o.t.Fatalf("read table %s: %d, %v: %s", path, answer.code, err, answer.body)
	}
	return table
}

// heads are the names of the columns; † marks those of the wide form.
func heads(table *metav1.Table) []string {
	var names []string
	for _, c := range table.ColumnDefinitions {
		name := c.Name
		if c.Priority > 0 {
			name += "†"
		}
		names = append(names, name)
	}
	return names
}

// cells are the cells of the only row, by the name of the column.
func cells(t *testing.T, table *metav1.Table) map[string]string {
	t.Helper()
	if len(table.Rows) != 1 {
		t.Fatalf("table has %d rows, want 1", len(table.Rows))
	}
	row := map[string]string{}
	for i, c := range table.ColumnDefinitions {
		text, ok := table.Rows[0].Cells[i].(string)
		if !ok {
			t.Fatalf("cell %q is %T", c.Name, table.Rows[0].Cells[i])
		}
		row[c.Name] = text
	}
	delete(row, "Age")
	return row
}

// owned makes a project in a namespace of its own and waits for it.
func (o *operator) owned(name string) string {
	o.t.Helper()
	namespace := "garden-" + name
	project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: gardencorev1beta1.ProjectSpec{Namespace: &namespace}}
	o.create(project)
	o.phase(project, gardencorev1beta1.ProjectPhaseReady)
	return namespace
}

// credentials makes a Secret and a CredentialsBinding of the same name.
func (o *operator) credentials(namespace, typ string) {
	o.t.Helper()
	o.create(&corev1.Secret{ObjectMeta: named(namespace, typ)}, boundTo(namespace, typ, typ))
}

// boundTo is a CredentialsBinding for a Secret of the same name.
func boundTo(namespace, name, typ string) *gardensecurityv1alpha1.CredentialsBinding {
	return &gardensecurityv1alpha1.CredentialsBinding{
		ObjectMeta: named(namespace, name), Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: typ},
		CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: name},
	}
}

// order is a shoot with one pool that no scheduler looks at, not yet created.
func order(namespace, name, typ string, change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	shoot.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: typ}
	shoot.Spec.Region = "north"
	shoot.Spec.Provider.Type = typ
	shoot.Spec.Kubernetes.Version = "1.36.3"
	shoot.Spec.SchedulerName = new("nobody")
	withWorker(typ)(shoot)
	for _, c := range change {
		c(shoot)
	}
	return shoot
}

// refused checks that an error says no, and why.
func refused(t *testing.T, reason string, err error, is func(error) bool, words ...string) {
	t.Helper()
	if err == nil || !is(err) {
		t.Errorf("%s: got %v (reason %q)", reason, err, apierrors.ReasonForError(err))
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: the message lacks %q: %v", reason, w, err)
		}
	}
}

func accepted(t *testing.T, reason string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", reason, err)
	}
}

// read reads an object anew.
func (o *operator) read(object client.Object) {
	o.t.Helper()
	if err := o.Client.Get(o.t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		o.t.Fatalf("read %T %q: %v", object, object.GetName(), err)
	}
}

// apply applies fields on behalf of a manager.
func (o *operator) apply(ctx context.Context, manager string, u *unstructured.Unstructured, more ...client.ApplyOption) error {
	return o.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), append(more, client.FieldOwner(manager))...)
}
