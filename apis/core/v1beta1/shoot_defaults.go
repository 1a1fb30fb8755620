// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"fmt"
	"hash/fnv"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/version"
)

const week = 7 * 24 * time.Hour

// SetDefaultsShoot sets the defaults of a shoot (API-DEF-1 to 12, API-SHOOTSTRAT-10).
func SetDefaultsShoot(s *Shoot) {
	hasWorkers := len(s.Spec.Provider.Workers) > 0
	setDefault(&s.Spec.Purpose, ShootPurposeEvaluation)
	setDefault(&s.Spec.SchedulerName, DefaultSchedulerName)
	if s.Namespace == NamespaceGarden {
		s.Spec.Tolerations = tolerateProtected(s.Spec.Tolerations)
	}
	networking := ensure(&s.Spec.Networking)
	if len(networking.IPFamilies) == 0 {
		networking.IPFamilies = []IPFamily{IPFamilyIPv4}
	}
	defaultMaintenance(s, hasWorkers)
	defaultControlPlane(s, hasWorkers)
	defaultAddons(s.Spec.Addons)
	mirrorCredentials(&s.Spec)
	if !hasWorkers {
		return
	}
	setDefault(&ensure(&s.Spec.Provider.WorkersSettings).SSHAccess, SSHAccess{Enabled: true})
	autoscaling := ensure(&ensure(&ensure(&s.Spec.SystemComponents).CoreDNS).Autoscaling)
	if autoscaling.Mode == "" {
		autoscaling.Mode = CoreDNSAutoscalingModeHorizontal
	}
	for i := range s.Spec.Provider.Workers {
		defaultWorker(&s.Spec.Provider.Workers[i], s.Spec.Provider.Type)
	}
}

func defaultMaintenance(s *Shoot, hasWorkers bool) {
	m := ensure(&s.Spec.Maintenance)
	setDefault(&m.AutoUpdate, MaintenanceAutoUpdate{KubernetesVersion: true})
	if hasWorkers {
		setDefault(&m.AutoUpdate.MachineImageVersion, true)
	}
	setDefault(&m.TimeWindow, window(s.Namespace+"/"+s.Name+s.GenerateName))
	if m.AutoRotation == nil || m.AutoRotation.Credentials == nil {
		return
	}
	c := m.AutoRotation.Credentials
	for _, one := range []*MaintenanceRotationConfig{c.Observability, c.SSHKeypair, c.ETCDEncryptionKey} {
		if one != nil {
			setDefault(&one.RotationPeriod, lasting(week))
		}
	}
}

// mirrorCredentials names the credentials of DNS providers in both of their fields, for the older versions of Kubernetes in
// which both exist (API-SHOOTSTRAT-10).
func mirrorCredentials(s *ShootSpec) {
	const firstWithout = 35
	v, err := version.ParseGeneric(s.Kubernetes.Version)
	if s.DNS == nil || err != nil || v.Minor() >= firstWithout {
		return
	}
	for i := range s.DNS.Providers {
		p := &s.DNS.Providers[i]
		switch {
		case p.CredentialsRef == nil && p.SecretName != nil:
			p.CredentialsRef = &autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: *p.SecretName}
		case p.CredentialsRef != nil && p.SecretName == nil && p.CredentialsRef.Kind == "Secret":
			p.SecretName = new(p.CredentialsRef.Name)
		}
	}
}

// window chooses the maintenance time window of a shoot, one hour of the day. It is derived from the name, so that the
// shoots of a garden are spread over the day and a dry run gives the same result as the real request.
func window(name string) MaintenanceTimeWindow {
	const hours = 23
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name)) // A hash never fails to write.
	begin := hash.Sum32() % hours
	return MaintenanceTimeWindow{Begin: fmt.Sprintf("%02d0000+0000", begin), End: fmt.Sprintf("%02d0000+0000", begin+1)}
}

func defaultAddons(a *Addons) {
	if a == nil {
		return
	}
	if a.KubernetesDashboard != nil && a.KubernetesDashboard.Enabled {
		setDefault(&a.KubernetesDashboard.AuthenticationMode, KubernetesDashboardAuthModeToken)
	}
	if a.NginxIngress != nil {
		setDefault(&a.NginxIngress.ExternalTrafficPolicy, ExternalTrafficPolicyCluster)
	}
}

// defaultWorker fills in one pool (API-DEF-9).
func defaultWorker(w *Worker, provider string) {
	setDefault(&w.CRI, CRI{Name: CRINameContainerd})
	setDefault(&w.SystemComponents, WorkerSystemComponents{Allow: true})
	setDefault(&w.UpdateStrategy, MachineUpdateStrategyAutoRollingUpdate)
	surge, unavailable := 1, 0
	switch *w.UpdateStrategy {
	case MachineUpdateStrategyAutoInPlaceUpdate:
		surge, unavailable = 0, 1
		setDefault(&ensure(&w.MachineControllerManager).DisableHealthTimeout, true)
	case MachineUpdateStrategyManualInPlaceUpdate:
		setDefault(&ensure(&w.MachineControllerManager).DisableHealthTimeout, true)
	case MachineUpdateStrategyAutoRollingUpdate:
	}
	if *w.UpdateStrategy != MachineUpdateStrategyManualInPlaceUpdate {
		setDefault(&w.MaxSurge, intstr.FromInt(surge))
		setDefault(&w.MaxUnavailable, intstr.FromInt(unavailable))
	}
	if w.Kubernetes != nil && w.Kubernetes.Kubelet != nil {
		defaultPoolKubelet(w.Kubernetes.Kubelet)
	}
	if cp := w.ControlPlane; cp != nil && cp.Exposure != nil && cp.Exposure.Extension != nil {
		setDefault(&cp.Exposure.Extension.Type, provider)
	}
}
