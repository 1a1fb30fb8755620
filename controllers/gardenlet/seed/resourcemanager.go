// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"fmt"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/webhooks"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	resourceManagerHealthPort, resourceManagerMetricsPort = 8081, 8080
	// seedWebhooks is the port of the Service, and the name of the one of the pods, at which the webhooks of the seed are answered. A pod of an
	// earlier version has no port of that name, and is left out.
	seedWebhooks, seedWebhooksPort = "seed-webhooks", 8443
	// webhooksFolder holds the certificate of the webhooks in the pod.
	webhooksFolder = "webhooks"
	// secretsIdentity, authorityName and authorityPeriod are about the certificates of a seed: whose they are, who signs them, and the time
	// after which a new authority does.
	secretsIdentity, authorityName = "gardenlet-seed", "ca-" + resourcemanager.Name
	authorityPeriod                = 90 * 24 * time.Hour
	// garbagePeriod is the time between two collections of garbage.
	garbagePeriod = time.Hour
	// resourceManagerReplicas is the number of pods of the resource manager in a seed with that many nodes.
	resourceManagerReplicas = 2
)

// ResourceManagerSet is the inventory of the resource manager in the seed.
func ResourceManagerSet() deploy.Set {
	return deploy.Set{Namespace: gardencorev1beta1.NamespaceGarden, Name: resourcemanager.Name}
}

// ResourceManagerOptions are what a gardenlet asks of the resource manager of its seed.
type ResourceManagerOptions struct {
	// Image holds the program.
	Image string
	// PolicyNamespaces are those in which traffic is denied; without any, no network policies are made for Services.
	PolicyNamespaces reach.Namespaces
	// NodeToleration says how long pods stay on nodes that are lost; nil leaves it to the resource manager.
	NodeToleration *gardenconfigv1alpha1.NodeToleration
}

// tolerations are the flags for how long pods stay on nodes that are lost.
func (o ResourceManagerOptions) tolerations() []string {
	if o.NodeToleration == nil {
		return nil
	}
	var flags []string
	for _, flag := range []struct {
		name    string
		seconds *int64
	}{
		{"not-ready", o.NodeToleration.DefaultNotReadyTolerationSeconds}, {"unreachable", o.NodeToleration.DefaultUnreachableTolerationSeconds},
	} {
		if flag.seconds != nil {
			flags = append(flags, fmt.Sprintf("--default-%s-toleration-seconds=%d", flag.name, *flag.seconds))
		}
	}
	return flags
}

// ResourceManagerValues are what the resource manager of a seed depends on.
type ResourceManagerValues struct {
	ResourceManagerOptions

	// Nodes is the number of nodes of the seed.
	Nodes int
	// Certificate is the Secret with the certificate of its webhooks, and CA the bundle that verifies it.
	Certificate string
	CA          []byte
}

// ResourceManager returns the objects of the resource manager of a seed.
func ResourceManager(v ResourceManagerValues) []client.Object {
	labels := map[string]string{"app": resourcemanager.Name, gardencorev1beta1.LabelRole: resourcemanager.Name}
	meta := metav1.ObjectMeta{Namespace: gardencorev1beta1.NamespaceGarden, Name: resourcemanager.Name, Labels: labels}
	account := &corev1.ServiceAccount{ObjectMeta: meta, AutomountServiceAccountToken: new(false)}
	// The API server of the seed calls webhooks. It is no pod that a policy could select. Those of shoots are, and have a port of their own:
	// their owners decide what they send, and must not ask about the seed.
	open := meta
	open.Annotations = map[string]string{
		gardenresourcesv1alpha1.AnnotationNamespaceSelectors: reach.Shoots(),
		gardenresourcesv1alpha1.AnnotationFromWorldToPorts:   reach.Ports(reach.TCP(reach.SeedWebhookPort)),
		reach.FromScrapers(): reach.Ports(reach.TCP(resourceManagerMetricsPort)),
	}
	service := &corev1.Service{ObjectMeta: open, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Selector: labels, Ports: []corev1.ServicePort{
		{Name: "webhooks", Protocol: corev1.ProtocolTCP, Port: 443, TargetPort: intstr.FromInt32(reach.ShootWebhookPort)},
		{Name: seedWebhooks, Protocol: corev1.ProtocolTCP, Port: seedWebhooksPort, TargetPort: intstr.FromString(seedWebhooks)},
	}}}
	asked := webhooks.Configuration(webhooks.Values{
		Name: resourcemanager.Name, Labels: labels, CA: v.CA,
		Service: &admissionregistrationv1.ServiceReference{Namespace: meta.Namespace, Name: meta.Name, Port: new(int32(seedWebhooksPort))},
	})
	return slices.Concat(access(meta), []client.Object{account, service, resourceManagerDeployment(meta, v)}, asked)
}

// access are the rights of the resource manager. It applies whatever ManagedResources hold, roles among it, and who may grant everything
// has everything. So any user who may write ManagedResources of the class seed and their Secrets is an administrator of the seed.
func access(meta metav1.ObjectMeta) []client.Object {
	return []client.Object{&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:system:resource-manager", Labels: meta.Labels},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: meta.Namespace, Name: meta.Name}},
	}}
}

func resourceManagerDeployment(meta metav1.ObjectMeta, v ResourceManagerValues) *appsv1.Deployment {
	probe := func(path string) *corev1.Probe {
		return component.HTTPProbe(corev1.URISchemeHTTP, resourceManagerHealthPort, path)
	}
	command := []string{
		component.BinDir + "terrarium", "resource-manager", "--lease-namespace=" + meta.Namespace, "--cluster-id=" + resourcemanager.ClusterIDOrNone,
		fmt.Sprintf("--health-address=:%d", resourceManagerHealthPort), fmt.Sprintf("--metrics-address=:%d", resourceManagerMetricsPort),
		fmt.Sprintf("--webhook-address=:%d", reach.SeedWebhookPort), fmt.Sprintf("--shoot-webhook-address=:%d", reach.ShootWebhookPort), "--webhook-certificates=" + component.FilesDir + "/" + webhooksFolder,
		"--garbage-collector-sync-period=" + garbagePeriod.String(),
	}
	for _, selector := range v.PolicyNamespaces.Texts() {
		command = append(command, "--network-policy-namespaces="+selector)
	}
	command = append(command, v.tolerations()...)
	deployment := component.Pod{Program: reach.ResourceManager, Container: corev1.Container{
		Name: "resource-manager", Image: v.Image,
		Command: command,
		Ports: []corev1.ContainerPort{
			{Name: "health", ContainerPort: resourceManagerHealthPort},
			{Name: "metrics", ContainerPort: resourceManagerMetricsPort},
			{Name: "webhooks", ContainerPort: reach.ShootWebhookPort},
			{Name: seedWebhooks, ContainerPort: reach.SeedWebhookPort},
		},
		LivenessProbe: probe("/healthz"), ReadinessProbe: probe("/readyz"), Resources: resourceManagerResources(),
	}, Files: []corev1.VolumeProjection{
		component.FromSecret(v.Certificate, webhooksFolder, secrets.DataKeyCertificate, secrets.DataKeyPrivateKey),
	}}.Deployment(meta, int32(min(max(v.Nodes, 1), resourceManagerReplicas)))
	pod := &deployment.Spec.Template.Spec
	pod.ServiceAccountName, pod.AutomountServiceAccountToken = meta.Name, new(true)
	// The names that it looks up are those of shoots, which are outside of the seed.
	pod.DNSPolicy = corev1.DNSDefault
	pod.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: meta.Labels},
	}}
	deployment.Spec.Strategy = component.SurgeFirst()
	return deployment
}

// resourceManagerResources bound the memory far above what is needed: some tens of MiB, and less than one for each shoot. Whatever shoots
// answer, the process ends before it takes the memory of others on its node.
func resourceManagerResources() corev1.ResourceRequirements {
	resources := component.Requests("10m", "48Mi")
	resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")}
	return resources
}

// ApplyResourceManager deploys the resource manager, with a certificate for its webhooks. Nothing here waits for it; the care of the seed
// tells whether it is healthy.
func ApplyResourceManager(ctx context.Context, engine deploy.Engine, options ResourceManagerOptions) error {
	nodes := &metav1.PartialObjectMetadataList{}
	nodes.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NodeList"))
	if err := engine.Client.List(ctx, nodes, client.Limit(resourceManagerReplicas)); err != nil {
		return fmt.Errorf("list nodes of the seed: %w", err)
	}
	keys, err := resourceManagerSecrets(ctx, engine)
	if err != nil {
		return err
	}
	v := ResourceManagerValues{ResourceManagerOptions: options, Nodes: len(nodes.Items)}
	if v.Certificate, v.CA, err = webhookCertificate(ctx, keys); err != nil {
		return err
	}
	if err := engine.ApplySet(ctx, ResourceManagerSet(), ResourceManager(v)...); err != nil {
		return err
	}
	return keys.Cleanup(ctx)
}

// resourceManagerSecrets are the secrets of the resource manager of a seed. Its authority is replaced in every period.
func resourceManagerSecrets(ctx context.Context, engine deploy.Engine) (*secrets.Manager, error) {
	return secrets.Load(ctx, secrets.Config{
		Client: engine.Client, Namespace: gardencorev1beta1.NamespaceGarden, Identity: secretsIdentity, Clock: engine.Clock,
		Rotations: secrets.Rotations{Authorities: secrets.Rotation{
			Phase: gardencorev1beta1.CredentialsRotationPhasePreparing, Initiated: engine.Clock.Now().Truncate(authorityPeriod),
		}},
	})
}

// webhookCertificate is the Secret with the certificate of the webhooks, and the bundle that verifies it. The newest authority signs at
// once: the API server gets the bundle, which still has the authority before, earlier than a pod can start with the new certificate.
func webhookCertificate(ctx context.Context, keys *secrets.Manager) (secret string, bundle []byte, err error) {
	authority, err := keys.CA(ctx, authorityName)
	if err != nil {
		return "", nil, err
	}
	const host = resourcemanager.Name + "." + gardencorev1beta1.NamespaceGarden
	made, err := keys.Certificate(ctx, secrets.CertificateSpec{
		Name: resourcemanager.Name + "-webhooks", CA: &secrets.CA{Current: authority.Current}, Usage: secrets.UsageServer,
		CommonName: resourcemanager.Name, DNSNames: []string{resourcemanager.Name, host, host + ".svc", host + ".svc.cluster.local"},
	})
	if err != nil {
		return "", nil, err
	}
	return made.SecretName, authority.Bundle.PEM, nil
}

// removeResourceManagerSecrets deletes all secrets of the resource manager.
func removeResourceManagerSecrets(ctx context.Context, engine deploy.Engine) error {
	keys, err := resourceManagerSecrets(ctx, engine)
	if err != nil {
		return err
	}
	return keys.Cleanup(ctx)
}

// resourceManagerLeftovers are what the resource manager makes for itself.
func resourceManagerLeftovers() []client.Object {
	return []client.Object{&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: gardencorev1beta1.NamespaceGarden, Name: resourcemanager.Name}}}
}
