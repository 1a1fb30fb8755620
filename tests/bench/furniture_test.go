// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

const (
	seeds     = 10
	namespace = "garden-meadow"
	provider  = "local"
)

// furnish makes what shoots need: an extension, a profile, seeds that are ready, a project and credentials.
func furnish(ctx context.Context, c client.Client) error {
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	registration := &gardencorev1beta1.ControllerRegistration{ObjectMeta: named("provider-" + provider)}
	for _, kind := range []string{"ControlPlane", "Infrastructure", "Worker", "Network", "DNSRecord"} {
		registration.Spec.Resources = append(registration.Spec.Resources, gardencorev1beta1.ControllerResource{Kind: kind, Type: provider})
	}
	registration.Spec.Resources = append(registration.Spec.Resources, gardencorev1beta1.ControllerResource{Kind: "OperatingSystemConfig", Type: "linux"})
	registration.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{
		DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: "provider-" + provider}},
	}
	project := &gardencorev1beta1.Project{ObjectMeta: named("meadow"), Spec: gardencorev1beta1.ProjectSpec{Namespace: new(namespace)}}
	for _, object := range []client.Object{
		&gardencorev1beta1.ControllerDeployment{
			ObjectMeta: named("provider-" + provider), Type: "helm", ProviderConfig: runtime.RawExtension{Raw: []byte(`{"chart":"aGVsbG8="}`)},
		},
		registration, profile(), project,
	} {
		if err := c.Create(ctx, object); err != nil {
			return fmt.Errorf("create %T: %w", object, err)
		}
	}
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(project), project)

		return project.Status.Phase == gardencorev1beta1.ProjectPhaseReady, err
	})
	if err != nil {
		return fmt.Errorf("wait for project: %w", err)
	}
	in := metav1.ObjectMeta{Namespace: namespace, Name: provider}
	for _, object := range []client.Object{
		&corev1.Secret{ObjectMeta: in},
		&gardensecurityv1alpha1.CredentialsBinding{
			ObjectMeta: in, Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: provider},
			CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: provider},
		},
	} {
		if err := c.Create(ctx, object); err != nil {
			return fmt.Errorf("create %T: %w", object, err)
		}
	}
	for n := range seeds {
		if err := plant(ctx, c, fmt.Sprintf("seed-%d", n)); err != nil {
			return fmt.Errorf("make seed: %w", err)
		}
	}

	return nil
}

// plant registers a seed in the way of a gardenlet and keeps its lease fresh until ctx ends.
func plant(ctx context.Context, c client.Client, name string) error {
	if err := sow(ctx, c, name); err != nil {
		return err
	}
	go wait.UntilWithContext(ctx, func(ctx context.Context) {
		patch := fmt.Appendf(nil, `{"spec":{"renewTime":%q}}`, time.Now().UTC().Format(metav1.RFC3339Micro))
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-seed-lease", Name: name}}
		_ = c.Patch(ctx, lease, client.RawPatch(types.MergePatchType, patch)) // The next one follows.
	}, 10*time.Second)

	return nil
}

// sow registers a seed that is ready.
func sow(ctx context.Context, c client.Client, name string) error {
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: name}}
	seed.Spec.Provider = gardencorev1beta1.SeedProvider{Type: provider, Region: "north"}
	seed.Spec.Networks = gardencorev1beta1.SeedNetworks{
		Pods: "10.1.0.0/16", Services: "10.2.0.0/16", Nodes: new("10.3.0.0/16"),
		ShootDefaults: &gardencorev1beta1.ShootNetworks{Pods: new("10.11.0.0/16"), Services: new("10.12.0.0/16")},
	}
	keys := corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "internal-domain"}
	seed.Spec.DNS = gardencorev1beta1.SeedDNS{
		Internal: &gardencorev1beta1.SeedDNSProviderConfig{Type: provider, Domain: "internal.example.org", CredentialsRef: keys},
		Provider: &gardencorev1beta1.SeedDNSProvider{Type: provider, CredentialsRef: &keys},
	}
	seed.Spec.Ingress = &gardencorev1beta1.Ingress{
		Domain: "ingress." + name + ".example.org", Controller: gardencorev1beta1.IngressController{Kind: "nginx"},
	}
	// The lease comes first: a seed that has a condition and no lease is silent.
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-seed-lease", Name: name}}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = new("gardenlet"), new(metav1.NewMicroTime(time.Now()))
	for _, object := range []client.Object{lease, seed} {
		if err := c.Create(ctx, object); err != nil {
			return err
		}
	}

	before := seed.DeepCopy()
	seed.Status.Allocatable = corev1.ResourceList{"shoots": resource.MustParse("100000")} // As of a gardenlet: they are counted.
	seed.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded", Progress: 100, LastUpdateTime: metav1.Now()}
	seed.Status.Conditions = append(seed.Status.Conditions, gardencorev1beta1.Condition{
		Type: "GardenletReady", Status: "True", Reason: "GardenletReady", Message: "Gardenlet is posting ready status.",
		LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
	})

	return c.Status().Patch(ctx, seed, client.MergeFrom(before))
}

func profile() *gardencorev1beta1.CloudProfile {
	machine := func(name, cpu, memory string) gardencorev1beta1.MachineType {
		return gardencorev1beta1.MachineType{
			Name: name, Architecture: new("amd64"), CPU: resource.MustParse(cpu), GPU: resource.MustParse("0"), Memory: resource.MustParse(memory),
		}
	}

	return &gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: provider}, Spec: gardencorev1beta1.CloudProfileSpec{
		Type:       provider,
		Kubernetes: gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{{Version: "1.36.3"}}},
		MachineImages: []gardencorev1beta1.MachineImage{{Name: "linux", Versions: []gardencorev1beta1.MachineImageVersion{
			{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1.0.0"}, CRI: []gardencorev1beta1.CRI{{Name: "containerd"}}, Architectures: []string{"amd64"}},
		}}},
		MachineTypes: []gardencorev1beta1.MachineType{machine("small", "4", "16Gi"), machine("large", "16", "64Gi")},
		VolumeTypes:  []gardencorev1beta1.VolumeType{{Name: "ssd", Class: "standard"}},
		Regions:      []gardencorev1beta1.Region{{Name: "north", Zones: []gardencorev1beta1.AvailabilityZone{{Name: "a"}, {Name: "b"}, {Name: "c"}}}},
	}}
}

// manifest is a shoot as a team would write it: three pools of machines, settings of the components, a schedule.
const manifest = `
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata:
  namespace: garden-meadow
  labels: {team: orchids, environment: development, cost-center: "4711", app.kubernetes.io/managed-by: pipeline}
  annotations:
    meadow.example.org/contact: orchids@example.org
    meadow.example.org/change: "Change 2026-11-20 of the orchids' cluster, reviewed by two people, merged by the pipeline"
    meadow.example.org/documentation: https://docs.example.org/teams/orchids/clusters/development/how-to-reach-it
spec:
  purpose: development
  cloudProfile: {kind: CloudProfile, name: local}
  credentialsBindingName: local
  region: north
  kubernetes:
    version: "1.36.3"
    kubeAPIServer:
      requests: {maxNonMutatingInflight: 400, maxMutatingInflight: 200}
      eventTTL: 2h
      admissionPlugins:
      - name: PodSecurity
        config:
          apiVersion: pod-security.admission.config.k8s.io/v1
          kind: PodSecurityConfiguration
          defaults: {enforce: baseline, enforce-version: latest, audit: restricted, audit-version: latest, warn: restricted, warn-version: latest}
          exemptions: {namespaces: [kube-system, monitoring, ingress]}
    kubeControllerManager: {nodeCIDRMaskSize: 24, nodeMonitorGracePeriod: 40s}
    kubeScheduler: {profile: balanced}
    kubeProxy: {mode: NFTables}
    kubelet:
      maxPods: 110
      podPidsLimit: 4096
      serializeImagePulls: false
      evictionHard: {memoryAvailable: 100Mi, imageFSAvailable: "5%", imageFSInodesFree: "5%", nodeFSAvailable: "5%", nodeFSInodesFree: "5%"}
      kubeReserved: {cpu: 80m, memory: 1Gi, pid: "20000"}
    clusterAutoscaler: {scaleDownDelayAfterAdd: 30m, scaleDownUnneededTime: 15m, scaleDownUtilizationThreshold: 0.5, expander: least-waste}
    verticalPodAutoscaler: {enabled: true}
  networking:
    type: local
    pods: 10.100.0.0/16
    services: 10.101.0.0/16
    nodes: 10.102.0.0/16
    providerConfig: {apiVersion: local.networking.example.org/v1, kind: NetworkConfig, backend: none, ipam: {type: host-local}, typha: {enabled: true}}
  maintenance:
    autoUpdate: {kubernetesVersion: true, machineImageVersion: true}
    timeWindow: {begin: 220000+0100, end: 230000+0100}
  hibernation:
    schedules:
    - {start: 00 20 * * 1,2,3,4,5, end: 00 06 * * 1,2,3,4,5, location: Europe/Berlin}
  provider:
    type: local
    infrastructureConfig:
      apiVersion: local.provider.example.org/v1
      kind: InfrastructureConfig
      networks:
        vpc: {cidr: 10.102.0.0/16}
        zones:
        - {name: a, workers: 10.102.0.0/19, public: 10.102.32.0/20, internal: 10.102.48.0/20}
        - {name: b, workers: 10.102.64.0/19, public: 10.102.96.0/20, internal: 10.102.112.0/20}
        - {name: c, workers: 10.102.128.0/19, public: 10.102.160.0/20, internal: 10.102.176.0/20}
    controlPlaneConfig: {apiVersion: local.provider.example.org/v1, kind: ControlPlaneConfig, loadBalancerController: {enabled: true}}
    workers:
    - &pool
      name: general
      machine: {type: small, image: {name: linux, version: 1.0.0}, architecture: amd64}
      cri: {name: containerd}
      minimum: 2
      maximum: 6
      maxSurge: 1
      maxUnavailable: 0
      zones: [a, b, c]
      labels: {pool: general, team: orchids}
      annotations: {meadow.example.org/pool: general}
      volume: {type: ssd, size: 50Gi}
    - <<: *pool
      name: builds
      machine: {type: large, image: {name: linux, version: 1.0.0}, architecture: amd64}
      taints: [{key: meadow.example.org/builds, value: "true", effect: NoSchedule}]
      labels: {pool: builds, team: orchids}
    - <<: *pool
      name: data
      labels: {pool: data, team: orchids}
      machineControllerManager: {machineDrainTimeout: 2h, machineHealthTimeout: 10m, machineCreationTimeout: 20m}
`

// order is the manifest as an object.
func order() (*gardencorev1beta1.Shoot, error) {
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		return nil, err
	}
	shoot := &gardencorev1beta1.Shoot{}
	err = json.Unmarshal(raw, shoot)

	return shoot, err
}
