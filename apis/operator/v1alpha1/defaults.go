// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/defaulting"
)

const (
	defaultLogLevel     = "info"
	defaultBatchMaxSize = int32(30)
	signingDuration     = 48 * time.Hour
)

// RegisterDefaults registers the functions that set the defaults of objects. It is for API servers only: clients must see
// objects as they are stored.
func RegisterDefaults(scheme *runtime.Scheme) {
	defaulting.Register(scheme, SetDefaultsGarden, func(l *GardenList) []Garden { return l.Items })
}

// SetDefaultsGarden sets the defaults of a Garden (OPER-API-4, 8, 9).
func SetDefaultsGarden(g *Garden) {
	runtimeCluster := &g.Spec.RuntimeCluster
	if len(runtimeCluster.Networking.IPFamilies) == 0 {
		runtimeCluster.Networking.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4}
	}
	if s := runtimeCluster.Settings; s != nil && s.VerticalPodAutoscaler != nil {
		defaulting.Set(&s.VerticalPodAutoscaler.Enabled, true)
	}
	virtual := &g.Spec.VirtualCluster
	if e := virtual.ETCD; e != nil {
		if e.Main != nil {
			defaultStorage(e.Main.Storage)
		}
		if e.Events != nil {
			defaultStorage(e.Events.Storage)
		}
	}
	defaultKubernetes(&virtual.Kubernetes)
	defaultGardener(&virtual.Gardener, virtual.Kubernetes.KubeAPIServer.EncryptionConfig.Provider.Type)
}

func defaultStorage(s *Storage) {
	if s != nil {
		defaulting.Set(&s.Capacity, resource.MustParse("10Gi"))
	}
}

// defaultKubernetes sets the defaults of the Kubernetes components, which are those of a shoot without workers.
func defaultKubernetes(k *Kubernetes) {
	api := defaulting.Ensure(&k.KubeAPIServer)
	requests := defaulting.Ensure(&api.Requests)
	defaulting.Set(&requests.MaxNonMutatingInflight, 400)
	defaulting.Set(&requests.MaxMutatingInflight, 200)
	defaulting.Set(&api.EventTTL, metav1.Duration{Duration: time.Hour})
	defaulting.Set(&defaulting.Ensure(&api.Logging).Verbosity, 2)
	defaulting.Set(&defaulting.Ensure(&api.EncryptionConfig).Provider.Type, gardencorev1beta1.EncryptionProviderTypeAescbc)
	defaultAuditWebhook(api.AuditWebhook)
	if a := api.Authentication; a != nil && a.Webhook != nil {
		defaulting.Set(&a.Webhook.Version, "v1beta1")
	}
	manager := defaulting.Ensure(&k.KubeControllerManager)
	defaulting.Set(&manager.CertificateSigningDuration, metav1.Duration{Duration: signingDuration})
}

func defaultAuditWebhook(w *AuditWebhook) {
	if w != nil {
		defaulting.Set(&w.BatchMaxSize, defaultBatchMaxSize)
		defaulting.Set(&w.Version, "audit.k8s.io/v1")
	}
}

// defaultGardener sets the defaults of the garden's own components. They use the encryption provider of the kube API server.
func defaultGardener(g *Gardener, encryption *gardencorev1beta1.EncryptionProviderType) {
	api := defaulting.Ensure(&g.APIServer)
	defaulting.Set(&defaulting.Ensure(&api.EncryptionConfig).Provider.Type, *encryption)
	defaultAuditWebhook(api.AuditWebhook)
	if c := g.AdmissionController; c != nil {
		defaulting.Set(&c.LogLevel, defaultLogLevel)
	}
	if c := g.ControllerManager; c != nil {
		defaulting.Set(&c.LogLevel, defaultLogLevel)
	}
	if s := g.Scheduler; s != nil {
		defaulting.Set(&s.LogLevel, defaultLogLevel)
		defaulting.Set(&s.Strategy, "SameRegion")
	}
	if d := g.Dashboard; d != nil {
		defaultDashboard(d)
	}
}

func defaultDashboard(d *GardenerDashboardConfig) {
	defaulting.Set(&d.EnableTokenLogin, true)
	defaulting.Set(&d.LogLevel, defaultLogLevel)
	if d.Ingress != nil {
		defaulting.Set(&d.Ingress.Enabled, true)
	}
	if d.GitHub != nil && d.GitHub.APIURL == "" {
		d.GitHub.APIURL = "https://api.github.com"
	}
}
