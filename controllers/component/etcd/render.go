// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// clientPort is where clients connect.
	clientPort  = 2379
	metricsPort = 2381

	dataVolume = "data"
	dataDir    = "/var/etcd/data"

	serverFolder = "server"
	peerFolder   = "peer"
	caFolder     = "ca"
	peerCAFolder = "ca-peer"

	// quota is the size at which etcd refuses writes. It fits into the volume.
	quota = 8 << 30

	// patience is how many probes in a row an etcd may leave without an answer, which is two minutes: while it is defragmented it answers
	// nothing, and one that was restarted then would never get to the end (BAK-DEFRAG-4).
	patience = 24
)

// URL is where clients in the seed reach the etcd of a role.
func URL(namespace, role string) string {
	return fmt.Sprintf("https://%s.%s.svc:%d", serviceName(role), namespace, clientPort)
}

func nameOf(role string) string { return "etcd-" + role }

func serviceName(role string) string { return nameOf(role) + "-client" }

// service returns the Service for clients.
func service(namespace, role string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: serviceName(role), Labels: labels(role), Annotations: map[string]string{
			reach.FromScrapers(): reach.Ports(reach.TCP(metricsPort)),
			// The resource manager of the seed defragments it.
			gardenresourcesv1alpha1.AnnotationNamespaceAlias:     reach.AllShoots,
			gardenresourcesv1alpha1.AnnotationNamespaceSelectors: reach.Garden(),
		}},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeClusterIP,
			Selector: labels(role),
			Ports: []corev1.ServicePort{{
				Name: "client", Port: clientPort, TargetPort: intstr.FromInt32(clientPort), Protocol: corev1.ProtocolTCP,
			}},
		},
	}
}

// render returns the Service for clients and the stateful set.
func render(f facts.Shoot, role string, in *component.Inputs) []client.Object {
	return append([]client.Object{service(f.Namespace, role), component.Mutable(&appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: nameOf(role), Labels: labels(role), Annotations: housekeeping(f, in)},
		Spec: appsv1.StatefulSetSpec{
			Replicas:    &in.Replicas,
			ServiceName: serviceName(role),
			Selector:    &metav1.LabelSelector{MatchLabels: labels(role)},
			// With ordered pods, a pod that cannot start would never be replaced by a corrected one.
			PodManagementPolicy:  appsv1.ParallelPodManagement,
			UpdateStrategy:       appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType},
			RevisionHistoryLimit: new(int32(2)),
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
				WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels(role), Annotations: eviction(role)},
				Spec:       pod(f, role, in),
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				// The server sets type and kind; without them here every apply would change something.
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
				ObjectMeta: metav1.ObjectMeta{Name: dataVolume},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: volume(f, in.Kept)}},
				},
			}},
		},
	})}, vertical.Autoscaler(f, size(f, role))...)
}

func pod(f facts.Shoot, role string, in *component.Inputs) corev1.PodSpec {
	live := component.HTTPProbe(corev1.URISchemeHTTP, metricsPort, "/livez")
	live.FailureThreshold = patience
	spec := component.Pod{
		PriorityClass: gardencorev1beta1.PriorityClassShootControlPlane500,
		Files: []corev1.VolumeProjection{
			in.CertificateFiles(serverSecret(role), serverFolder),
			in.CertificateFiles(peerSecret(role), peerFolder),
			in.BundleFile(gardencorev1beta1.SecretCAETCD, caFolder),
			in.BundleFile(gardencorev1beta1.SecretCAETCDPeer, peerCAFolder),
		},
		Container: corev1.Container{
			Name:    container,
			Image:   in.Image(image),
			Command: []string{component.BinDir + "etcd"},
			Args:    args(role),
			Ports: []corev1.ContainerPort{
				{Name: "client", ContainerPort: clientPort, Protocol: corev1.ProtocolTCP},
				{Name: "metrics", ContainerPort: metricsPort, Protocol: corev1.ProtocolTCP},
			},
			StartupProbe:   component.StartupProbe(corev1.URISchemeHTTP, metricsPort, "/readyz", 300),
			ReadinessProbe: component.HTTPProbe(corev1.URISchemeHTTP, metricsPort, "/readyz"),
			LivenessProbe:  live,
			Resources:      vertical.AtLeast(component.Requests("20m", "80Mi"), demanded(f, role), most()),
			VolumeMounts:   []corev1.VolumeMount{{Name: dataVolume, MountPath: dataDir}},
		},
	}.Spec()
	spec.TerminationGracePeriodSeconds = new(int64(30))
	return spec
}

// args describe a cluster of one member. It has no peers yet, so it listens for them on its own loopback interface only.
func args(role string) []string {
	const peer = "https://127.0.0.1:2380"
	name := nameOf(role)
	all := []string{
		"--name=" + name,
		"--data-dir=" + dataDir + "/new.etcd",
		fmt.Sprintf("--listen-client-urls=https://0.0.0.0:%d", clientPort),
		fmt.Sprintf("--advertise-client-urls=https://%s:%d", serviceName(role), clientPort),
		"--client-cert-auth=true",
		"--trusted-ca-file=" + component.File(caFolder, gardencorev1beta1.DataKeyCertificateBundle),
		"--cert-file=" + component.File(serverFolder, secrets.DataKeyCertificate),
		"--key-file=" + component.File(serverFolder, secrets.DataKeyPrivateKey),
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=" + name + "=" + peer,
		"--initial-cluster-token=" + name,
		"--initial-cluster-state=new",
		"--peer-client-cert-auth=true",
		"--peer-trusted-ca-file=" + component.File(peerCAFolder, gardencorev1beta1.DataKeyCertificateBundle),
		"--peer-cert-file=" + component.File(peerFolder, secrets.DataKeyCertificate),
		"--peer-key-file=" + component.File(peerFolder, secrets.DataKeyPrivateKey),
		fmt.Sprintf("--listen-metrics-urls=http://0.0.0.0:%d", metricsPort),
		fmt.Sprintf("--quota-backend-bytes=%d", int64(quota)),
		"--snapshot-count=10000",
		"--watch-progress-notify-interval=5s",
	}
	if role != gardencorev1beta1.ETCDRoleMain {
		return all
	}
	return append(all, "--metrics=extensive") // with how long requests take (BAK-ETCD-5)
}

// eviction keeps an autoscaler of the seed's nodes from moving the pod of the main etcd, which is its only member (BAK-ETCD-5).
func eviction(role string) map[string]string {
	if role != gardencorev1beta1.ETCDRoleMain {
		return nil
	}
	return map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
}

func labels(role string) map[string]string {
	return component.ControlPlaneLabels("etcd-statefulset", role)
}
