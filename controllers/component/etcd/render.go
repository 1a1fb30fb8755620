// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// ClientPort is where clients connect.
const ClientPort = 2379

const (
	metricsPort = 2381

	dataVolume = "data"
	dataDir    = "/var/etcd/data"

	serverFolder = "server"
	peerFolder   = "peer"
	caFolder     = "ca"
	peerCAFolder = "ca-peer"

	// quota is the size at which etcd stops to accept writes; it fits into the volume.
	quota = 8 << 30
)

// Values describe one etcd.
type Values struct {
	Namespace string
	// Role is main or events; the etcd is named etcd-<role>.
	Role string
	// Image is the container image.
	Image string
	// ServerSecret and PeerSecret name Secrets with a certificate, CABundle and PeerCABundle those that verify the other side.
	ServerSecret, PeerSecret, CABundle, PeerCABundle string
	// Storage is the size of the volume.
	Storage resource.Quantity
}

// Name is the name of the etcd of a role.
func Name(role string) string {
	return "etcd-" + role
}

// ServiceName is the name of the Service for clients of the etcd of a role.
func ServiceName(role string) string {
	return Name(role) + "-client"
}

// URL is where clients in the seed reach the etcd of a role.
func URL(namespace, role string) string {
	return fmt.Sprintf("https://%s.%s.svc:%d", ServiceName(role), namespace, ClientPort)
}

// Service returns the Service for clients.
func Service(namespace, role string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: ServiceName(role), Labels: labels(role)},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeClusterIP,
			Selector: labels(role),
			Ports: []corev1.ServicePort{{
				Name: "client", Port: ClientPort, TargetPort: intstr.FromInt32(ClientPort), Protocol: corev1.ProtocolTCP,
			}},
		},
	}
}

// ServerNames are the DNS names that the server's certificate has to carry.
func ServerNames(namespace, role string) []string {
	service := ServiceName(role)
	return []string{
		"localhost", service, service + "." + namespace, service + "." + namespace + ".svc",
		service + "." + namespace + ".svc." + gardencorev1beta1.DefaultClusterDomain,
	}
}

// Render returns the Service for clients and the stateful set.
func Render(v Values) []client.Object {
	name := Name(v.Role)
	return []client.Object{Service(v.Namespace, v.Role), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: name, Labels: labels(v.Role)},
		Spec: appsv1.StatefulSetSpec{
			Replicas:    new(int32(1)),
			ServiceName: ServiceName(v.Role),
			Selector:    &metav1.LabelSelector{MatchLabels: labels(v.Role)},
			// In order, a pod that cannot start would never be replaced by a corrected one.
			PodManagementPolicy:  appsv1.ParallelPodManagement,
			UpdateStrategy:       appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType},
			RevisionHistoryLimit: new(int32(2)),
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
				WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels(v.Role)},
				Spec:       pod(v),
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				// The server fills type and kind in; without them here every apply would change something.
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
				ObjectMeta: metav1.ObjectMeta{Name: dataVolume},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: v.Storage}},
				},
			}},
		},
	}}
}

// Storage is the size of the volume that a stateful set asks for, and whether it asks for one.
func Storage(set *appsv1.StatefulSet) (resource.Quantity, bool) {
	for i := range set.Spec.VolumeClaimTemplates {
		claim := &set.Spec.VolumeClaimTemplates[i]
		if size, found := claim.Spec.Resources.Requests[corev1.ResourceStorage]; found && claim.Name == dataVolume {
			return size, true
		}
	}
	return resource.Quantity{}, false
}

func pod(v Values) corev1.PodSpec {
	startup := component.HTTPProbe(corev1.URISchemeHTTP, metricsPort, "/readyz")
	startup.PeriodSeconds, startup.FailureThreshold = 1, 300
	spec := component.Pod{
		PriorityClass: gardencorev1beta1.PriorityClassShootControlPlane500,
		Files: []corev1.VolumeProjection{
			component.FromSecret(v.ServerSecret, serverFolder, secrets.DataKeyCertificate, secrets.DataKeyPrivateKey),
			component.FromSecret(v.PeerSecret, peerFolder, secrets.DataKeyCertificate, secrets.DataKeyPrivateKey),
			component.FromSecret(v.CABundle, caFolder, gardencorev1beta1.DataKeyCertificateBundle),
			component.FromSecret(v.PeerCABundle, peerCAFolder, gardencorev1beta1.DataKeyCertificateBundle),
		},
		Container: corev1.Container{
			Name:    "etcd",
			Image:   v.Image,
			Command: []string{component.BinDir + "etcd"},
			Args:    args(v.Role),
			Ports: []corev1.ContainerPort{
				{Name: "client", ContainerPort: ClientPort, Protocol: corev1.ProtocolTCP},
				{Name: "metrics", ContainerPort: metricsPort, Protocol: corev1.ProtocolTCP},
			},
			StartupProbe:   startup,
			ReadinessProbe: component.HTTPProbe(corev1.URISchemeHTTP, metricsPort, "/readyz"),
			LivenessProbe:  component.HTTPProbe(corev1.URISchemeHTTP, metricsPort, "/livez"),
			Resources:      component.Requests("20m", "80Mi"),
			VolumeMounts:   []corev1.VolumeMount{{Name: dataVolume, MountPath: dataDir}},
		},
	}.Spec()
	spec.TerminationGracePeriodSeconds = new(int64(30))
	return spec
}

// args describe a cluster of one member; it talks to no peer yet, so it listens for peers on its own loopback only.
func args(role string) []string {
	const peer = "https://127.0.0.1:2380"
	name := Name(role)
	server := func(key string) string { return component.File(serverFolder, key) }
	peerFile := func(key string) string { return component.File(peerFolder, key) }
	return []string{
		"--name=" + name,
		"--data-dir=" + dataDir + "/new.etcd",
		fmt.Sprintf("--listen-client-urls=https://0.0.0.0:%d", ClientPort),
		fmt.Sprintf("--advertise-client-urls=https://%s:%d", ServiceName(role), ClientPort),
		"--client-cert-auth=true",
		"--trusted-ca-file=" + component.File(caFolder, gardencorev1beta1.DataKeyCertificateBundle),
		"--cert-file=" + server(secrets.DataKeyCertificate),
		"--key-file=" + server(secrets.DataKeyPrivateKey),
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=" + name + "=" + peer,
		"--initial-cluster-token=" + name,
		"--initial-cluster-state=new",
		"--peer-client-cert-auth=true",
		"--peer-trusted-ca-file=" + component.File(peerCAFolder, gardencorev1beta1.DataKeyCertificateBundle),
		"--peer-cert-file=" + peerFile(secrets.DataKeyCertificate),
		"--peer-key-file=" + peerFile(secrets.DataKeyPrivateKey),
		fmt.Sprintf("--listen-metrics-urls=http://0.0.0.0:%d", metricsPort),
		fmt.Sprintf("--quota-backend-bytes=%d", int64(quota)),
		"--snapshot-count=10000",
		"--watch-progress-notify-interval=5s",
	}
}

func labels(role string) map[string]string {
	return component.ControlPlaneLabels("etcd-statefulset", role)
}
