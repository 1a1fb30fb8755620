// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/apiserver-network-proxy/cmd/server/app/options"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

const encryptionKey = gardencorev1beta1.SecretETCDEncryptionKey

// given holds the facts and inputs of an API server whose load balancer has an IP address.
type given struct {
	facts  facts.Shoot
	inputs component.Inputs
}

func values() given {
	shoot := &gardencorev1beta1.Shoot{}
	shoot.Spec.Networking = &gardencorev1beta1.Networking{Services: new("10.101.0.0/16")}
	return given{
		facts: facts.Shoot{Shoot: shoot, Namespace: "shoot--dev--a", KubeletsSigned: true, Hosts: facts.Hosts{Internal: "api.a.dev.internal.terrarium.local"}},
		inputs: component.Inputs{
			Replicas: 1, Images: map[string]string{"kube-apiserver": "registry.k8s.io/kube-apiserver:v1.36.3"},
			Addresses: component.Addresses{apiserver.Exposure: {LoadBalancer: "10.99.1.1"}},
			Secrets: map[string]component.Secret{
				"ca-client": {Bundle: "ca-client-bundle-66666666"}, "ca-kubelet": {Bundle: "ca-kubelet-bundle-aaaaaaaa"}, "ca-front-proxy": {Bundle: "ca-front-proxy-bundle-77777777"},
				"ca-etcd": {Bundle: "ca-etcd-bundle-88888888"}, "kube-apiserver": {Name: "kube-apiserver-11111111"},
				"etcd-client": {Name: "etcd-client-22222222"}, "kube-apiserver-kubelet": {Name: "kube-apiserver-kubelet-33333333"},
				"kube-aggregator":     {Name: "kube-aggregator-44444444"},
				"service-account-key": {Name: "service-account-key-55555555", Bundle: "service-account-key-bundle-99999999"},
				encryptionKey:         {Keys: []secrets.EncryptionKey{{Name: "key1", Secret: []byte("01234567890123456789012345678901")}}},
			},
		},
	}
}

func render(t *testing.T, v given) []client.Object {
	t.Helper()
	objs, err := apiserver.Component().Render(v.facts, &v.inputs)
	if err := errors.Join(err, v.inputs.Missing()); err != nil {
		t.Fatal(err)
	}
	return objs
}

func deployment(t *testing.T, v given) *appsv1.Deployment {
	t.Helper()
	return rendered[*appsv1.Deployment](t, v)
}

// rendered is the first object of a kind.
func rendered[T client.Object](t *testing.T, v given) T {
	t.Helper()
	for _, obj := range render(t, v) {
		if found, ok := obj.(T); ok {
			return found
		}
	}
	var none T
	t.Fatalf("no %T is rendered", none)
	return none
}

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "default.yaml", append([]client.Object{apiserver.ExposureComponent().Service(values().facts)}, render(t, values())...))
}

// withNodes are values of a shoot with nodes, which a tunnel leads to.
func withNodes() given {
	v := values()
	v.facts.Shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small"}}
	v.inputs.Images["konnectivity-server"] = "registry.k8s.io/kas-network-proxy/proxy-server:v0.36.0"
	v.inputs.Secrets["ca"] = component.Secret{Bundle: "ca-bundle-10101010"}
	v.inputs.Secrets["konnectivity-server"] = component.Secret{Name: "konnectivity-server-12121212"}
	v.inputs.Secrets["konnectivity-server-client"] = component.Secret{Name: "konnectivity-server-client-13131313"}
	return v
}

func TestTunnel(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "tunnel.yaml", append([]client.Object{apiserver.ExposureComponent().Service(withNodes().facts)}, render(t, withNodes())...))
}

// TestNothingIsProxied: a Node or an EndpointSlice that an owner writes has any address. The connection to it goes to a socket, and without
// nodes nobody can listen there, because no volume has its folder and the file system of the pod is read-only.
func TestNothingIsProxied(t *testing.T) {
	t.Parallel()
	d := deployment(t, values())
	const flag = "--egress-selector-config-file=/srv/kubernetes/config/egress-selector-configuration.yaml"
	server := d.Spec.Template.Spec.Containers[0]
	if !slices.Contains(server.Args, flag) {
		t.Errorf("the API server of a shoot without nodes connects directly: it has no flag %s", flag)
	}
	if config := rendered[*corev1.ConfigMap](t, values()).Data["egress-selector-configuration.yaml"]; !strings.Contains(config, "name: cluster") || !strings.Contains(config, "udsName: /run/tunnel/server.socket") {
		t.Errorf("the configuration is\n%s", config)
	}
	for _, mount := range server.VolumeMounts {
		if strings.HasPrefix("/run/tunnel/server.socket", mount.MountPath+"/") {
			t.Errorf("the socket is in volume %q", mount.Name)
		}
	}
	if !*server.SecurityContext.ReadOnlyRootFilesystem {
		t.Error("the file system of the pod is not read-only")
	}
}

// TestTunnelFlags has the options of the program itself read its flags.
func TestTunnelFlags(t *testing.T) {
	t.Parallel()
	v := withNodes()
	v.inputs.Replicas = 3
	pod := deployment(t, v).Spec.Template.Spec
	o := options.NewProxyRunOptions()
	if err := o.Flags().Parse(pod.InitContainers[0].Args); err != nil {
		t.Fatal(err)
	}
	if o.ServerCount != 3 || o.AgentPort != apiserver.TunnelPort || o.ServerPort != 0 || o.UdsName == "" {
		t.Errorf("the server counts %d servers, listens for agents at %d, and for the API server at port %d and socket %q", o.ServerCount, o.AgentPort, o.ServerPort, o.UdsName)
	}
	if o.AgentNamespace != "kube-system" || o.AgentServiceAccount != apiserver.TunnelAgent || o.AuthenticationAudience != apiserver.TunnelAudience || o.KubeconfigPath == "" {
		t.Errorf("agents are let in that have no token of account %s/%s for %q", o.AgentNamespace, o.AgentServiceAccount, o.AuthenticationAudience)
	}
	if o.AdminBindAddress != "127.0.0.1" || o.EnableProfiling {
		t.Error("what administers the server is open to others")
	}
	if pod.InitContainers[0].RestartPolicy == nil || *pod.InitContainers[0].RestartPolicy != corev1.ContainerRestartPolicyAlways {
		t.Error("the server of the tunnel is to start before the API server and to end after it")
	}
	asleep := withNodes()
	asleep.inputs.Replicas = 0
	if replicas := deployment(t, asleep).Spec.Replicas; *replicas != 0 {
		t.Errorf("a sleeping shoot has %d API servers with tunnels", *replicas)
	}
}

// TestTunnelUser: the certificate gives no rights by itself.
func TestTunnelUser(t *testing.T) {
	t.Parallel()
	v := withNodes()
	config := rendered[*corev1.ConfigMap](t, v)
	for _, obj := range render(t, v) {
		if c, ok := obj.(*corev1.ConfigMap); ok && c.Name == "konnectivity-server-client-kubeconfig" {
			config = c
		}
	}
	if got := config.Data["kubeconfig"]; !strings.Contains(got, "https://localhost:443") || strings.Contains(got, "-data:") {
		t.Errorf("the server of the tunnel asks the API server beside it, with files:\n%s", got)
	}
	if strings.HasPrefix(apiserver.TunnelUser, "system:masters") || apiserver.TunnelUser == "" {
		t.Errorf("the user is %q", apiserver.TunnelUser)
	}
	names := map[string]bool{}
	requests, err := apiserver.Component().Secrets(v.facts, v.inputs.Addresses)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		names[r.Name] = true
	}
	without, err := apiserver.Component().Secrets(values().facts, v.inputs.Addresses)
	if err != nil || !names["konnectivity-server"] || slices.ContainsFunc(without, func(r component.Request) bool { return r.Name == "konnectivity-server" }) {
		t.Errorf("only a shoot with nodes has a certificate for its tunnel; got %v, error %v", names, err)
	}
}

func TestSettingsBecomeFlags(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		settings gardencorev1beta1.KubeAPIServerConfig
		want     []string
		not      string
	}{
		"FeatureGates": {
			settings: gardencorev1beta1.KubeAPIServerConfig{KubernetesConfig: gardencorev1beta1.KubernetesConfig{FeatureGates: map[string]bool{"B": false, "A": true}}},
			want:     []string{"--feature-gates=A=true,B=false"},
		},
		"RuntimeConfig": {
			settings: gardencorev1beta1.KubeAPIServerConfig{RuntimeConfig: map[string]bool{"batch/v2alpha1": true, "autoscaling/v1": false}},
			want:     []string{"--runtime-config=autoscaling/v1=false,batch/v2alpha1=true"},
		},
		"AdmissionPlugins": {
			settings: gardencorev1beta1.KubeAPIServerConfig{AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{
				{Name: "PodNodeSelector"}, {Name: "ResourceQuota", Disabled: new(true)},
			}},
			want: []string{"--enable-admission-plugins=NodeRestriction,PodNodeSelector", "--disable-admission-plugins=ResourceQuota"},
		},
		"Issuers": {
			settings: gardencorev1beta1.KubeAPIServerConfig{ServiceAccountConfig: &gardencorev1beta1.ServiceAccountConfig{
				Issuer: new("https://issuer.example.com"), AcceptedIssuers: []string{"https://old.example.com"},
				MaxTokenExpiration: &metav1.Duration{Duration: 720 * time.Hour}, ExtendTokenExpiration: new(false),
			}},
			want: []string{
				"--service-account-extend-token-expiration=false", "--service-account-max-token-expiration=720h0m0s",
				"--service-account-issuer=https://issuer.example.com", "--service-account-issuer=https://api.a.dev.internal.terrarium.local",
				"--service-account-issuer=https://old.example.com",
			},
		},
		"Limits": {
			settings: gardencorev1beta1.KubeAPIServerConfig{
				Requests:                         &gardencorev1beta1.APIServerRequests{MaxNonMutatingInflight: new(int32(800)), MaxMutatingInflight: new(int32(400))},
				DefaultNotReadyTolerationSeconds: new(int64(30)), EventTTL: &metav1.Duration{Duration: 2 * time.Hour},
				WatchCacheSizes: &gardencorev1beta1.WatchCacheSizes{Resources: []gardencorev1beta1.ResourceWatchCacheSize{{Resource: "deployments", APIGroup: new("apps"), Size: 200}}},
			},
			want: []string{
				"--max-requests-inflight=800", "--max-mutating-requests-inflight=400", "--default-not-ready-toleration-seconds=30",
				"--default-unreachable-toleration-seconds=300", "--event-ttl=2h0m0s", "--watch-cache-sizes=deployments.apps#200",
			},
		},
		"Audiences": {
			settings: gardencorev1beta1.KubeAPIServerConfig{APIAudiences: []string{"a", "b"}},
			want:     []string{"--api-audiences=a,b"}, not: "--api-audiences=kubernetes,gardener",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := values()
			v.facts.Shoot.Spec.Kubernetes.KubeAPIServer = &tc.settings
			args := deployment(t, v).Spec.Template.Spec.Containers[0].Args
			var got []string
			for _, arg := range args {
				if slices.Contains(tc.want, arg) {
					got = append(got, arg)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("flags of the server, in this order (-want +got):\n%s\nall: %v", diff, args)
			}
			if tc.not != "" && slices.Contains(args, tc.not) {
				t.Errorf("flag %s must not be there", tc.not)
			}
		})
	}
}

func TestPodsRollWhenConfigurationChanges(t *testing.T) {
	t.Parallel()
	base := deployment(t, values()).Spec.Template
	key := values()
	key.inputs.Secrets[encryptionKey] = component.Secret{Keys: []secrets.EncryptionKey{{Name: "key2", Secret: key.inputs.Secrets[encryptionKey].Keys[0].Secret}}}
	plugin := values()
	plugin.facts.Shoot.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{{
		Name: "PodSecurity", Config: &runtime.RawExtension{Raw: []byte(`{"kind":"PodSecurityConfiguration"}`)},
	}}}
	for reason, v := range map[string]given{"another encryption key": key, "another admission configuration": plugin} {
		if cmp.Equal(base.Annotations, deployment(t, v).Spec.Template.Annotations) {
			t.Errorf("%s leaves the pod template as it is", reason)
		}
	}
	if !cmp.Equal(base, deployment(t, values()).Spec.Template) {
		t.Error("the same values render another pod template")
	}
}

func TestSecretsStayOutOfThePodTemplate(t *testing.T) {
	t.Parallel()
	for _, arg := range deployment(t, values()).Spec.Template.Spec.Containers[0].Args {
		if strings.Contains(arg, "MDEyMzQ1Njc4OTAx") || strings.Contains(arg, "0123456789") {
			t.Errorf("flag %s holds a key", arg)
		}
	}
}

func TestEncryptionInUse(t *testing.T) {
	t.Parallel()
	render := func(provider gardencorev1beta1.EncryptionProviderType, resources ...string) *corev1.Secret {
		v := values()
		v.facts.Shoot.Status.Credentials = &gardencorev1beta1.ShootCredentials{EncryptionAtRest: &gardencorev1beta1.EncryptionAtRest{
			Provider: gardencorev1beta1.EncryptionProviderStatus{Type: provider}, Resources: resources,
		}}
		return rendered[*corev1.Secret](t, v)
	}
	for _, provider := range []gardencorev1beta1.EncryptionProviderType{"aescbc", "aesgcm", "secretbox"} {
		want := gardencorev1beta1.EncryptionAtRest{
			Provider: gardencorev1beta1.EncryptionProviderStatus{Type: provider}, Resources: []string{"configmaps", "deployments.apps"},
		}
		got, err := apiserver.EncryptionInUse(&gardencorev1beta1.Shoot{}, render(provider, "deployments.apps", "configmaps"))
		if diff := cmp.Diff(want, got.AtRest()); diff != "" || err != nil || got.ProviderOf("key1") != provider {
			t.Errorf("EncryptionInUse(...) does not return what was rendered (-want +got), error %v:\n%s", err, diff)
		}
	}
	foreign := render("aescbc")
	for key, data := range foreign.Data {
		foreign.Data[key] = bytes.ReplaceAll(data, []byte("aescbc"), []byte("kms"))
	}
	for reason, secret := range map[string]*corev1.Secret{"empty": {}, "another provider": foreign} {
		if got, err := apiserver.EncryptionInUse(&gardencorev1beta1.Shoot{}, secret); err == nil {
			t.Errorf("%s: EncryptionInUse(...) = %v, want an error", reason, got)
		}
	}
}

func TestANewKeyIsKnownBeforeItWrites_GLET_CRED_13(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		phase  gardencorev1beta1.CredentialsRotationPhase
		known  bool
		first  string
	}{
		{"an instance that does not know the new key could not read what it writes", "Preparing", false, "key1"},
		{"all instances know it", "Preparing", true, "key2"},
		{"the new key writes until the end", "Prepared", false, "key2"},
	} {
		v := values()
		keys := v.inputs.Secrets[encryptionKey].Keys
		v.inputs.Secrets[encryptionKey] = component.Secret{Keys: append([]secrets.EncryptionKey{{Name: "key2", Secret: make([]byte, 32)}}, keys...)}
		v.facts.Encryption.Known = tc.known
		v.facts.Shoot.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
			ETCDEncryptionKey: &gardencorev1beta1.ETCDEncryptionKeyRotation{Phase: tc.phase},
		}}
		config := string(rendered[*corev1.Secret](t, v).Data["encryption-configuration.yaml"])
		_, after, _ := strings.Cut(config, "name: ")
		if !strings.HasPrefix(after, tc.first) || strings.Count(config, "name: key") != 2 {
			t.Errorf("%s: want both keys and %s first", tc.reason, tc.first)
		}
	}
}

func TestTheKeyInUseComesFirst(t *testing.T) {
	t.Parallel()
	v := values()
	keys := v.inputs.Secrets[encryptionKey].Keys
	v.inputs.Secrets[encryptionKey] = component.Secret{Keys: append([]secrets.EncryptionKey{{Name: "key2", Secret: make([]byte, 32)}}, keys...)}
	config := string(rendered[*corev1.Secret](t, v).Data["encryption-configuration.yaml"])
	first, second := strings.Index(config, "name: key2"), strings.Index(config, "name: key1")
	if first < 0 || second < first {
		t.Errorf("a server writes with the first key, which is to be the new one, and reads with all:\n%s", config)
	}
}

// TestCompaction_BAK_DEFRAG_5: the server itself compacts the history of both stores, and says so instead of relying on a default.
func TestCompaction_BAK_DEFRAG_5(t *testing.T) {
	t.Parallel()
	var found []string
	for _, arg := range deployment(t, values()).Spec.Template.Spec.Containers[0].Args {
		if strings.Contains(arg, "compact") {
			found = append(found, arg)
		}
	}
	if diff := cmp.Diff([]string{"--etcd-compaction-interval=5m0s"}, found); diff != "" {
		t.Errorf("flags about the history (-want +got):\n%s", diff)
	}
}

// TestSized: the API server requests what its shoot demands at least, and is sized by its use on a seed that does so.
func TestSized(t *testing.T) {
	t.Parallel()
	v := values()
	v.facts.VerticalAutoscaling = true
	v.facts.Shoot.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{Autoscaling: &gardencorev1beta1.ControlPlaneAutoscaling{
		MinAllowed: map[string]resource.Quantity{"memory": resource.MustParse("3Gi")},
	}}
	var autoscalers int
	for _, obj := range render(t, v) {
		switch o := obj.(type) {
		case *appsv1.Deployment:
			requests := o.Spec.Template.Spec.Containers[0].Resources.Requests
			if requests.Memory().String() != "3Gi" || requests.Cpu().String() != "50m" {
				t.Errorf("the API server requests %v, want 50m and 3Gi", requests)
			}
		case *unstructured.Unstructured:
			autoscalers++
			policies, _, err := unstructured.NestedSlice(o.Object, "spec", "resourcePolicy", "containerPolicies")
			if err != nil {
				t.Fatal(err)
			}
			want := []any{
				map[string]any{
					"containerName": "kube-apiserver", "controlledValues": "RequestsOnly",
					"minAllowed": map[string]any{"cpu": "50m", "memory": "3Gi"}, "maxAllowed": map[string]any{"cpu": "8", "memory": "25Gi"},
				},
				map[string]any{"containerName": "*", "mode": "Off"},
			}
			if diff := cmp.Diff(want, policies); diff != "" {
				t.Errorf("what is sized (-want +got):\n%s", diff)
			}
		}
	}
	if autoscalers != 1 {
		t.Errorf("there are %d autoscalers, want one", autoscalers)
	}
}
