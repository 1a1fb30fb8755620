// SPDX-License-Identifier: Apache-2.0

package certificates_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/certificates"
)

// shoot is a cluster with the two nodes. It keeps what is written to the subresource for decisions.
func shoot(t *testing.T, written map[string]*certificatesv1.CertificateSigningRequest) client.Client {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	var objects []client.Object
	for _, n := range nodes() {
		objects = append(objects, &n)
	}
	return fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		SubResourceUpdate: func(_ context.Context, _ client.Client, subresource string, object client.Object, _ ...client.SubResourceUpdateOption) error {
			if request, ok := object.(*certificatesv1.CertificateSigningRequest); ok {
				written[subresource] = request
			}
			return nil
		},
	}).Build()
}

// decision is what is written for a decision of this type, and nothing for none.
func decision(kind certificatesv1.RequestConditionType) map[string][]string {
	if kind == "" {
		return map[string][]string{}
	}
	return map[string][]string{"approval": {string(kind) + "=True"}}
}

// decisions are the types and the status of the conditions that were written, by subresource.
func decisions(written map[string]*certificatesv1.CertificateSigningRequest) map[string][]string {
	found := map[string][]string{}
	for subresource, request := range written {
		found[subresource] = nil
		for _, c := range request.Status.Conditions {
			found[subresource] = append(found[subresource], string(c.Type)+"="+string(c.Status))
		}
	}
	return found
}

const home = "shoot--dev--a"

// seed has a machine deployment and machines with those labels. Machines of another namespace do not count.
func seed(t *testing.T, machines []map[string]string) client.Client {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	object := func(kind, namespace, name string, labels map[string]string) client.Object {
		gvk := schema.GroupVersionKind{Group: "machine.sapcloud.io", Version: "v1alpha1", Kind: kind}
		if !types.Recognizes(gvk) {
			types.AddKnownTypeWithName(gvk, &metav1.PartialObjectMetadata{})
		}
		made, err := types.New(gvk)
		if err != nil {
			t.Fatal(err)
		}
		made.GetObjectKind().SetGroupVersionKind(gvk)
		o, ok := made.(client.Object)
		if !ok {
			t.Fatalf("%T is no object", made)
		}
		o.SetNamespace(namespace)
		o.SetName(name)
		o.SetLabels(labels)
		return o
	}
	objects := []client.Object{object("MachineDeployment", "shoot--dev--b", "pool", nil), object("Machine", "shoot--dev--b", "a", map[string]string{"node": "a"})}
	if machines != nil {
		objects = append(objects, object("MachineDeployment", home, "pool", nil))
	}
	for i, labels := range machines {
		objects = append(objects, object("Machine", home, "machine-"+strconv.Itoa(i), labels))
	}
	return fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).Build()
}

func TestDecide_GRM_CSR_1(t *testing.T) {
	t.Parallel()
	foreign := fromA()
	foreign.content.DNSNames = []string{"b"}
	cases := map[string]struct {
		reason string
		from   *asked
		// machines are the labels of the machines in the seed; nil for a provider whose machines are no objects.
		machines []map[string]string
		change   func(*certificatesv1.CertificateSigningRequest)
		want     certificatesv1.RequestConditionType
	}{
		"Own":     {reason: "what fits is approved", from: fromA(), want: certificatesv1.CertificateApproved},
		"Foreign": {reason: "what does not is denied, not ignored", from: foreign, want: certificatesv1.CertificateDenied},
		"Machine": {
			reason: "one machine stands for the node", from: fromA(), machines: []map[string]string{{"node": "a"}, {"node": "b"}}, want: certificatesv1.CertificateApproved,
		},
		"NoMachine": {
			reason: "a node without a machine", from: fromA(), machines: []map[string]string{{"node": "b"}, {}}, want: certificatesv1.CertificateDenied,
		},
		"NoMachineAtAll": {reason: "all machines are gone", from: fromA(), machines: []map[string]string{}, want: certificatesv1.CertificateDenied},
		"TwoMachines": {
			reason: "two machines claim the node", from: fromA(), machines: []map[string]string{{"node": "a"}, {"node": "a"}}, want: certificatesv1.CertificateDenied,
		},
		"Issued": {
			reason: "there is a certificate already", from: foreign, change: func(r *certificatesv1.CertificateSigningRequest) { r.Status.Certificate = []byte("pem") },
		},
		"Decided": {
			reason: "somebody has decided", from: foreign, change: func(r *certificatesv1.CertificateSigningRequest) {
				r.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue}}
			},
		},
		"OtherSigner": {
			reason: "for others to decide", from: foreign, change: func(r *certificatesv1.CertificateSigningRequest) {
				r.Spec.SignerName = "kubernetes.io/kube-apiserver-client-kubelet"
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := tc.from.request(t)
			if tc.change != nil {
				tc.change(request)
			}
			written := map[string]*certificatesv1.CertificateSigningRequest{}
			decider := certificates.Decider{Seed: seed(t, tc.machines), Namespace: home, Shoot: shoot(t, written)}
			if err := decider.Decide(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decision(tc.want), decisions(written)); diff != "" {
				t.Fatalf("%s\nwhat was written (-want +got):\n%s", tc.reason, diff)
			}
			if tc.want != certificatesv1.CertificateDenied {
				return
			}
			if message := written["approval"].Status.Conditions[0].Message; !strings.HasPrefix(message, "The request was denied: ") {
				t.Errorf("the message does not say why: %q", message)
			}
		})
	}
}
