// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/operator/validation"
)

// TestGardenFields_OPER_API_8 breaks the bounds of the fields that TestGarden leaves alone, one after the other.
func TestGardenFields_OPER_API_8(t *testing.T) {
	t.Parallel()
	const (
		runtime = "spec.runtimeCluster."
		virtual = "spec.virtualCluster."
		own     = virtual + "gardener."
		api     = own + "gardenerAPIServer."
		native  = virtual + "kubernetes."
	)
	negative := func() *resource.Quantity { return new(resource.MustParse("-1")) }
	for name, tc := range map[string]struct {
		change change
		want   []string
	}{
		"operation": {asks("dance"), []string{"metadata.annotations[gardener.cloud/operation]"}},
		"providers": {
			func(g *garden) {
				g.Spec.DNS = &gardenoperatorv1alpha1.DNSManagement{Providers: []gardenoperatorv1alpha1.DNSProvider{
					{Name: "one", Type: "local", SecretRef: corev1.LocalObjectReference{Name: "dns"}},
					{Name: "one", SecretRef: corev1.LocalObjectReference{Name: "dns"}},
					{Type: "local"},
				}}
				g.Spec.RuntimeCluster.Ingress.Domains[0].Provider, g.Spec.VirtualCluster.DNS.Domains[0].Provider = new("one"), new("one")
				g.Spec.VirtualCluster.Gardener.DiscoveryServer = &gardenoperatorv1alpha1.GardenerDiscoveryServerConfig{Domain: &domain{Name: "keys.example.com"}}
				g.Spec.VirtualCluster.Gardener.Dashboard = &gardenoperatorv1alpha1.GardenerDashboardConfig{Domain: &domain{Name: "dashboard.example.com", Provider: new("two")}}
			},
			[]string{
				"spec.dns.providers[1].name", "spec.dns.providers[1].type", "spec.dns.providers[2].name", "spec.dns.providers[2].secretRef.name",
				own + "gardenerDashboard.domain.provider", own + "gardenerDiscoveryServer.domain.provider",
			},
		},
		"dashboard": {
			dashboard(func(d *gardenoperatorv1alpha1.GardenerDashboardConfig) {
				d.LogLevel, d.GitHub, d.Terminal = new("loud"), &gardenoperatorv1alpha1.DashboardGitHub{}, &gardenoperatorv1alpha1.DashboardTerminal{}
			}),
			[]string{
				own + "gardenerDashboard.gitHub.apiURL", own + "gardenerDashboard.gitHub.organisation", own + "gardenerDashboard.gitHub.repository",
				own + "gardenerDashboard.gitHub.secretRef.name", own + "gardenerDashboard.logLevel", own + "gardenerDashboard.terminal.container.image",
			},
		},
		"components": {
			func(g *garden) {
				c := &g.Spec.VirtualCluster.Gardener
				magic := map[string]bool{"Magic": true}
				c.AdmissionController = &gardenoperatorv1alpha1.GardenerAdmissionControllerConfig{LogLevel: new("loud")}
				c.ControllerManager = &gardenoperatorv1alpha1.GardenerControllerManagerConfig{LogLevel: new("loud")}
				c.ControllerManager.FeatureGates = magic
				c.Scheduler = &gardenoperatorv1alpha1.GardenerSchedulerConfig{}
				c.Scheduler.FeatureGates = magic
				c.ResourceManager = &gardenoperatorv1alpha1.GardenerResourceManagerConfig{AdditionalTargetNamespaces: []string{"a", "a"}}
			},
			[]string{
				own + "gardenerAdmissionController.logLevel", own + "gardenerControllerManager.featureGates[Magic]", own + "gardenerControllerManager.logLevel",
				own + "gardenerResourceManager.additionalTargetNamespaces[1]", own + "gardenerScheduler.featureGates[Magic]",
			},
		},
		"limits": {
			func(g *garden) {
				g.Spec.VirtualCluster.Gardener.AdmissionController = &gardenoperatorv1alpha1.GardenerAdmissionControllerConfig{
					ResourceAdmissionConfiguration: &gardenoperatorv1alpha1.ResourceAdmissionConfiguration{
						Limits:               []gardenoperatorv1alpha1.ResourceLimit{{Resources: []string{"*"}, Count: new(int64(-1))}},
						UnrestrictedSubjects: []rbacv1.Subject{{Kind: "User"}},
					},
				}
			},
			[]string{
				own + "gardenerAdmissionController.resourceAdmissionConfiguration.limits[0].count",
				own + "gardenerAdmissionController.resourceAdmissionConfiguration.unrestrictedSubjects[0].name",
			},
		},
		"API server": {
			func(g *garden) {
				less := new(int32(-1))
				a := g.Spec.VirtualCluster.Gardener.APIServer
				a.AuditWebhook = &gardenoperatorv1alpha1.AuditWebhook{}
				a.Requests = &gardencorev1beta1.APIServerRequests{MaxMutatingInflight: less, MaxNonMutatingInflight: less}
				a.Logging = &gardencorev1beta1.APIServerLogging{Verbosity: less, HTTPAccessVerbosity: less}
				a.WatchCacheSizes = &gardencorev1beta1.WatchCacheSizes{Default: less, Resources: []gardencorev1beta1.ResourceWatchCacheSize{{Size: *less}}}
			},
			[]string{
				api + "auditWebhook.kubeconfigSecretName", api + "logging.httpAccessVerbosity", api + "logging.verbosity", api + "requests.maxMutatingInflight",
				api + "requests.maxNonMutatingInflight", api + "watchCacheSizes.default", api + "watchCacheSizes.resources[0].resource",
				api + "watchCacheSizes.resources[0].size",
			},
		},
		"runtime": {
			func(g *garden) {
				r := &g.Spec.RuntimeCluster
				r.Ingress.Controller.Kind, r.Provider.Zones = "apache", []string{"a", "a"}
				r.Volume = &gardenoperatorv1alpha1.Volume{MinimumSize: negative()}
			},
			[]string{runtime + "ingress.controller.kind", runtime + "provider.zones[1]", runtime + "volume.minimumSize"},
		},
		"stores": {
			func(g *garden) {
				e := g.Spec.VirtualCluster.ETCD
				e.Main.Backup = &backups{BucketName: new("")}
				e.Main.Storage = &gardenoperatorv1alpha1.Storage{Capacity: negative()}
				e.Main.Autoscaling = &gardencorev1beta1.ControlPlaneAutoscaling{MinAllowed: map[string]resource.Quantity{"cpu": *negative()}}
				e.Events = &gardenoperatorv1alpha1.ETCDEvents{
					Storage:     &gardenoperatorv1alpha1.Storage{Capacity: negative()},
					Autoscaling: &gardencorev1beta1.ControlPlaneAutoscaling{MinAllowed: map[string]resource.Quantity{"memory": resource.MustParse("59M")}},
				}
			},
			[]string{
				virtual + "etcd.events.autoscaling.minAllowed[memory]", virtual + "etcd.events.storage.capacity", virtual + "etcd.main.autoscaling.minAllowed[cpu]",
				virtual + "etcd.main.backup.bucketName", virtual + "etcd.main.backup.provider", virtual + "etcd.main.backup.secretRef.name",
				virtual + "etcd.main.storage.capacity",
			},
		},
		"Kubernetes": {
			func(g *garden) {
				g.Spec.VirtualCluster.Kubernetes.KubeControllerManager.CertificateSigningDuration = &metav1.Duration{Duration: -time.Hour}
				kube(g).ResourcesToStoreInETCDEvents = []gardenoperatorv1alpha1.GroupResource{{}}
			},
			[]string{
				native + "kubeAPIServer.resourcesToStoreInETCDEvents[0].group", native + "kubeAPIServer.resourcesToStoreInETCDEvents[0].resource",
				native + "kubeControllerManager.certificateSigningDuration",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, found(validation.ValidateGarden(made(tc.change)))); diff != "" {
				t.Errorf("fields of a new Garden that are refused (-want +got):\n%s", diff)
			}
			// What is wrong is refused at any time.
			old, now := made(), made(tc.change)
			refused := map[string]bool{}
			for _, field := range found(validation.ValidateGardenUpdate(now, old)) {
				refused[field] = true
			}
			for _, field := range tc.want {
				if !refused[field] {
					t.Errorf("an update with the same mistake is accepted: %s", field)
				}
			}
		})
	}
}
