// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// obtained are the secrets of the etcd of a role.
func obtained(t *testing.T, role string) map[string]component.Secret {
	t.Helper()
	requests, err := etcd.Component(role).Secrets(facts.Shoot{Namespace: "shoot--dev--a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	manager, err := secrets.Load(t.Context(), secrets.Config{
		Client: fake.NewClientBuilder().Build(), Namespace: "shoot--dev--a", Identity: "test", Clock: clocktesting.NewFakePassiveClock(time.Now()),
	})
	if err != nil {
		t.Fatal(err)
	}
	answers, err := component.Obtain(t.Context(), manager, requests)
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// TestCertificates verifies the certificates of both stores as their clients and their peers do.
func TestCertificates_BAK_ETCD_8(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"main", "events"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			got := obtained(t, role)
			service := "etcd-" + role + "-client"
			reached := []string{"localhost", "127.0.0.1", service, service + ".shoot--dev--a", service + ".shoot--dev--a.svc", service + ".shoot--dev--a.svc.cluster.local"}
			for name, of := range map[string]struct {
				authority, other string
				names            []string
			}{
				"etcd-" + role + "-server": {"ca-etcd", "ca-etcd-peer", reached},
				"etcd-" + role + "-peer":   {"ca-etcd-peer", "ca-etcd", []string{"localhost", "127.0.0.1"}},
			} {
				block, _ := pem.Decode(got[name].Certificate)
				if block == nil {
					t.Fatalf("%s is not among the secrets", name)
				}
				leaf, err := x509.ParseCertificate(block.Bytes)
				if err != nil {
					t.Fatal(err)
				}
				verify := func(authority, host string, usage x509.ExtKeyUsage) error {
					roots := x509.NewCertPool()
					roots.AppendCertsFromPEM(got[authority].Trusted)
					_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, KeyUsages: []x509.ExtKeyUsage{usage}})
					return err
				}
				for _, host := range of.names {
					if err := verify(of.authority, host, x509.ExtKeyUsageServerAuth); err != nil {
						t.Errorf("%s at %s: %v", name, host, err)
					}
				}
				if err := verify(of.authority, "", x509.ExtKeyUsageClientAuth); err != nil {
					t.Errorf("%s as a client: %v", name, err)
				}
				if verify(of.other, "localhost", x509.ExtKeyUsageServerAuth) == nil {
					t.Errorf("%s is signed by %s", name, of.other)
				}
			}
		})
	}
}

// TestClientsComeFromAnywhere: an etcd refuses a client whose certificate names hosts from another one, and pods of clients have no names.
func TestClientsComeFromAnywhere_BAK_ETCD_8(t *testing.T) {
	t.Parallel()
	block, _ := pem.Decode(obtained(t, "main")["etcd-client"].Certificate)
	if block == nil {
		t.Fatal("etcd-client is not among the secrets")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if len(leaf.DNSNames)+len(leaf.IPAddresses) > 0 {
		t.Errorf("the certificate of clients names the hosts %v and %v", leaf.DNSNames, leaf.IPAddresses)
	}
}

// TestOnlyKnownClients: each store asks its clients and peers for certificates, verifies them with its two authorities, and can be reached
// without one for its metrics and its health alone.
func TestOnlyKnownClients_BAK_ETCD_7_BAK_ETCD_8(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"main", "events"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			objs := renderRole(t, role, gardencorev1beta1.SeedSpec{}, nil)
			set, _ := objs[1].(*appsv1.StatefulSet)
			pod := set.Spec.Template.Spec
			flags := map[string]string{}
			for _, arg := range pod.Containers[0].Args {
				name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
				if slices.Contains([]string{"client-cert-auth", "peer-client-cert-auth"}, name) || strings.HasSuffix(name, "-file") || strings.HasPrefix(name, "listen-") {
					flags[name] = value
				}
			}
			if diff := cmp.Diff(map[string]string{
				"listen-client-urls": "https://0.0.0.0:2379", "client-cert-auth": "true", "trusted-ca-file": "ca-etcd-bundle-33333333/bundle.crt",
				"cert-file": "etcd-" + role + "-server-11111111/tls.crt", "key-file": "etcd-" + role + "-server-11111111/tls.key",
				"listen-peer-urls": "https://127.0.0.1:2380", "peer-client-cert-auth": "true", "peer-trusted-ca-file": "ca-etcd-peer-bundle-44444444/bundle.crt",
				"peer-cert-file": "etcd-" + role + "-peer-22222222/tls.crt", "peer-key-file": "etcd-" + role + "-peer-22222222/tls.key",
				"listen-metrics-urls": "http://0.0.0.0:2381",
			}, mounted(pod, flags)); diff != "" {
				t.Errorf("who is asked for what (-want +got):\n%s", diff)
			}
			service, _ := objs[0].(*corev1.Service)
			if diff := cmp.Diff("etcd-"+role+"-client", service.Name); diff != "" || len(service.Spec.Ports) != 1 || service.Spec.Ports[0].Port != 2379 {
				t.Errorf("the Service has the ports %v (-want +got):\n%s", service.Spec.Ports, diff)
			}
		})
	}
}

// mounted puts the Secrets and keys in the place of the files that are made of them.
func mounted(pod corev1.PodSpec, flags map[string]string) map[string]string {
	for _, source := range pod.Volumes[0].Projected.Sources {
		for _, item := range source.Secret.Items {
			for name, value := range flags {
				if value == pod.Containers[0].VolumeMounts[0].MountPath+"/"+item.Path {
					flags[name] = source.Secret.Name + "/" + item.Key
				}
			}
		}
	}
	return flags
}
