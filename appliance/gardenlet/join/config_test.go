// SPDX-License-Identifier: Apache-2.0

package join_test

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/appliance/gardenlet/join"
)

const header = "apiVersion: gardenlet.config.gardener.cloud/v1alpha1\nkind: GardenletConfiguration\n"

func TestConfig(t *testing.T) {
	t.Parallel()
	facts := join.Facts{Pods: "10.1.0.0/16", Services: "10.2.0.0/16", Nodes: "10.3.0.0/16", Region: "north", Zones: []string{"a", "b"}}
	cases := map[string]struct {
		reason     string
		options    join.Options
		facts      join.Facts
		kubeconfig string
		want       string
		wantErr    string
	}{
		"Detected": {
			reason:  "what nobody says comes from the cluster, and everything else keeps its defaults",
			options: join.Options{Name: "one", Provider: "local"},
			facts:   facts,
			want: header + `
gardenClientConnection:
  kubeconfigSecret: {name: gardenlet-kubeconfig, namespace: garden}
  bootstrapKubeconfig: {name: gardenlet-kubeconfig-bootstrap, namespace: garden}
resources: {capacity: {shoots: "250"}}
seedConfig:
  metadata: {name: one}
  spec:
    provider: {type: local, region: north, zones: [a, b]}
    networks: {pods: 10.1.0.0/16, services: 10.2.0.0/16, nodes: 10.3.0.0/16}
    dns:
      internal: {type: local, domain: internal.terrarium.local, credentialsRef: {apiVersion: v1, kind: Secret, namespace: garden, name: internal-domain}}
      provider: {type: local, credentialsRef: {apiVersion: v1, kind: Secret, namespace: garden, name: internal-domain}}
    ingress: {domain: ingress.one.internal.terrarium.local, controller: {kind: nginx}}
`,
		},
		"Options": {
			reason: "options win over the cluster",
			options: join.Options{
				Name: "one", Provider: "local", Region: "south", Zones: []string{"c"}, Pods: "10.4.0.0/16", Services: "10.5.0.0/16", Nodes: "10.6.0.0/16",
				InternalDomain: "internal.example.org", InternalDomainProvider: "other", InternalDomainSecret: "garden/keys",
			},
			facts: facts,
			want: header + `
gardenClientConnection:
  kubeconfigSecret: {name: gardenlet-kubeconfig, namespace: garden}
  bootstrapKubeconfig: {name: gardenlet-kubeconfig-bootstrap, namespace: garden}
resources: {capacity: {shoots: "250"}}
seedConfig:
  metadata: {name: one}
  spec:
    provider: {type: local, region: south, zones: [c]}
    networks: {pods: 10.4.0.0/16, services: 10.5.0.0/16, nodes: 10.6.0.0/16}
    dns:
      internal: {type: other, domain: internal.example.org, credentialsRef: {apiVersion: v1, kind: Secret, namespace: garden, name: keys}}
      provider: {type: other, credentialsRef: {apiVersion: v1, kind: Secret, namespace: garden, name: keys}}
    ingress: {domain: ingress.one.internal.example.org, controller: {kind: nginx}}
`,
		},
		"File": {
			reason: "a file is kept, options win over it, and it wins over the cluster",
			options: join.Options{Provider: "new", Config: []byte(header + `
logFormat: text
gardenClientConnection: {kubeconfigSecret: {name: mine, namespace: other}}
seedClientConnection: {kubeconfig: /home/me/.kube/config}
resources: {capacity: {shoots: "20"}}
seedConfig:
  metadata: {name: two, labels: {climate: mild}}
  spec:
    provider: {type: old, region: west}
    networks: {pods: 10.7.0.0/16, services: 10.8.0.0/16, shootDefaults: {pods: 10.9.0.0/16}}
    ingress: {domain: seed.example.org}
    dns:
      internal: {type: old, domain: example.org, credentialsRef: {apiVersion: v1, kind: Secret, namespace: garden, name: keys}}
`)},
			facts: facts,
			want: header + `
logFormat: text
gardenClientConnection:
  kubeconfigSecret: {name: mine, namespace: other}
  bootstrapKubeconfig: {name: gardenlet-kubeconfig-bootstrap, namespace: garden}
resources: {capacity: {shoots: "20"}}
seedConfig:
  metadata: {name: two, labels: {climate: mild}}
  spec:
    provider: {type: new, region: west, zones: [a, b]}
    networks: {pods: 10.7.0.0/16, services: 10.8.0.0/16, nodes: 10.3.0.0/16, shootDefaults: {pods: 10.9.0.0/16}}
    ingress: {domain: seed.example.org, controller: {kind: nginx}}
    dns:
      internal: {type: old, domain: example.org, credentialsRef: {apiVersion: v1, kind: Secret, namespace: garden, name: keys}}
      provider: {type: old, credentialsRef: {apiVersion: v1, kind: Secret, namespace: garden, name: keys}}
`,
		},
		"Process": {
			reason:     "a process reaches the seed by a kubeconfig",
			options:    join.Options{Name: "one", Provider: "local", Config: []byte(header + "seedClientConnection: {qps: 9}\n")},
			facts:      join.Facts{Pods: "10.1.0.0/16", Services: "10.2.0.0/16", Region: "north"},
			kubeconfig: "/seed.kubeconfig",
			want: header + `
gardenClientConnection:
  kubeconfigSecret: {name: gardenlet-kubeconfig, namespace: garden}
  bootstrapKubeconfig: {name: gardenlet-kubeconfig-bootstrap, namespace: garden}
seedClientConnection: {kubeconfig: /seed.kubeconfig, qps: 9}
resources: {capacity: {shoots: "250"}}
seedConfig:
  metadata: {name: one}
  spec:
    provider: {type: local, region: north}
    networks: {pods: 10.1.0.0/16, services: 10.2.0.0/16}
    dns:
      internal: {type: local, domain: internal.terrarium.local, credentialsRef: {apiVersion: v1, kind: Secret, namespace: garden, name: internal-domain}}
      provider: {type: local, credentialsRef: {apiVersion: v1, kind: Secret, namespace: garden, name: internal-domain}}
    ingress: {domain: ingress.one.internal.terrarium.local, controller: {kind: nginx}}
`,
		},
		"NotTold": {
			reason:  "what neither options nor cluster tell has to be said, all of it at once",
			options: join.Options{Name: "one", Provider: "local"},
			wantErr: "--region: required: the region could not be detected in the cluster\n--pods: required: the network of the pods could not be detected in the cluster\n--services: required",
		},
		"NoDomain": {
			reason:  "only the provider of the playground has a domain of its own",
			options: join.Options{Name: "one", Provider: "cloud"}, facts: facts,
			wantErr: "--internal-domain: required",
		},
		"UnknownField": {
			reason:  "a field that does not exist is named by its path",
			options: join.Options{Config: []byte(header + "seedConfig: {spec: {colour: green}}\n")},
			facts:   facts,
			wantErr: "seedConfig.spec.colour",
		},
		"WrongName": {
			reason:  "a name that cannot be one is named by its path",
			options: join.Options{Provider: "local", Config: []byte(header + "seedConfig: {metadata: {name: No_Name}}\n")},
			facts:   facts,
			wantErr: "seedConfig.metadata.name",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := join.Config(tc.options, tc.facts, tc.kubeconfig)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("%s\nConfig(...): got error %v, want one with %q", tc.reason, err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\nConfig(...): %v", tc.reason, err)
			}
			want := map[string]any{}
			if err := yaml.Unmarshal([]byte(tc.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\nConfig(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	token := "T10" + strings.Repeat("a", 64) + "::abcdef.0123456789abcdef"
	good := join.Options{Server: "https://garden.example.org:6443", Token: token, Name: "one", Provider: "local"}
	cases := map[string]struct {
		reason string
		change func(o *join.Options)
		want   string
	}{
		"Good":          {reason: "nothing is wrong with good options", change: func(*join.Options) {}},
		"NoToken":       {reason: "a token is needed", change: func(o *join.Options) { o.Token = "" }, want: "--token: required"},
		"Malformed":     {reason: "a malformed token is explained", change: func(o *join.Options) { o.Token = "rubbish" }, want: "T10"},
		"Unpinned":      {reason: "a token without a hash is refused", change: func(o *join.Options) { o.Token = "abcdef.0123456789abcdef" }, want: "--token: without the hash"},
		"UnpinnedAsked": {reason: "unless that is asked for", change: func(o *join.Options) { o.Token, o.InsecureSkipCAVerification = "abcdef.0123456789abcdef", true }},
		"UnpinnedCA":    {reason: "or the CA itself is there", change: func(o *join.Options) { o.Token, o.GardenCA = "abcdef.0123456789abcdef", authority(t) }},
		"BadCA":         {reason: "the CA has to be one", change: func(o *join.Options) { o.GardenCA = []byte("rubbish") }, want: "--garden-ca-file: must contain a certificate"},
		"CAAndNoCheck":  {reason: "one of both is a mistake", change: func(o *join.Options) { o.GardenCA, o.InsecureSkipCAVerification = authority(t), true }, want: "cannot be used together with --garden-ca-file"},
		"PlainServer":   {reason: "a garden is reached by TLS", change: func(o *join.Options) { o.Server = "http://garden" }, want: "SERVER_URL"},
		"NoName":        {reason: "a seed has a name", change: func(o *join.Options) { o.Name = "" }, want: "--name: required"},
		"BadName":       {reason: "the name is a label", change: func(o *join.Options) { o.Name = "A b" }, want: "--name:"},
		"NoProvider":    {reason: "a provider is needed", change: func(o *join.Options) { o.Provider = "" }, want: "--provider: required"},
		"BadNetwork":    {reason: "networks are in CIDR notation", change: func(o *join.Options) { o.Pods = "10.0.0.0" }, want: "--pods:"},
		"BadSecret":     {reason: "a Secret has a namespace", change: func(o *join.Options) { o.InternalDomainSecret = "x" }, want: "--internal-domain-secret"},
		"BadMode":       {reason: "there are two modes", change: func(o *join.Options) { o.Mode = "magic" }, want: "--mode"},
		"Context":       {reason: "a process has no context", change: func(o *join.Options) { o.Mode, o.SeedContext = join.ModeProcess, "x" }, want: "--seed-context"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := good
			tc.change(&options)
			err := errors.Join(options.Validate()...)
			if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s\nValidate(): got %v, want %q", tc.reason, err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "0123456789abcdef") {
				t.Errorf("%s\nValidate(): the error shows the secret: %v", tc.reason, err)
			}
		})
	}
}

// authority is a certificate in PEM.
func authority(t *testing.T) []byte {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func TestDetect(t *testing.T) {
	t.Parallel()
	in := func(name string, data map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}, Data: data}
	}
	node := func(name, region, zone string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			"topology.kubernetes.io/region": region, "topology.kubernetes.io/zone": zone,
		}}}
	}
	cases := map[string]struct {
		reason  string
		objects []client.Object
		want    join.Facts
	}{
		"Nothing": {reason: "a cluster need not tell anything"},
		"Shoot": {
			reason:  "a shoot tells everything",
			objects: []client.Object{in("shoot-info", map[string]string{"podNetwork": "10.1.0.0/16", "serviceNetwork": "10.2.0.0/16", "nodeNetwork": "10.3.0.0/16", "region": "north"})},
			want:    join.Facts{Pods: "10.1.0.0/16", Services: "10.2.0.0/16", Nodes: "10.3.0.0/16", Region: "north"},
		},
		"ShootOfAProvider": {
			reason:  "the provider has chosen the range of the nodes",
			objects: []client.Object{in("shoot-info", map[string]string{"podNetwork": "10.1.0.0/16", "serviceNetwork": "10.2.0.0/16", "nodeNetworks": "10.3.0.0/16"})},
			want:    join.Facts{Pods: "10.1.0.0/16", Services: "10.2.0.0/16", Nodes: "10.3.0.0/16"},
		},
		"ShootWithSeveral": {
			reason:  "a seed has one range of nodes; its administrator has to say which",
			objects: []client.Object{in("shoot-info", map[string]string{"podNetwork": "10.1.0.0/16", "serviceNetwork": "10.2.0.0/16", "nodeNetworks": "10.3.0.0/16,10.4.0.0/16"})},
			want:    join.Facts{Pods: "10.1.0.0/16", Services: "10.2.0.0/16"},
		},
		"Kubeadm": {
			reason:  "kubeadm leaves its configuration; of two families the first counts",
			objects: []client.Object{in("kubeadm-config", map[string]string{"ClusterConfiguration": "networking:\n  podSubnet: 10.1.0.0/16,fd00::/48\n  serviceSubnet: 10.2.0.0/16\n"})},
			want:    join.Facts{Pods: "10.1.0.0/16", Services: "10.2.0.0/16"},
		},
		"Broken": {
			reason:  "a configuration that cannot be read tells nothing",
			objects: []client.Object{in("kubeadm-config", map[string]string{"ClusterConfiguration": "}"})},
		},
		"API": {
			reason: "the API server knows the services, flags and nodes the rest",
			objects: []client.Object{
				&networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{Name: "kubernetes"}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"10.2.0.0/16"}}},
				&corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kcm", Labels: map[string]string{"component": "kube-controller-manager"}},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Command: []string{"kube-controller-manager", "--cluster-cidr=10.1.0.0/16", "--service-cluster-ip-range=10.9.0.0/16"}}}},
				},
				node("n1", "north", "b"), node("n2", "north", "a"), node("n3", "north", "a"),
			},
			want: join.Facts{Pods: "10.1.0.0/16", Services: "10.2.0.0/16", Region: "north", Zones: []string{"a", "b"}},
		},
		"TwoRegions": {
			reason:  "nodes in two regions tell none",
			objects: []client.Object{node("n1", "north", "a"), node("n2", "south", "a")},
			want:    join.Facts{Zones: []string{"a"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := join.Detect(t.Context(), fake.NewClientBuilder().WithObjects(tc.objects...).Build())
			if err != nil {
				t.Fatalf("%s\nDetect(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nDetect(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
