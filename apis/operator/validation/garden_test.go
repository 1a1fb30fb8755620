// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/operator/validation"
)

type (
	garden  = gardenoperatorv1alpha1.Garden
	change  = func(*garden)
	backups = gardenoperatorv1alpha1.Backup
	domain  = gardenoperatorv1alpha1.DNSDomain
	phase   = gardencorev1beta1.CredentialsRotationPhase
)

// made is a Garden that says everything that may not change later, and has its defaults.
func made(changes ...change) *garden {
	g := &garden{ObjectMeta: metav1.ObjectMeta{Name: "garden", ResourceVersion: "1"}}
	g.Spec.RuntimeCluster.Networking = gardenoperatorv1alpha1.RuntimeNetworking{
		Nodes: []string{"10.0.0.0/16"}, Pods: []string{"10.1.0.0/16"}, Services: []string{"10.2.0.0/16"},
	}
	g.Spec.RuntimeCluster.Ingress.Controller.Kind = "nginx"
	g.Spec.RuntimeCluster.Ingress.Domains = []domain{{Name: "ingress.example.com"}}
	g.Spec.RuntimeCluster.Provider.Zones = []string{"a", "b"}
	v := &g.Spec.VirtualCluster
	v.DNS.Domains = []domain{{Name: "garden.example.com"}}
	v.Networking.Services = []string{"10.3.0.0/16"}
	v.Maintenance.TimeWindow = gardencorev1beta1.MaintenanceTimeWindow{Begin: "220000+0100", End: "230000+0100"}
	v.Kubernetes.Version = "1.33.1"
	v.Gardener.ClusterIdentity = "mine"
	v.ETCD = &gardenoperatorv1alpha1.ETCD{Main: &gardenoperatorv1alpha1.ETCDMain{
		Backup: &backups{Provider: "local", BucketName: new("bucket"), SecretRef: corev1.LocalObjectReference{Name: "backup"}},
	}}
	gardenoperatorv1alpha1.SetDefaultsGarden(g)
	for _, c := range changes {
		c(g)
	}
	return g
}

func api(g *garden) *gardenoperatorv1alpha1.GardenerAPIServerConfig {
	return g.Spec.VirtualCluster.Gardener.APIServer
}

func kube(g *garden) *gardenoperatorv1alpha1.KubeAPIServerConfig {
	return g.Spec.VirtualCluster.Kubernetes.KubeAPIServer
}

func settings(g *garden) *gardenoperatorv1alpha1.Settings {
	g.Spec.RuntimeCluster.Settings = &gardenoperatorv1alpha1.Settings{}
	return g.Spec.RuntimeCluster.Settings
}

func available(g *garden) {
	g.Spec.VirtualCluster.ControlPlane = &gardenoperatorv1alpha1.ControlPlane{HighAvailability: &gardenoperatorv1alpha1.HighAvailability{}}
}

func routing(g *garden) {
	settings(g).TopologyAwareRouting = &gardenoperatorv1alpha1.SettingTopologyAwareRouting{Enabled: true}
}

func asks(operation string) change {
	return func(g *garden) { metav1.SetMetaDataAnnotation(&g.ObjectMeta, "gardener.cloud/operation", operation) }
}

func dashboard(c func(*gardenoperatorv1alpha1.GardenerDashboardConfig)) change {
	return func(g *garden) {
		g.Spec.VirtualCluster.Gardener.Dashboard = &gardenoperatorv1alpha1.GardenerDashboardConfig{}
		gardenoperatorv1alpha1.SetDefaultsGarden(g)
		c(g.Spec.VirtualCluster.Gardener.Dashboard)
	}
}

// found are the fields that are complained about, each once, in alphabetical order.
func found(errs field.ErrorList) []string {
	var fields []string
	for _, err := range errs {
		fields = append(fields, err.Field)
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

func TestGarden(t *testing.T) {
	t.Parallel()
	const (
		runtime = "spec.runtimeCluster."
		virtual = "spec.virtualCluster."
		own     = virtual + "gardener.gardenerAPIServer."
		native  = virtual + "kubernetes.kubeAPIServer."
	)
	for name, tc := range map[string]struct {
		reason string
		change change
		want   []string
	}{
		"everything": {"what is right is accepted", func(*garden) {}, nil},
		"seed era": {
			"a Garden from before these sections existed is accepted",
			func(g *garden) {
				window := g.Spec.VirtualCluster.Maintenance
				g.Spec = gardenoperatorv1alpha1.GardenSpec{}
				g.Spec.VirtualCluster.Maintenance = window
				available(g)
				g.Spec.RuntimeCluster.Provider.Zones = []string{"a"}
				gardenoperatorv1alpha1.SetDefaultsGarden(g)
			},
			nil,
		},
		"OPER-WH-8 operator":   {"nobody looks after a new Garden yet", func(g *garden) { g.Finalizers = []string{"gardener.cloud/operator"} }, []string{"metadata.finalizers[0]"}},
		"OPER-WH-8 references": {"nor after what it refers to", func(g *garden) { g.Finalizers = []string{"mine.io/x", "gardener.cloud/reference-protection"} }, []string{"metadata.finalizers[1]"}},
		"OPER-API-3 window":    {"maintenance has a time", func(g *garden) { g.Spec.VirtualCluster.Maintenance.TimeWindow.Begin = "22:00" }, []string{virtual + "maintenance.timeWindow.begin"}},
		"OPER-API-8 providers": {"who makes names is said", func(g *garden) { g.Spec.DNS = &gardenoperatorv1alpha1.DNSManagement{} }, []string{
			"spec.dns.providers", runtime + "ingress.domains[0].provider", virtual + "dns.domains[0].provider",
		}},
		"OPER-API-8 minAllowed": {
			"stores get some memory",
			func(g *garden) {
				g.Spec.VirtualCluster.ETCD.Main.Autoscaling = &gardencorev1beta1.ControlPlaneAutoscaling{
					MinAllowed: map[string]resource.Quantity{"memory": resource.MustParse("200M"), "disk": resource.MustParse("1")},
				}
				g.Spec.VirtualCluster.ETCD.Events = &gardenoperatorv1alpha1.ETCDEvents{Autoscaling: &gardencorev1beta1.ControlPlaneAutoscaling{
					MinAllowed: map[string]resource.Quantity{"memory": resource.MustParse("60M")},
				}}
			},
			[]string{virtual + "etcd.main.autoscaling.minAllowed[disk]", virtual + "etcd.main.autoscaling.minAllowed[memory]"},
		},
		"OPER-API-8 audit": {
			"an audit webhook is reached by a kubeconfig",
			func(g *garden) {
				kube(g).AuditWebhook = &gardenoperatorv1alpha1.AuditWebhook{BatchMaxSize: new(int32(0)), Version: new("v0")}
			},
			[]string{native + "auditWebhook.batchMaxSize", native + "auditWebhook.kubeconfigSecretName", native + "auditWebhook.version"},
		},
		"OPER-API-8 authentication": {
			"a token webhook too",
			func(g *garden) {
				kube(g).Authentication = &gardenoperatorv1alpha1.Authentication{Webhook: &gardenoperatorv1alpha1.AuthenticationWebhook{Version: new("v0")}}
			},
			[]string{native + "authentication.webhook.kubeconfigSecretName", native + "authentication.webhook.version"},
		},
		"OPER-API-8 go away": {"a client is sent away rarely", func(g *garden) { api(g).GoAwayChance = new(0.03) }, []string{own + "goAwayChance"}},
		"OPER-API-8 levels": {
			"levels and strategies are known",
			func(g *garden) {
				g.Spec.VirtualCluster.Gardener.Scheduler = &gardenoperatorv1alpha1.GardenerSchedulerConfig{LogLevel: new("loud"), Strategy: new("Any")}
			},
			[]string{virtual + "gardener.gardenerScheduler.logLevel", virtual + "gardener.gardenerScheduler.strategy"},
		},
		"OPER-API-8 limits": {
			"a limit says what it limits",
			func(g *garden) {
				g.Spec.VirtualCluster.Gardener.AdmissionController = &gardenoperatorv1alpha1.GardenerAdmissionControllerConfig{
					ResourceAdmissionConfiguration: &gardenoperatorv1alpha1.ResourceAdmissionConfiguration{
						Limits:               []gardenoperatorv1alpha1.ResourceLimit{{}},
						OperationMode:        new(gardenoperatorv1alpha1.ResourceAdmissionWebhookMode("shout")),
						UnrestrictedSubjects: []rbacv1.Subject{{Kind: "Robot", Name: "r2"}},
					},
				}
			},
			[]string{
				virtual + "gardener.gardenerAdmissionController.resourceAdmissionConfiguration.limits[0]",
				virtual + "gardener.gardenerAdmissionController.resourceAdmissionConfiguration.limits[0].resources",
				virtual + "gardener.gardenerAdmissionController.resourceAdmissionConfiguration.operationMode",
				virtual + "gardener.gardenerAdmissionController.resourceAdmissionConfiguration.unrestrictedSubjects[0].kind",
			},
		},
		"GAC-SIZE-9": {
			"a limit lets something pass, and an exempt account is in a namespace",
			func(g *garden) {
				nothing := resource.MustParse("0")
				g.Spec.VirtualCluster.Gardener.AdmissionController = &gardenoperatorv1alpha1.GardenerAdmissionControllerConfig{
					ResourceAdmissionConfiguration: &gardenoperatorv1alpha1.ResourceAdmissionConfiguration{
						Limits:               []gardenoperatorv1alpha1.ResourceLimit{{Resources: []string{"*"}, Size: &nothing}},
						UnrestrictedSubjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "*"}, {Kind: "Group", Name: "*"}},
					},
				}
			},
			[]string{
				virtual + "gardener.gardenerAdmissionController.resourceAdmissionConfiguration.limits[0].size",
				virtual + "gardener.gardenerAdmissionController.resourceAdmissionConfiguration.unrestrictedSubjects[0].namespace",
			},
		},
		"OPER-WH-9 no network": {"a range can be read", func(g *garden) { g.Spec.RuntimeCluster.Networking.Pods[0] = "here" }, []string{runtime + "networking.pods[0]"}},
		"OPER-WH-9 overlap":    {"ranges are apart", func(g *garden) { g.Spec.VirtualCluster.Networking.Services[0] = "10.1.2.0/24" }, []string{virtual + "networking.services[0]"}},
		"OPER-WH-9 three": {"there are two families", func(g *garden) {
			g.Spec.VirtualCluster.Networking.Services = []string{"10.3.0.0/16", "fd00::/64", "10.4.0.0/16"}
		}, []string{virtual + "networking.services"}},
		"OPER-WH-9 same family": {"two ranges are of two families", func(g *garden) { g.Spec.VirtualCluster.Networking.Services = []string{"10.3.0.0/16", "10.4.0.0/16"} }, []string{virtual + "networking.services"}},
		"OPER-WH-9 two":         {"which is fine", func(g *garden) { g.Spec.VirtualCluster.Networking.Services = []string{"10.3.0.0/16", "fd00::/64"} }, nil},
		"OPER-WH-9 no pods":     {"a network has pods", func(g *garden) { g.Spec.RuntimeCluster.Networking.Pods = nil }, []string{runtime + "networking"}},
		"OPER-WH-9 families": {
			"families are known, and named once",
			func(g *garden) {
				g.Spec.RuntimeCluster.Networking.IPFamilies = []gardencorev1beta1.IPFamily{"IPv4", "IPv4", "IPv5"}
			},
			[]string{runtime + "networking.ipFamilies[1]", runtime + "networking.ipFamilies[2]"},
		},
		"OPER-WH-10 names": {
			"domains are domains, each once",
			func(g *garden) {
				g.Spec.VirtualCluster.DNS.Domains = []domain{{Name: "a.example.com"}, {Name: "a.example.com"}, {Name: "No!"}}
			},
			[]string{virtual + "dns.domains[1].name", virtual + "dns.domains[2].name"},
		},
		"OPER-WH-10 provider": {
			"a domain is hosted by a service that is there",
			func(g *garden) {
				g.Spec.DNS = &gardenoperatorv1alpha1.DNSManagement{Providers: []gardenoperatorv1alpha1.DNSProvider{
					{Name: "one", Type: "local", SecretRef: corev1.LocalObjectReference{Name: "dns"}},
				}}
				g.Spec.RuntimeCluster.Ingress.Domains[0].Provider = new("one")
				g.Spec.VirtualCluster.DNS.Domains[0].Provider = new("two")
			},
			[]string{virtual + "dns.domains[0].provider"},
		},
		"OPER-WH-13 version":  {"a version is complete", func(g *garden) { g.Spec.VirtualCluster.Kubernetes.Version = "1.33" }, []string{virtual + "kubernetes.version"}},
		"OPER-WH-13 settings": {"the settings of shoots hold here too", func(g *garden) { kube(g).EventTTL = &metav1.Duration{Duration: 1000 * time.Hour} }, []string{native + "eventTTL"}},
		"OPER-WH-14 resources": {
			"kinds of the garden are encrypted, beyond what always is",
			func(g *garden) {
				api(g).EncryptionConfig.Resources = []string{
					"shoots.core.gardener.cloud", "*.core.gardener.cloud", "Seeds.core.gardener.cloud", "shootstates.core.gardener.cloud",
					"configmaps", "shoots.core.gardener.cloud",
				}
			},
			[]string{
				own + "encryptionConfig.resources[1]", own + "encryptionConfig.resources[2]", own + "encryptionConfig.resources[3]",
				own + "encryptionConfig.resources[4]", own + "encryptionConfig.resources[5]",
			},
		},
		"OPER-WH-14 provider": {
			"both servers encrypt alike",
			func(g *garden) {
				api(g).EncryptionConfig.Provider.Type = new(gardencorev1beta1.EncryptionProviderTypeSecretbox)
			},
			[]string{own + "encryptionConfig.provider.type"},
		},
		"OPER-WH-15 policy": {
			"a policy is known",
			func(g *garden) {
				settings(g).LoadBalancerServices = &gardenoperatorv1alpha1.SettingLoadBalancerServices{ExternalTrafficPolicy: new(corev1.ServiceExternalTrafficPolicy("Far"))}
			},
			[]string{runtime + "settings.loadBalancerServices.externalTrafficPolicy"},
		},
		"OPER-WH-15 routing":       {"routing within a zone needs something in each", routing, []string{runtime + "settings.topologyAwareRouting.enabled"}},
		"OPER-WH-15 routing there": {"which is fine", func(g *garden) { routing(g); available(g) }, nil},
		"OPER-WH-15 one zone":      {"and more than one", func(g *garden) { routing(g); available(g); g.Spec.RuntimeCluster.Provider.Zones = nil }, []string{runtime + "settings.topologyAwareRouting.enabled"}},
		"OPER-WH-15 sni": {
			"another certificate never stands for the garden's own name",
			func(g *garden) {
				kube(g).SNI = &gardenoperatorv1alpha1.SNI{DomainPatterns: []string{"*.garden.example.com", "api.garden.example.com", "api.other.example.com", "*.example.com"}}
			},
			[]string{native + "sni.domainPatterns[0]", native + "sni.domainPatterns[1]"},
		},
		"OPER-WH-15 plugins": {
			"plugins are known, each once",
			func(g *garden) {
				api(g).AdmissionPlugins = []gardencorev1beta1.AdmissionPlugin{{Name: "ShootDNS"}, {Name: "ShootDNS"}, {Name: "Magic"}}
			},
			[]string{own + "admissionPlugins[1].name", own + "admissionPlugins[2].name"},
		},
		"OPER-WH-15 gates": {"gates are known", func(g *garden) { api(g).FeatureGates = map[string]bool{"Magic": true} }, []string{own + "featureGates[Magic]"}},
		"OPER-WH-15 native gates": {
			"gates of Kubernetes are known, and not locked to another value",
			func(g *garden) {
				kube(g).FeatureGates = map[string]bool{"Magic": true, "StatefulSetAutoDeletePVC": false}
			},
			[]string{native + "featureGates.Magic", native + "featureGates.StatefulSetAutoDeletePVC"},
		},
		"OPER-WH-13 controllers": {
			"settings of the controllers hold here too",
			func(g *garden) {
				g.Spec.VirtualCluster.Kubernetes.KubeControllerManager = &gardenoperatorv1alpha1.KubeControllerManagerConfig{}
				g.Spec.VirtualCluster.Kubernetes.KubeControllerManager.FeatureGates = map[string]bool{"Magic": true}
			},
			[]string{virtual + "kubernetes.kubeControllerManager.featureGates.Magic"},
		},
		"OPER-WH-15 lifetimes": {"kubeconfigs live for some time", func(g *garden) { api(g).ShootAdminKubeconfigMaxExpiration = &metav1.Duration{Duration: time.Minute} }, []string{own + "shootAdminKubeconfigMaxExpiration"}},
		"OPER-WH-15 shortest":  {"an hour at least", func(g *garden) { api(g).ShootAdminKubeconfigMaxExpiration = &metav1.Duration{Duration: time.Hour} }, nil},
		"OPER-WH-15 longest": {"as long as Kubernetes lets a token live", func(g *garden) {
			api(g).ShootAdminKubeconfigMaxExpiration = &metav1.Duration{Duration: 1 << 32 * time.Second}
		}, nil},
		"OPER-WH-15 unlimited": {"and not longer", func(g *garden) {
			api(g).ShootAdminKubeconfigMaxExpiration = &metav1.Duration{Duration: 1<<32*time.Second + 1}
		}, []string{own + "shootAdminKubeconfigMaxExpiration"}},
		"OPER-WH-16 login": {
			"somebody can log in",
			dashboard(func(d *gardenoperatorv1alpha1.GardenerDashboardConfig) { d.EnableTokenLogin = new(false) }),
			[]string{virtual + "gardener.gardenerDashboard.enableTokenLogin"},
		},
		"OPER-WH-16 oidc": {
			"an issuer is complete, and trusted by the API server",
			dashboard(func(d *gardenoperatorv1alpha1.GardenerDashboardConfig) {
				d.OIDC = &gardenoperatorv1alpha1.DashboardOIDC{IssuerURL: new("http://issuer")}
			}),
			[]string{
				virtual + "gardener.gardenerDashboard.oidcConfig", virtual + "gardener.gardenerDashboard.oidcConfig.clientIDPublic",
				virtual + "gardener.gardenerDashboard.oidcConfig.issuerURL", virtual + "gardener.gardenerDashboard.oidcConfig.secretRef.name",
			},
		},
		"OPER-WH-16 sni": {
			"an authority that is not there cannot be shown",
			dashboard(func(d *gardenoperatorv1alpha1.GardenerDashboardConfig) { d.PropagateCAFromSNI = new(true) }),
			[]string{virtual + "gardener.gardenerDashboard.propagateCAFromSNI"},
		},
		"OPER-WH-17 extensions": {
			"an extension is asked for once",
			func(g *garden) {
				g.Spec.Extensions = []gardenoperatorv1alpha1.GardenExtension{{Type: "one"}, {Type: "one"}}
			},
			[]string{"spec.extensions[1].type"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := validation.ValidateGarden(made(tc.change))
			if diff := cmp.Diff(tc.want, found(errs)); diff != "" {
				t.Errorf("%s\nfields (-want +got):\n%s\n%v", tc.reason, diff, errs.ToAggregate())
			}
		})
	}
}

func TestGardenUpdate(t *testing.T) {
	t.Parallel()
	const virtual = "spec.virtualCluster."
	for name, tc := range map[string]struct {
		reason      string
		before, now change
		want        []string
	}{
		"nothing": {"nothing changed", nil, nil, nil},
		"OPER-API-5 provider": {
			"backups stay where they are",
			nil, func(g *garden) { g.Spec.VirtualCluster.ETCD.Main.Backup.Provider = "other" },
			[]string{virtual + "etcd.main.backup.provider"},
		},
		"OPER-API-5 region": {
			"there neither",
			func(g *garden) { g.Spec.VirtualCluster.ETCD.Main.Backup.Region = new("north") },
			func(g *garden) { g.Spec.VirtualCluster.ETCD.Main.Backup.Region = new("south") },
			[]string{virtual + "etcd.main.backup.region"},
		},
		"OPER-API-5 backup":    {"backups can begin", func(g *garden) { g.Spec.VirtualCluster.ETCD = nil }, nil, nil},
		"OPER-API-8 identity":  {"a garden keeps its identity", nil, func(g *garden) { g.Spec.VirtualCluster.Gardener.ClusterIdentity = "yours" }, []string{virtual + "gardener.clusterIdentity"}},
		"OPER-WH-4 taken away": {"what survives failures goes on doing so", available, nil, []string{virtual + "controlPlane.highAvailability"}},
		"OPER-WH-4 added":      {"it can be added", nil, available, nil},
		"OPER-WH-9 changed":    {"a range never changes", nil, func(g *garden) { g.Spec.RuntimeCluster.Networking.Pods[0] = "10.9.0.0/16" }, []string{"spec.runtimeCluster.networking.pods[0]"}},
		"OPER-WH-9 removed":    {"nor goes", nil, func(g *garden) { g.Spec.RuntimeCluster.Networking.Nodes = nil }, []string{"spec.runtimeCluster.networking.nodes"}},
		"OPER-WH-9 each": {
			"none of the lists",
			func(g *garden) { g.Spec.VirtualCluster.Networking.Services = []string{"10.3.0.0/16", "fd00::/64"} },
			func(g *garden) {
				n := &g.Spec.RuntimeCluster.Networking
				n.IPFamilies, n.Services = []gardencorev1beta1.IPFamily{"IPv6"}, []string{"10.8.0.0/16"}
			},
			[]string{"spec.runtimeCluster.networking.ipFamilies[0]", "spec.runtimeCluster.networking.services[0]", virtual + "networking.services"},
		},
		"OPER-WH-9 appended": {"another one can be added", nil, func(g *garden) { g.Spec.RuntimeCluster.Networking.Pods = []string{"10.1.0.0/16", "10.9.0.0/16"} }, nil},
		"OPER-WH-10 ingress": {"the first domain stays", nil, func(g *garden) { g.Spec.RuntimeCluster.Ingress.Domains[0].Name = "other.example.com" }, []string{"spec.runtimeCluster.ingress.domains[0].name"}},
		"OPER-WH-10 none":    {"there need not be one", func(g *garden) { g.Spec.VirtualCluster.DNS.Domains = nil }, func(g *garden) { g.Spec.VirtualCluster.DNS.Domains = nil }, nil},
		"OPER-WH-10 virtual": {"here as well", nil, func(g *garden) { g.Spec.VirtualCluster.DNS.Domains = nil }, []string{virtual + "dns.domains"}},
		"OPER-WH-11 removed": {"backups would be lost", nil, func(g *garden) { g.Spec.VirtualCluster.ETCD.Main.Backup = nil }, []string{virtual + "etcd.main.backup"}},
		"OPER-WH-11 bucket":  {"a bucket stays", nil, func(g *garden) { g.Spec.VirtualCluster.ETCD.Main.Backup.BucketName = nil }, []string{virtual + "etcd.main.backup.bucketName"}},
		"OPER-WH-11 named": {
			"even one without a name",
			func(g *garden) { g.Spec.VirtualCluster.ETCD.Main.Backup.BucketName = nil }, nil,
			[]string{virtual + "etcd.main.backup.bucketName"},
		},
		"OPER-WH-12 off":    {"published keys stay", discovery(""), nil, []string{virtual + "gardener.gardenerDiscoveryServer"}},
		"OPER-WH-12 moved":  {"where they are", discovery(""), discovery("keys.example.com"), []string{virtual + "gardener.gardenerDiscoveryServer.domain.name"}},
		"OPER-WH-12 named":  {"the name may be spelled out", discovery(""), discovery("discovery.ingress.example.com"), nil},
		"OPER-WH-13 back":   {"a version never goes back", nil, version("1.32.0"), []string{virtual + "kubernetes.version"}},
		"OPER-WH-13 far":    {"nor two steps at once", nil, version("1.35.0"), []string{virtual + "kubernetes.version"}},
		"OPER-WH-13 none":   {"there is always one", nil, version(""), []string{virtual + "kubernetes.version"}},
		"OPER-WH-13 half":   {"and that is complete", nil, version("1.34"), []string{virtual + "kubernetes.version"}},
		"OPER-WH-13 step":   {"one is fine", nil, version("1.34.2"), nil},
		"OPER-WH-14 moving": {"one rotation at a time", func(g *garden) { phases(g, "Preparing") }, encrypts("configmaps"), []string{virtual + "kubernetes.kubeAPIServer.encryptionConfig"}},
		"OPER-WH-14 rolled": {
			"one change at a time",
			func(g *garden) {
				encrypts("configmaps")(g)
				g.Status.Credentials = &gardenoperatorv1alpha1.Credentials{EncryptionAtRest: &gardencorev1beta1.EncryptionAtRest{Resources: []string{"secrets"}}}
			},
			encrypts("services"),
			[]string{virtual + "kubernetes.kubeAPIServer.encryptionConfig"},
		},
		"OPER-WH-14 changed": {"what is encrypted can change", nil, encrypts("configmaps"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, now := made(), made()
			if tc.before != nil {
				tc.before(old)
			}
			if tc.now != nil {
				tc.now(now)
			}
			now.Status = *old.Status.DeepCopy()
			errs := validation.ValidateGardenUpdate(now, old)
			if diff := cmp.Diff(tc.want, found(errs)); diff != "" {
				t.Errorf("%s\nfields (-want +got):\n%s\n%v", tc.reason, diff, errs.ToAggregate())
			}
		})
	}
}

func discovery(name string) change {
	return func(g *garden) {
		g.Spec.VirtualCluster.Gardener.DiscoveryServer = &gardenoperatorv1alpha1.GardenerDiscoveryServerConfig{}
		if name != "" {
			g.Spec.VirtualCluster.Gardener.DiscoveryServer.Domain = &domain{Name: name}
		}
	}
}

func version(v string) change {
	return func(g *garden) { g.Spec.VirtualCluster.Kubernetes.Version = v }
}

func encrypts(resources ...string) change {
	return func(g *garden) { kube(g).EncryptionConfig.Resources = resources }
}

// phases brings every rotation into a phase.
func phases(g *garden, p phase) {
	g.Status.Credentials = &gardenoperatorv1alpha1.Credentials{Rotation: &gardenoperatorv1alpha1.CredentialsRotation{
		CertificateAuthorities: &gardencorev1beta1.CARotation{Phase: p},
		ETCDEncryptionKey:      &gardencorev1beta1.ETCDEncryptionKeyRotation{Phase: p},
		ServiceAccountKey:      &gardencorev1beta1.ServiceAccountKeyRotation{Phase: p},
		WorkloadIdentityKey:    &gardenoperatorv1alpha1.WorkloadIdentityKeyRotation{Phase: p},
	}}
}

func TestOperations(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason    string
		operation string
		before    string
		phase     phase
		change    change
		// refused is part of the answer; empty when the operation is accepted.
		refused string
	}{
		"OPER-WH-5 reconcile":        {reason: "a known one", operation: "reconcile"},
		"OPER-WH-5 unknown":          {reason: "an unknown one", operation: "dance", refused: `"reconcile", "rotate-ca-complete"`},
		"OPER-WH-5 of shoots":        {reason: "a garden has no machines", operation: "rotate-ssh-keypair", refused: "Unsupported value"},
		"OPER-ROT-1 observability":   {reason: "in one step, at any time", operation: "rotate-observability-credentials", phase: "Preparing"},
		"OPER-WH-6 start":            {reason: "the first rotation", operation: "rotate-ca-start"},
		"OPER-WH-6 again":            {reason: "a further one", operation: "rotate-credentials-start", phase: "Completed"},
		"OPER-WH-6 early":            {reason: "not before the last one is over", operation: "rotate-serviceaccount-key-start", phase: "Prepared", refused: "serviceAccountKey is Prepared"},
		"OPER-WH-6 all early":        {reason: "all of them", operation: "rotate-credentials-start", phase: "Completing", refused: "workloadIdentityKey is Completing"},
		"OPER-WH-6 complete":         {reason: "what is prepared can be completed", operation: "rotate-credentials-complete", phase: "Prepared"},
		"OPER-WH-6 complete early":   {reason: "and nothing else", operation: "rotate-ca-complete", phase: "Preparing", refused: "only when status.credentials.rotation.certificateAuthorities is Prepared"},
		"OPER-WH-6 complete nothing": {reason: "certainly not nothing", operation: "rotate-workload-identity-key-complete", refused: "only when"},
		"OPER-WH-6 complete newer": {
			reason: "an encryption key that is rotated in one step has completed itself", operation: "rotate-credentials-complete",
			change: func(g *garden) {
				version("1.34.0")(g)
				phases(g, "Prepared")
				g.Status.Credentials.Rotation.ETCDEncryptionKey.Phase = "Completed"
			},
		},
		"OPER-WH-6 asked before": {reason: "what was asked for before is not judged again", operation: "rotate-ca-start", before: "rotate-ca-start", phase: "Preparing"},
		"OPER-WH-6 deletion": {
			reason: "a garden that goes needs no new keys", operation: "rotate-ca-start",
			change: func(g *garden) { g.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, refused: "being deleted",
		},
		"OPER-WH-7 rolling": {
			reason: "what is encrypted is settled first", operation: "rotate-etcd-encryption-key",
			change: encrypts("configmaps"), refused: "rolled out",
		},
		"OPER-WH-7 both":     {reason: "in one step or in two", operation: "rotate-etcd-encryption-key;rotate-etcd-encryption-key-start", refused: "exclude each other"},
		"OPER-WH-7 pair":     {reason: "newer versions know one step only", operation: "rotate-etcd-encryption-key-start", change: version("1.34.0"), refused: "use rotate-etcd-encryption-key"},
		"OPER-WH-7 older":    {reason: "older ones know two", operation: "rotate-etcd-encryption-key-start"},
		"OPER-WH-7 repeated": {reason: "twice is once", operation: "reconcile; reconcile"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, now := made(), made()
			if tc.change != nil {
				tc.change(old)
				tc.change(now)
			}
			if tc.phase != "" {
				phases(old, tc.phase)
				phases(now, tc.phase)
			}
			if tc.before != "" {
				asks(tc.before)(old)
			}
			asks(tc.operation)(now)
			err := validation.ValidateGardenUpdate(now, old).ToAggregate()
			switch {
			case tc.refused == "" && err != nil:
				t.Errorf("%s\n%q: %v", tc.reason, tc.operation, err)
			case tc.refused != "" && (err == nil || !strings.Contains(err.Error(), tc.refused)):
				t.Errorf("%s\n%q: got %v, want %q", tc.reason, tc.operation, err, tc.refused)
			}
		})
	}
	if diff := cmp.Diff([]string{"reconcile", "rotate-ca-start"}, validation.Operations(made(asks("reconcile;rotate-ca-start; reconcile;")))); diff != "" {
		t.Errorf("OPER-WH-7: several operations, each once (-want +got):\n%s", diff)
	}
}

// TestEachOperation_OPER_ROT_1 asks for each operation at two times, of which one is wrong for a start and the other for a completion. What
// it is about is what it is refused for then.
func TestEachOperation_OPER_ROT_1(t *testing.T) {
	t.Parallel()
	const ca, token, etcd, workload = "certificateAuthorities", "serviceAccountKey", "etcdEncryptionKey", "workloadIdentityKey"
	for operation, of := range map[string][]string{
		"reconcile": nil, "rotate-observability-credentials": nil, "rotate-etcd-encryption-key": {etcd},
		"rotate-credentials-start": {ca, token, etcd, workload}, "rotate-credentials-complete": {ca, token, etcd, workload},
		"rotate-ca-start": {ca}, "rotate-ca-complete": {ca},
		"rotate-serviceaccount-key-start": {token}, "rotate-serviceaccount-key-complete": {token},
		"rotate-etcd-encryption-key-start": {etcd}, "rotate-etcd-encryption-key-complete": {etcd},
		"rotate-workload-identity-key-start": {workload}, "rotate-workload-identity-key-complete": {workload},
	} {
		right, wrong := phase("Completed"), phase("Prepared")
		if strings.HasSuffix(operation, "-complete") {
			right, wrong = wrong, right
		}
		refusedFor := func(p phase) []string {
			old, now := made(), made(asks(operation))
			phases(old, p)
			now.Status = *old.Status.DeepCopy()
			var names []string
			for _, err := range validation.ValidateGardenUpdate(now, old) {
				_, name, found := strings.Cut(err.Detail, "status.credentials.rotation.")
				if name, _, _ = strings.Cut(name, " "); !found {
					name = err.Error()
				}
				names = append(names, name)
			}

			return names
		}
		if diff := cmp.Diff([]string(nil), refusedFor(right)); diff != "" {
			t.Errorf("%s while all is %s is refused (-want +got):\n%s", operation, right, diff)
		}
		if diff := cmp.Diff(of, refusedFor(wrong)); diff != "" {
			t.Errorf("%s while all is %s is refused for (-want +got):\n%s", operation, wrong, diff)
		}
	}
}
