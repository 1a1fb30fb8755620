// SPDX-License-Identifier: Apache-2.0

package bastion

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// recheck is the time between two looks at the pod of a host.
const recheck = 300 * time.Millisecond

// Actor makes the hosts.
type Actor struct {
	engine.Access

	// Cloud returns where the machines of a shoot run, and so their bastions.
	Cloud cloud.Find
}

// Status is the provider status of a bastion.
type Status struct {
	// HostKeys are the public keys of the host, each as a line of an authorized_keys file.
	HostKeys []string `json:"hostKeys"`
}

// Reconcile makes the host and waits until it accepts connections. A change of its rules replaces the pod (EXT-BUCKET-5).
func (a *Actor) Reconcile(ctx context.Context, object *gardenextensionsv1alpha1.Bastion, cluster *engine.Cluster) error {
	in, err := a.Cloud(ctx, object.Namespace)
	if err != nil {
		return fmt.Errorf("find the cloud of the machines: %w", err)
	}
	values, err := a.values(ctx, object, cluster, in)
	if err != nil {
		return err
	}
	if values.HostKey, err = a.hostKey(ctx, values); err != nil {
		return err
	}
	if err := in.Engine(a.Seed.Clock).Apply(ctx, values.Secret(), values.Policy()); err != nil {
		return fmt.Errorf("prepare the host: %w", err)
	}
	pod, err := a.pod(ctx, values)
	if err != nil {
		return err
	}
	if reason := unready(pod); reason != "" {
		object.Status.Ingress = nil
		return kit.Wait(recheck, reason)
	}
	return publish(object, values.HostKey, pod.Status.PodIP)
}

// values checks what the bastion asks for, before anything is made (EXT-STAT-5).
func (a *Actor) values(ctx context.Context, object *gardenextensionsv1alpha1.Bastion, cluster *engine.Cluster, in cloud.Cloud) (Values, error) {
	nodes, err := networks(ctx, cluster, in)
	if err != nil {
		return Values{}, err
	}
	keys, err := Keys(object.Spec.UserData)
	if err != nil {
		return Values{}, engine.ConfigurationProblem(err)
	}
	if len(object.Spec.Ingress) == 0 {
		return Values{}, engine.ConfigurationProblem(errors.New("spec.ingress: there is no network that may reach the host"))
	}
	for _, policy := range object.Spec.Ingress {
		for _, network := range append([]string{policy.IPBlock.CIDR}, policy.IPBlock.Except...) {
			if _, err := netip.ParsePrefix(network); err != nil {
				return Values{}, engine.ConfigurationProblem(fmt.Errorf("spec.ingress: %q is not a network such as 10.0.0.0/8", network))
			}
		}
	}
	return Values{Bastion: object, Image: a.Images.Terrarium, Keys: keys, Nodes: nodes, In: in}, nil
}

// networks are those of the machines.
func networks(ctx context.Context, cluster *engine.Cluster, in cloud.Cloud) ([]string, error) {
	if in.Apart() {
		return in.Networks(ctx)
	}
	if cluster == nil || cluster.Seed == nil || cluster.Seed.Spec.Networks.Pods == "" {
		return nil, errors.New("the Cluster object does not say in which network the machines are")
	}
	return []string{cluster.Seed.Spec.Networks.Pods}, nil
}

// hostKey is the key of the host, which stays the same for all of its life.
func (a *Actor) hostKey(ctx context.Context, v Values) ([]byte, error) {
	secret := v.Secret()
	err := v.In.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read the key of the host: %w", err)
	}
	if key := secret.Data[hostKey]; err == nil && len(key) > 0 {
		return key, nil
	}
	return newHostKey(rand.Reader)
}

// pod is the pod of the host. One with other rules is deleted first.
func (a *Actor) pod(ctx context.Context, v Values) (*corev1.Pod, error) {
	want, err := v.Pod()
	if err != nil {
		return nil, err
	}
	have := &corev1.Pod{}
	err = v.In.Get(ctx, client.ObjectKeyFromObject(want), have)
	if apierrors.IsNotFound(err) {
		if err := v.In.Create(ctx, want); err != nil {
			return nil, fmt.Errorf("create the host: %w", err)
		}
		return want, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at the host: %w", err)
	}
	ended := have.Status.Phase == corev1.PodFailed || have.Status.Phase == corev1.PodSucceeded
	if have.DeletionTimestamp == nil && !ended && have.Annotations[AnnotationChecksum] == want.Annotations[AnnotationChecksum] {
		return have, nil
	}
	if err := v.In.Delete(ctx, have); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("replace the host: %w", err)
	}
	return nil, kit.Wait(recheck, "Waiting until the former host is gone")
}

// unready says why a host does not accept connections yet.
func unready(pod *corev1.Pod) string {
	ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
	if ready && pod.Status.PodIP != "" {
		return ""
	}
	for _, container := range pod.Status.ContainerStatuses {
		if waiting := container.State.Waiting; waiting != nil && waiting.Message != "" {
			return fmt.Sprintf("Waiting for the host: %s: %s", waiting.Reason, waiting.Message)
		}
	}
	return "Waiting until the host accepts connections"
}

// publish reports where the host is, and by which key it is known.
func publish(object *gardenextensionsv1alpha1.Bastion, private []byte, address string) error {
	public, err := publicKey(private)
	if err != nil {
		return err
	}
	status, err := json.Marshal(Status{HostKeys: []string{public}})
	if err != nil {
		return fmt.Errorf("encode provider status: %w", err)
	}
	object.Status.ProviderStatus = &runtime.RawExtension{Raw: status}
	object.Status.Ingress = &corev1.LoadBalancerIngress{IP: address}
	return nil
}

// Delete removes the host, and with it all connections. A forced deletion does not wait for the end of the pod.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.Bastion, cluster *engine.Cluster) error {
	forced := object.Annotations[gardencorev1beta1.AnnotationConfirmationForceDeletion] == "true" || cluster.ForceDeleted()
	in, err := a.Cloud(ctx, object.Namespace)
	if errors.Is(err, cloud.ErrForeign) || (err != nil && forced) {
		return nil
	}
	if err == nil {
		err = in.Trouble(a.remove(ctx, Values{Bastion: object, In: in}, forced))
	}
	return cloud.Unsolvable(err, cluster)
}

func (a *Actor) remove(ctx context.Context, v Values, forced bool) error {
	in := v.In
	pod := &corev1.Pod{ObjectMeta: v.meta()}
	if err := in.Engine(a.Seed.Clock).Delete(ctx, pod); err != nil {
		return err
	}
	err := in.Get(ctx, client.ObjectKeyFromObject(pod), pod)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("look for the host: %w", err)
	}
	if err == nil && !forced {
		return kit.Wait(recheck, "Waiting until the host is gone")
	}
	// The policy goes last: until then it confines the pod.
	return in.Engine(a.Seed.Clock).Delete(ctx, v.Policy(), v.Secret())
}
