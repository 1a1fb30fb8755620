// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"net/netip"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// The last minor versions of Kubernetes with a feature that later ones do not have.
const (
	lastWithTaintsToIgnore      = 32
	lastWithPodEvictionTimeout  = 32
	lastWithEmptyBulkDelete     = 32
	lastWithNamesOfFormerFields = 33
	lastWithAddons              = 34
	lastWithMaxVolumes          = 34
	lastWithAnonymousSwitch     = 34
	lastWithDefaultCacheSize    = 34
	lastWithDNSSecretName       = 34
)

// beyond reports whether a version of Kubernetes is later than a minor version.
func beyond(kubernetes string, minor int) bool { return minorOf(kubernetes) > minor }

// gone returns the error for a field that a version of Kubernetes no longer supports.
func gone(minor int, path *field.Path) *field.Error {
	return field.Forbidden(path, "is not supported from Kubernetes 1."+strconv.Itoa(minor+1)+" on")
}

// kubernetes checks the settings of the components of Kubernetes (API-VALSHOOT-16, 17, 22).
func kubernetes(s *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	k := &s.Kubernetes
	c := cluster{version: k.Version, workerless: query.Workerless(s)}
	if s.Networking != nil {
		c.families = s.Networking.IPFamilies
	}
	errs := etcd(k.ETCD, path.Child("etcd"))
	errs = append(errs, kubeAPIServer(k.KubeAPIServer, c, path.Child("kubeAPIServer"))...)
	errs = append(errs, kubeControllerManager(k.KubeControllerManager, c, path.Child("kubeControllerManager"))...)
	errs = append(errs, kubeScheduler(k.KubeScheduler, k.Version, path.Child("kubeScheduler"))...)
	errs = append(errs, kubeProxy(k.KubeProxy, k.Version, path.Child("kubeProxy"))...)
	errs = append(errs, kubelet(k.Kubelet, k.Version, path.Child("kubelet"))...)
	errs = append(errs, clusterAutoscaler(k.ClusterAutoscaler, k.Version, path.Child("clusterAutoscaler"))...)
	return append(errs, verticalPodAutoscaler(k.VerticalPodAutoscaler, path.Child("verticalPodAutoscaler"))...)
}

// cluster has the properties of a cluster that the settings of its components depend on.
type cluster struct {
	version    string
	workerless bool
	families   []gardencorev1beta1.IPFamily
}

// etcd checks the minimum resources of the etcds of a shoot.
func etcd(e *gardencorev1beta1.ETCD, path *field.Path) field.ErrorList {
	if e == nil {
		return nil
	}
	var errs field.ErrorList
	if e.Main != nil {
		least := map[string]resource.Quantity{memory: resource.MustParse("300M")}
		errs = append(errs, controlPlaneAutoscaling(e.Main.Autoscaling, least, path.Child("main", "autoscaling"))...)
	}
	if e.Events != nil {
		least := map[string]resource.Quantity{memory: resource.MustParse("60M")}
		errs = append(errs, controlPlaneAutoscaling(e.Events.Autoscaling, least, path.Child("events", "autoscaling"))...)
	}
	return errs
}

func kubeControllerManager(k *gardencorev1beta1.KubeControllerManagerConfig, c cluster, path *field.Path) field.ErrorList {
	if k == nil {
		return nil
	}
	errs := featureGates(k.FeatureGates, c.version, path.Child("featureGates"))
	if k.NodeCIDRMaskSizeIPv6 != nil && only(orIPv4(c.families), gardencorev1beta1.IPFamilyIPv4) {
		errs = append(errs, field.Forbidden(path.Child("nodeCIDRMaskSizeIPv6"), "has no effect on a shoot without IPv6"))
	}
	if k.PodEvictionTimeout != nil && beyond(c.version, lastWithPodEvictionTimeout) {
		errs = append(errs, gone(lastWithPodEvictionTimeout, path.Child("podEvictionTimeout")))
	} else {
		errs = append(errs, longerThan(0, []span{{"podEvictionTimeout", k.PodEvictionTimeout}}, path)...)
	}
	errs = append(errs, longerThan(0, []span{{"nodeMonitorGracePeriod", k.NodeMonitorGracePeriod}}, path)...)
	h := k.HorizontalPodAutoscaler
	if h == nil {
		return errs
	}
	here := path.Child("horizontalPodAutoscaler")
	if h.Tolerance != nil && !(*h.Tolerance > 0) {
		errs = append(errs, field.Invalid(here.Child("tolerance"), *h.Tolerance, "must be above 0"))
	}
	errs = append(errs, longerThan(0, []span{{"initialReadinessDelay", h.InitialReadinessDelay}}, here)...)
	return append(errs, longerThan(time.Second-1, []span{
		{"cpuInitializationPeriod", h.CPUInitializationPeriod},
		{"downscaleStabilization", h.DownscaleStabilization},
		{"syncPeriod", h.SyncPeriod},
	}, here)...)
}

func kubeScheduler(s *gardencorev1beta1.KubeSchedulerConfig, kubernetes string, path *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	errs := featureGates(s.FeatureGates, kubernetes, path.Child("featureGates"))
	if s.Profile != nil {
		errs = append(errs, oneOf(*s.Profile, path.Child("profile"),
			gardencorev1beta1.SchedulingProfileBalanced, gardencorev1beta1.SchedulingProfileBinPacking)...)
	}
	if s.KubeMaxPDVols == nil {
		return errs
	}
	here := path.Child("kubeMaxPDVols")
	if beyond(kubernetes, lastWithMaxVolumes) {
		return append(errs, gone(lastWithMaxVolumes, here))
	}
	if n, err := strconv.Atoi(*s.KubeMaxPDVols); err != nil || n < 1 {
		errs = append(errs, field.Invalid(here, *s.KubeMaxPDVols, "must be a number above 0"))
	}
	return errs
}

func kubeProxy(p *gardencorev1beta1.KubeProxyConfig, kubernetes string, path *field.Path) field.ErrorList {
	if p == nil {
		return nil
	}
	errs := featureGates(p.FeatureGates, kubernetes, path.Child("featureGates"))
	if p.Mode == nil {
		return errs
	}
	here := path.Child("mode")
	errs = append(errs, oneOf(*p.Mode, here, gardencorev1beta1.ProxyModeIPTables,
		gardencorev1beta1.ProxyModeIPVS, gardencorev1beta1.ProxyModeNFTables)...)
	if on, given := p.FeatureGates["NFTablesProxyMode"]; *p.Mode == gardencorev1beta1.ProxyModeNFTables && given && !on {
		errs = append(errs, field.Invalid(here, *p.Mode, "requires the feature gate NFTablesProxyMode, which is disabled"))
	}
	return errs
}

// addons checks the addons, which need the purpose evaluation and Kubernetes below 1.35 (API-VALSHOOT-13).
func addons(s *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	if s.Addons == nil || query.Workerless(s) { // Shoots without workers have no addons.
		return nil
	}
	if beyond(s.Kubernetes.Version, lastWithAddons) {
		return field.ErrorList{gone(lastWithAddons, path)}
	}
	var errs field.ErrorList
	dashboard, ingress := query.KubernetesDashboard(s), query.NginxIngress(s)
	if (dashboard != nil || ingress != nil) && s.Purpose != nil && *s.Purpose != gardencorev1beta1.ShootPurposeEvaluation {
		errs = append(errs, field.Forbidden(path, "addons are for shoots of purpose evaluation only"))
	}
	if dashboard != nil && dashboard.AuthenticationMode != nil {
		errs = append(errs, oneOf(*dashboard.AuthenticationMode, path.Child("kubernetesDashboard", "authenticationMode"),
			gardencorev1beta1.KubernetesDashboardAuthModeToken)...)
	}
	if ingress != nil {
		errs = append(errs, nginxIngress(ingress, path.Child("nginxIngress"))...)
	}
	return errs
}

func nginxIngress(n *gardencorev1beta1.NginxIngress, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, cidr := range n.LoadBalancerSourceRanges {
		if _, err := netip.ParsePrefix(cidr); err != nil {
			errs = append(errs, field.Invalid(path.Child("loadBalancerSourceRanges").Index(i), cidr, "must be a CIDR such as 10.0.0.0/16"))
		}
	}
	size := 0
	for key, value := range n.Config {
		for _, message := range validation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(path.Child("config").Key(key), key, message))
		}
		size += len(value)
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(path.Child("config"), "", corev1.MaxSecretSize))
	}
	if n.ExternalTrafficPolicy != nil {
		errs = append(errs, oneOf(*n.ExternalTrafficPolicy, path.Child("externalTrafficPolicy"),
			gardencorev1beta1.ExternalTrafficPolicyCluster, gardencorev1beta1.ExternalTrafficPolicyLocal)...)
	}
	return errs
}
