// SPDX-License-Identifier: Apache-2.0

// Package controlplane deploys the part of a shoot's control plane that comes from the provider: the cloud controller manager, which
// maintains the nodes and the load balancers. When it stops for long, the load balancers go.
package controlplane

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/kubeconfig"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/health"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/loadbalancer"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/volumes"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	"github.com/terrarium-garden/terrarium/controllers/shootaccess"
)

// Actor deploys the cloud controller manager of each shoot.
type Actor struct {
	engine.Access

	// Cloud returns where the machines of a shoot run.
	Cloud cloud.Find
}

// Reconcile deploys the cloud controller manager and waits until it runs. While the shoot sleeps, nothing runs, and there are no load
// balancers either.
func (a *Actor) Reconcile(ctx context.Context, object *gardenextensionsv1alpha1.ControlPlane, cluster *engine.Cluster) error {
	if cluster == nil {
		return errors.New("there is no Cluster object for the namespace")
	}
	if err := cluster.Unconfigured(object.Spec.ProviderConfig, "spec.provider.controlPlaneConfig"); err != nil {
		return err
	}
	secret := &corev1.Secret{}
	if err := a.Reader.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: gardencorev1beta1.SecretGenericTokenKubeconfig}, secret); err != nil {
		return fmt.Errorf("find out where the shoot is: %w", err)
	}
	sum := sha256.Sum256(secret.Data[gardencorev1beta1.DataKeyKubeconfig])
	values := Values{Namespace: object.Namespace, Image: a.Images.Terrarium, Replicas: 1, KubeconfigChecksum: hex.EncodeToString(sum[:8])}
	in, err := a.findCloud(ctx, &values, cluster)
	if err != nil {
		return err
	}
	stopped, err := a.stopped(ctx, object.Namespace, cluster)
	if err != nil {
		return err
	}
	if stopped {
		values.Replicas = 0
	} else if err := a.access(ctx, object.Namespace); err != nil {
		return err
	}
	objects := Render(values)
	if err := a.Seed.Apply(ctx, objects...); err != nil {
		return fmt.Errorf("deploy cloud controller manager: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	err = a.Seed.WaitReady(limited, objects...)
	if notReady, found := errors.AsType[*deploy.NotReadyError](err); found && notReady.Cause != nil && ctx.Err() == nil {
		return kit.Wait(recheck, notReady.Error())
	}
	if err != nil || !stopped {
		return err
	}
	reader := a.Reader
	if in.Apart() {
		reader = in.Client
	}
	return cloud.Unsolvable(in.Trouble(a.removeLoadBalancers(ctx, object.Namespace, reader, in.Client)), cluster)
}

// removeLoadBalancers waits until nobody makes them any more, and then until they are gone.
func (a *Actor) removeLoadBalancers(ctx context.Context, namespace string, reader client.Reader, writer client.Writer) error {
	pods := &corev1.PodList{}
	if err := a.Reader.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels(selector())); err != nil {
		return fmt.Errorf("list pods of the cloud controller manager: %w", err)
	}
	for i := range pods.Items {
		if phase := pods.Items[i].Status.Phase; phase != corev1.PodSucceeded && phase != corev1.PodFailed {
			return kit.Wait(recheck, "Waiting until the cloud controller manager has ended")
		}
	}
	gone, err := loadbalancer.Remove(ctx, reader, writer, namespace)
	if err != nil {
		return fmt.Errorf("clean up after the cloud controller manager: %w", err)
	}
	if !gone {
		return kit.Wait(recheck, "Waiting until the load balancers of the cluster are gone")
	}
	return nil
}

// findCloud says where the machines are. A place that is not the one that they were made in is an error: seen from there, all are gone.
func (a *Actor) findCloud(ctx context.Context, values *Values, cluster *engine.Cluster) (cloud.Cloud, error) {
	in, err := a.Cloud(ctx, values.Namespace)
	if err != nil {
		// A shoot that sleeps is woken up to be deleted.
		return in, cloud.Unsolvable(fmt.Errorf("find the cloud of the machines: %w", err), cluster)
	}
	if !in.Apart() {
		return in, nil
	}
	data, err := cloud.Kubeconfig(ctx, a.Reader, values.Namespace)
	if err != nil {
		return in, err
	}
	sum := sha256.Sum256(data)
	values.Place, values.CloudChecksum, values.Refused = in.Place, hex.EncodeToString(sum[:8]), cloud.NetworksOfSeed(cluster)
	return in, nil
}

// Checks are those of a control plane (EXT-HEALTH-8).
func Checks() []health.Check {
	return []health.Check{{
		Condition: gardencorev1beta1.ConditionTypeControlPlaneHealthy,
		Run:       health.Workload(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: Name}}),
	}}
}

// access gives the extension and the cloud controller manager their rights in the shoot, and waits until both have a token.
func (a *Actor) access(ctx context.Context, namespace string) error {
	offered, err := volumes.Offer(ctx, a.Cloud, namespace, a.Images.NetworkAgent)
	if err != nil {
		return err
	}
	if err := a.ApplyInShoot(ctx, namespace, setName, append(Rights(), offered...)...); err != nil {
		return err
	}
	for _, secret := range tokenSecrets(namespace) {
		if err := a.Seed.Apply(ctx, secret); err != nil {
			return fmt.Errorf("ask for a token: %w", err)
		}
		if err := a.Reader.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
			return fmt.Errorf("get secret %q: %w", secret.Name, err)
		}
		if len(secret.Data[gardenresourcesv1alpha1.DataKeyToken]) == 0 || shootaccess.Due(secret, a.Seed.Clock.Now()) {
			return kit.Wait(recheck, fmt.Sprintf("waiting until the resource manager has put a token into Secret %q", secret.Name))
		}
	}

	return nil
}

func tokenSecrets(namespace string) []*corev1.Secret {
	return []*corev1.Secret{shootaccess.Program(namespace, engine.Name), shootaccess.Program(namespace, Name)}
}

// Rights are what the extension and the cloud controller manager may do in a shoot: the former writes bootstrap tokens for machines and
// drains their nodes and tells their agents when to update them, the latter maintains Nodes and the load balancers of Services.
func Rights() []client.Object {
	events := rbacv1.PolicyRule{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch", "update"}}
	nodes := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch", "patch", "update", "delete"}}
	balancers := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"get", "list", "watch", "patch"}},
		{APIGroups: []string{""}, Resources: []string{"services/status"}, Verbs: []string{"patch"}},
		{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: []string{"get", "list", "watch"}},
	}
	tokens := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}}
	drain := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "patch"}},
		{APIGroups: []string{""}, Resources: []string{"nodes/status"}, Verbs: []string{"patch"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}},
		{APIGroups: []string{""}, Resources: []string{"pods/eviction"}, Verbs: []string{"create"}},
	}
	drainer := metav1.ObjectMeta{Name: rightsPrefix + "machines"}
	manager, extension := metav1.ObjectMeta{Name: rightsPrefix + Name}, metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: rightsPrefix + "bootstrap-tokens"}
	account := func(name string) []rbacv1.Subject {
		return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: name}}
	}

	return []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: manager, Rules: append(balancers, nodes, events)},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: manager, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: manager.Name}, Subjects: account(Name),
		},
		&rbacv1.ClusterRole{ObjectMeta: drainer, Rules: drain},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: drainer, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: drainer.Name}, Subjects: account(engine.Name),
		},
		&rbacv1.Role{ObjectMeta: extension, Rules: []rbacv1.PolicyRule{tokens}},
		&rbacv1.RoleBinding{
			ObjectMeta: extension, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: extension.Name}, Subjects: account(engine.Name),
		},
	}
}

// stopped reports whether the cloud controller manager has nothing to do any more. A shoot that is put to sleep needs it as long as its
// API server runs: it deletes the Nodes of machines that are gone (EXT-CTRL-7).
func (a *Actor) stopped(ctx context.Context, namespace string, cluster *engine.Cluster) (bool, error) {
	if !cluster.Hibernated() {
		return false, nil
	}
	server := &appsv1.Deployment{}
	err := a.Reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: gardencorev1beta1.DeploymentKubeAPIServer}, server)
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("look whether the API server of the shoot runs: %w", err)
	default:
		return ptr.Deref(server.Spec.Replicas, 1) == 0, nil
	}
}

// Delete removes the cloud controller manager and all access to the shoot, and the load balancers that are left in the seed. Those in
// another cluster go with the namespace there. The rights in the shoot are those of service accounts for which nobody requests tokens any
// more, and go with it.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.ControlPlane, cluster *engine.Cluster) error {
	objects := Render(Values{Namespace: object.Namespace})
	for _, secret := range tokenSecrets(object.Namespace) {
		objects = append(objects, secret)
	}
	if err := a.Seed.Delete(ctx, objects...); err != nil {
		return err
	}
	err := a.removeLoadBalancers(ctx, object.Namespace, a.Reader, a.Seed.Client)
	if _, waits := kit.WaitReason(err); err != nil && (!waits || !cluster.ForceDeleted()) {
		return err
	}

	return a.Forget(ctx, object.Namespace, setName)
}

const (
	// Name of the Deployment and of everything that belongs to it.
	Name = reach.CloudControllers

	// readyTimeout is how long one call waits for the Deployment before it frees the worker of the queue.
	readyTimeout = 20 * time.Second
	recheck      = time.Second

	healthPort     = 8081
	setName        = "controlplane"
	rightsPrefix   = "extensions.gardener.cloud:provider-local:"
	kubeconfigHash = "checksum/kubeconfig"
	cloudHash      = "checksum/cloud"
	cloudDir       = "/etc/cloud"
)

// Values of the rendered objects.
type Values struct {
	// Namespace is the control-plane namespace.
	Namespace string
	// Image holds the terrarium binary.
	Image string
	// Replicas is 0 while the shoot sleeps.
	Replicas int32
	// KubeconfigChecksum replaces the pod when the kubeconfig changes.
	KubeconfigChecksum string
	// Place is the UID of another cluster that has the machines; empty if they are in the seed. CloudChecksum replaces the pod when the
	// kubeconfig of that cluster changes.
	Place, CloudChecksum string
	// Refused are networks in which that cluster is not looked for.
	Refused []netip.Prefix
}

func (v Values) apart() bool { return v.Place != "" }

// Render returns the objects of the cloud controller manager.
func Render(v Values) []client.Object {
	meta := metav1.ObjectMeta{Namespace: v.Namespace, Name: Name}
	program, annotations := reach.CloudControllers, map[string]string{kubeconfigHash: v.KubeconfigChecksum}
	if v.apart() {
		program, annotations[cloudHash] = reach.CloudControllersApart, v.CloudChecksum
	}
	labels := component.WithWays(selector(), program)
	objects := []client.Object{&corev1.ServiceAccount{ObjectMeta: meta, AutomountServiceAccountToken: new(false)}}
	if !v.apart() {
		objects = append(objects, seedRights(meta)...)
	}
	return append(objects, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: Name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas:             new(v.Replicas),
			RevisionHistoryLimit: new(int32(1)),
			// Two at the same time would only cause conflicts.
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			Selector: &metav1.LabelSelector{MatchLabels: selector()},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: annotations},
				Spec:       podSpec(v),
			},
		},
	})
}

func selector() map[string]string { return map[string]string{"app": "kubernetes", "role": Name} }

// seedRights are those of the cloud controller manager where machines are pods of the seed.
func seedRights(meta metav1.ObjectMeta) []client.Object {
	return []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{""}, Resources: []string{"pods/status"}, Verbs: []string{"patch"}},
			{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"get", "list", "watch", "create", "patch", "delete"}},
			{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: []string{"get", "list", "create", "update", "delete"}},
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: meta.Namespace, Name: Name}},
		},
	}
}

// addCloud gives the program the kubeconfig of the cluster of the machines, and takes the account of the seed from it.
func addCloud(spec *corev1.PodSpec, v Values) {
	spec.AutomountServiceAccountToken = new(false)
	command := &spec.Containers[0].Command
	*command = append(*command, "--cloud-kubeconfig="+cloudDir+"/"+kubeconfig.Key, "--cloud-uid="+v.Place)
	for _, network := range v.Refused {
		*command = append(*command, "--cloud-refused="+network.String())
	}
	spec.Containers[0].VolumeMounts = append(spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "cloud", MountPath: cloudDir, ReadOnly: true})
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "cloud", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: gardencorev1beta1.SecretCloudProvider, DefaultMode: new(int32(0o440)),
		Items: []corev1.KeyToPath{{Key: kubeconfig.Key, Path: kubeconfig.Key}},
	}}})
}

func podSpec(v Values) corev1.PodSpec {
	spec := corev1.PodSpec{
		PriorityClassName:            gardencorev1beta1.PriorityClassShootControlPlane300,
		ServiceAccountName:           Name,
		AutomountServiceAccountToken: new(true),
		EnableServiceLinks:           new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(component.NonRoot), RunAsGroup: new(component.NonRoot), FSGroup: new(component.NonRoot),
		},
		Containers: []corev1.Container{{
			Name:            Name,
			Image:           v.Image,
			ImagePullPolicy: corev1.PullIfNotPresent,
			Command: []string{
				"/usr/local/bin/terrarium", "provider-local", "cloud-controller",
				"--kubeconfig=" + shootaccess.KubeconfigFile,
				"--namespace=" + v.Namespace,
				"--health-address=:8081",
			},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false),
				ReadOnlyRootFilesystem:   new(true),
				Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
			Resources: component.Requests("10m", "48Mi"),
			ReadinessProbe: &corev1.Probe{
				ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromInt32(healthPort)}},
				PeriodSeconds: 2,
			},
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			VolumeMounts:             []corev1.VolumeMount{{Name: "kubeconfig", MountPath: shootaccess.Dir, ReadOnly: true}},
		}},
		Volumes: []corev1.Volume{shootaccess.Volume("kubeconfig", Name)},
	}
	if v.apart() {
		addCloud(&spec, v)
	}
	return spec
}
